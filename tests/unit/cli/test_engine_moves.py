"""`zermelo engine moves`, and the records of `zermelo match`."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.support.minimax import minimax
from zermelo.cli import zermelo
from zermelo.cli.plain_errors import CommandError
from zermelo.games import open_game


def run(*arguments: str) -> Any:
    result = CliRunner().invoke(zermelo, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("spec", ["mnk:2x3,k=2", "domineering:3x3", "reversi:4x4", "go:1x3"])
def test_every_first_move_has_its_value(spec: str) -> None:
    game = open_game(spec)
    start = game.initial()
    told = run("engine", "moves", spec)["moves"]
    names = [name for row in told for name in [row["move"], *row["symmetric"]]]
    assert sorted(names) == sorted(game.line_names(game.moves(start)))
    assert [row["value"] for row in told] == sorted((row["value"] for row in told), reverse=True)
    if spec.startswith("reversi"):
        assert told[0]["value"] == -8  # plain minimax takes minutes
        return
    for row in told:
        after = game.play(start, game.find_move(start, row["move"]))
        assert row["value"] == -minimax(game, after)


def test_losing_first_moves_of_hex() -> None:
    rows = run("engine", "moves", "hex:3x3")["moves"]
    lost = {name for row in rows if row["value"] < 0 for name in [row["move"], *row["symmetric"]]}
    assert {"a1", "c3"} <= lost
    assert "b2" not in lost


def test_a_node_budget_is_told() -> None:
    result = CliRunner().invoke(
        zermelo, ["engine", "moves", "connect-four:5x6", "--node-budget", "50", "--json"]
    )
    assert result.exit_code == 3
    assert all(row["bounds"] == [-1, 1] for row in json.loads(result.stdout)["moves"])


def test_a_position_that_is_over_is_refused() -> None:
    result = CliRunner().invoke(
        zermelo, ["engine", "moves", "mnk:3x3", "--position", "XXXOO---- O"]
    )
    assert isinstance(result.exception, CommandError)
    assert "the game is over" in str(result.exception)


def test_a_match_writes_every_game(tmp_path: Path) -> None:
    file = tmp_path / "games.csv"
    told = run("match", "uct:8", "random", "--game", "mnk:3x3", "--games", "4", "--no-store",
               "--random-plies", "0", "--csv", str(file))
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["game"] for row in rows] == ["1", "2", "3", "4"]
    assert {(row["first"], row["second"]) for row in rows} == {
        ("uct:8", "random"), ("random", "uct:8")
    }
    assert told["mean_plies"] == sum(int(row["plies"]) for row in rows) / 4
    assert all(len(row["moves"].split()) == int(row["plies"]) for row in rows)
    wins = sum((int(row["score"]) > 0) == (row["first"] == "uct:8") and int(row["score"]) != 0
               for row in rows)
    assert told["players"][0]["wins"] == wins
