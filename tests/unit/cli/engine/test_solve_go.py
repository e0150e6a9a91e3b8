"""`zermelo engine solve` on Go positions: diagrams and records, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.support.places import DATA
from zermelo import ZermeloError
from zermelo.cli import zermelo

SUITE = DATA / "late7x7.json"
LATE = json.loads(SUITE.read_text())[3]


def solve(*arguments: str) -> dict[str, object]:
    result = CliRunner().invoke(zermelo, ["engine", "solve", *arguments, "--json"])
    assert result.exit_code == 0, result.output
    answer: dict[str, object] = json.loads(result.stdout)
    return answer


def as_sgf(position: str, *moves: str) -> str:
    """A record with set-up stones, then moves by turns."""
    cells, side = position.split()
    stones = {"X": "", "O": ""}
    for index, sign in enumerate(cells):
        if sign in stones:
            row, column = divmod(index, 7)
            stones[sign] += f"[{chr(97 + column)}{chr(97 + row)}]"
    colours = "BW" if side == "X" else "WB"
    line = "".join(f";{colours[turn % 2]}[{move}]" for turn, move in enumerate(moves))
    return f"(;GM[1]FF[4]SZ[7]AB{stones['X']}AW{stones['O']}PL[{colours[0]}]{line})"


def test_a_late_position_as_diagram_and_as_record(tmp_path: Path) -> None:
    spec = f"go:{LATE['spec']}"
    rows = "/".join(LATE["position"][at : at + 7] for at in range(0, 49, 7))
    answer = solve(spec, "--position", f"{rows} {LATE['position'][-1]}")
    assert (answer["status"], answer["value"]) == ("solved", LATE["value"])
    record = tmp_path / "late.sgf"
    record.write_text(as_sgf(LATE["position"]))
    assert solve(spec, "--sgf", str(record))["value"] == LATE["value"]
    # After a pass it is the other side's turn, and the board is history.
    record.write_text(as_sgf(LATE["position"], ""))
    passed = solve(spec, "--sgf", str(record))
    assert passed["status"] == "solved"
    assert -LATE["value"] <= passed["value"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["go:5x5,ko=chinese"], "ko='chinese' is not allowed"),
        (["go:8x7"], "each side must be 1 to 7"),
        (["go:3x3", "--position", "OX. XX. ... X"], "a3 has no liberty"),
        (["go:3x3", "--position", "... ... ... Z"], "no side to move"),
        (["go:3x3", "--position", "X.. ... ... O past=" + "00" * 6 + "01" + "00" * 8 + "80"],
         "the history contradicts the position"),
        (["go:3x3", "--sgf", "(;SZ[3];B[aa];W[bb];B[bb])"], "move 3 of Black: illegal move b2"),
        (["go:3x3", "--sgf", "(;SZ[3];B[aa];B[bb])"], "move 2: it is not Black's turn"),
    ],
)
def test_bad_input_is_one_clear_line(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    if "--sgf" in arguments:
        record = tmp_path / "bad.sgf"
        record.write_text(arguments[-1])
        arguments = [*arguments[:-1], str(record)]
    result = CliRunner().invoke(zermelo, ["engine", "solve", *arguments])
    assert isinstance(result.exception, ZermeloError)
    assert result.exception.exit_code == 2
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)
    assert not result.stdout
