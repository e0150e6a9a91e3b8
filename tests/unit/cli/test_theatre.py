"""`zermelo theatre`."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from zermelo.cli import zermelo


def run(*arguments: str) -> str:
    done = CliRunner().invoke(zermelo, ["theatre", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_a_story_ends_with_the_value() -> None:
    told = run("grundy:7", "--tour")
    assert told.startswith("The rules, step 1 of 5: Two players move in turn.")
    assert "Alpha-beta, step 5 of 5" in told
    assert "cut: -1 is enough, 5>2+3 need not be searched" in told
    assert "-1 for MAX" in told
    assert "24 in the tree, 19 visited (19 times), 5 cut" in told
    assert "for MAX" not in run("grundy:7", "--steps", "3")


def test_algorithms_side_by_side() -> None:
    told = run("grundy:9", "--algorithm", "all", "--table")
    assert "145 nodes, 28 distinct positions" in told
    assert [line.split()[:2] for line in told.splitlines() if line.split()[1:2] == ["1"]] == [
        [name, "1"] for name in ("minimax", "alphabeta", "negamax", "negascout", "mtdf")
    ]


def test_events_as_json_and_a_picture(tmp_path: Path) -> None:
    (played,) = json.loads(run("grundy:7", "--json"))["performances"]
    assert len(played["nodes"]) == 24
    assert played["events"][0] == {"kind": "enter", "node": 0, "alpha": -2, "beta": 2}
    file = tmp_path / "tree.svg"
    run("grundy:7", "--svg", str(file))
    assert file.read_text().startswith("<svg")
