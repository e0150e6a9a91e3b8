"""Tables drawn by hand look like those that rich draws."""

from __future__ import annotations

import sys

import pytest
from click import unstyle
from hypothesis import given
from hypothesis import strategies as st

from zermelo.cli.output import _lines, _wrapped, print_facts, print_table

#: Characters as people write them: a mark stands on a letter.
CELLS = st.lists(st.sampled_from([*"abz 0é漢-│", "a\u0308"]), max_size=9).map("".join)


@pytest.mark.slow
@given(
    st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=5), st.integers(0, 3),
    st.tuples(CELLS, CELLS, CELLS),
)
def test_the_same_as_rich(
    rows: list[tuple[str, ...]], words: int, columns: tuple[str, ...]
) -> None:
    # Rich leaves out spaces at the ends of cells that it wraps.
    stripped = [tuple(cell.strip() for cell in row) for row in rows]
    names = [column.strip() for column in columns]
    drawn = [line.rstrip() for line in _lines(names, stripped, words, 100)]
    assert drawn == [line.rstrip() for line in _wrapped(names, stripped, words, 100)]


def test_what_does_not_fit_is_wrapped() -> None:
    assert _lines(["name", "n"], [["word " * 30, "1"]], 1, 80) == []
    assert len(_wrapped(["name", "n"], [["word " * 30, "1"]], 1, 80)) > 3


def test_a_cell_cannot_draw_outside_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("hosts", ["host", "n"], [["two\nlines", "1"], ["bell\a\r", "2"]])
    shown = capsys.readouterr().out
    assert "\a" not in shown
    assert "\r" not in shown
    assert [line.split() for line in shown.splitlines()[3:6]] == [
        ["two", "1"], ["lines"], ["bell", "2"],
    ]


def test_names_of_strangers_do_not_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "\x1b]0;title\x07\x1b[31m\u202e=1" + "\u0301" * 200
    print_table("teams", ["team", "n"], [[hostile, "1"]])
    print_facts([("name", hostile)])
    shown = capsys.readouterr().out
    assert not set(shown) & {"\x1b", "\x07", "\u202e"}
    assert "\u0301" * 5 not in shown


def test_a_fact_without_a_text_keeps_its_label(capsys: pytest.CaptureFixture[str]) -> None:
    print_facts([("version", ""), ("workers", "1")])
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["version", "-"], ["workers", "1"],
    ]  # fmt: skip


def test_what_would_be_cut_is_told_row_by_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    columns, rows = ["name", "credit (M nodes)"], [["ada lovelace", "11,400.8"], ["bob", "0.0"]]
    for width, shown in (
        (30, ["name credit (M nodes)", "ada 11,400.8", "lovelace", "bob 0.0"]),
        (22, ["name ada lovelace", "credit (M nodes) 11,400.8",
              "name bob", "credit (M nodes) 0.0"]),
    ):  # fmt: skip
        monkeypatch.setenv("COLUMNS", str(width))
        print_table("hosts", columns, rows)
        _, *lines = unstyle(capsys.readouterr().out).splitlines()
        words = [" ".join(line.split()) for line in lines if line.strip(" ─")]
        assert words == shown
