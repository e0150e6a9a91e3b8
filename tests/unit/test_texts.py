"""Texts of strangers: one line, nothing that steers a terminal, nothing invisible."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from zermelo.texts import cut_bytes, one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("no work: alles vergeben, 数", "no work: alles vergeben, 数"),
        ("\x1b[2Jgone", "[2Jgone"),
        ("\x9b31mred", "31mred"),
        ("a\r\nb\tc\u2028d", "a b c d"),
        ("pay\u202egnihton\u2066", "paygnihton"),
        ("zero\u200bwidth\ufeff\x00\x7f", "zerowidth"),
        ("  ", ""),
    ],
)
def test_one_line(text: str, line: str) -> None:
    assert one_line(text) == line


@given(st.text(), st.integers(1, 50))
@example("0 \x1b\x850", 4)  # what is dropped stood between two spaces
def test_every_line_is_printable_short_and_stays_as_it_is(text: str, longest: int) -> None:
    line = one_line(text, longest)
    assert line.isprintable()
    assert len(line) <= longest
    assert one_line(line, longest) == line.strip()


def test_a_huge_text_costs_little() -> None:
    started = time.process_time()
    assert one_line("x" * 10**8, 10) == "xxxxxxxxx…"
    assert time.process_time() - started < 1.0


def test_marks_do_not_pile_up() -> None:
    assert one_line("a" + "\u0301" * 200 + "b") == "a" + "\u0301" * 4 + "b"
    assert one_line("Việt Nam, ǖ") == "Việt Nam, ǖ"


@given(st.text(), st.integers(3, 50))
def test_a_text_is_cut_to_its_bytes(text: str, most: int) -> None:
    cut = cut_bytes(text, most)
    assert len(cut.encode()) <= most
    assert cut == text if len(text.encode()) <= most else text.startswith(cut.removesuffix("…"))
