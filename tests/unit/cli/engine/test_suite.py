"""`zermelo engine solve --file` and the suites that ship."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.engine_command import invoke as run
from zermelo.cli.suite import load_suite, shipped_suites
from zermelo.games import open_game

GOOD = "OXXOOOXOXOOO-OOO X; a4:-4;"
FINISHED = "XXXXXXXXXXXXXXXO O;"
WRONG = "OXXOOOXOXOOO-OOO X; a4:-6;"


def write(folder: Path, *lines: str) -> Path:
    path = folder / "suite.obf"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_table_with_one_row_a_position(tmp_path: Path) -> None:
    code, out, _ = run("solve", "reversi:4x4", "--file", write(tmp_path, GOOD, "", FINISHED))
    assert code == 0
    rows = [line.split() for line in out.splitlines()]
    assert ["1", "a4", "-4", "-4"] in [row[:4] for row in rows]
    assert ["3", "-14"] in [row[:2] for row in rows]
    assert rows[-2][0] == "all"


def test_a_differing_score_is_told_and_exits_non_zero(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD, WRONG)
    code, out, _ = run("solve", "reversi:4x4", "--file", path)
    told = run("solve", "reversi:4x4", "--file", path, "--json")
    assert code == told.code == 1
    assert "1 of 2 differ from the listed score: line 2" in out
    assert told.json["agree"] is False
    assert [row["agrees"] for row in told.json["positions"]] == [True, False]
    assert [row["listed"] for row in told.json["positions"]] == [-4, -6]


def test_bounds_agree_with_every_score_they_leave_open(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    assert run("solve", "reversi:4x4", "--file", path, "--goal", "outcome").code == 0
    assert run("solve", "reversi:4x4", "--file", path, "--window", "-6,-5").code == 0


def test_the_shipped_suite_is_right() -> None:
    told = run("solve", "reversi:6x6", "--file", "reversi-6x6-12", "--json")
    assert told.code == 0
    assert len(told.json["positions"]) == 10


@pytest.mark.parametrize("name", shipped_suites())
def test_every_shipped_suite_tells_its_game_and_scores(name: str) -> None:
    suite = load_suite(name)
    assert suite.positions
    # Positions that have a name are there to be played; no one knows what some are worth.
    assert all(listed.score is not None or listed.name for listed in suite.positions)


def test_every_position_of_the_shipped_suite_has_twelve_empties() -> None:
    suite = load_suite("reversi-6x6-12")
    assert {suite.game.plies_left(listed.position) for listed in suite.positions} == {12}


def test_the_value_of_a_position_is_its_best_score() -> None:
    assert load_suite("ffo40-44").game == open_game("reversi:8x8,scoring=wof")
    assert [listed.score for listed in load_suite("ffo40-44").positions] == [38, 0, 6, -12, -14]


@pytest.mark.parametrize(("lines", "told"), [
    (["OXXO X;"], ["line 1", "4 squares"]),
    (["# fine", "OXXOOOXOXOOO-OOO X; a4-4;"], ["line 2", "'a4-4'", "move:score"]),
    (["OXXOOOXOXOOO-OOO X; a1:-4;"], ["line 1", "'a1'", "a4"]),
    (["OXXOOOXOXOOO-OOO X; a4:-44;"], ["line 1", "-44", "-16..16"]),
    (["# nothing"], ["no positions"]),
    (["# game: reversi:6x6", GOOD], ["reversi:6x6", "reversi:4x4"]),
])
def test_a_damaged_suite_is_told_in_one_line(
    tmp_path: Path, lines: list[str], told: list[str]
) -> None:
    code, _, err = run("solve", "reversi:4x4", "--file", write(tmp_path, *lines))
    assert code == 2
    assert "\n" not in err
    assert all(part in err for part in [*told, "suite.obf"]), err


def test_a_suite_that_is_no_text_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "noise.obf"
    path.write_bytes(b"\xff\xfe\x00\x80")
    assert "not a text file" in run("solve", "reversi:4x4", "--file", path).err
    missing = run("solve", "reversi:4x4", "--file", "nowhere.obf")
    assert missing.code == 2
    assert "'nowhere.obf'" in missing.err
    assert "reversi-6x6-12" in missing.err
