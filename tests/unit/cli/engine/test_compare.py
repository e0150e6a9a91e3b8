"""`zermelo engine compare`: every way to search, on a suite small enough for all."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.engine_command import invoke as run
from zermelo.cli.engine.contestants import contestants
from zermelo.cli.suite import load_suite
from zermelo.engine import ALGORITHMS, open_engine
from zermelo.engine.definition import DefinitionEngine
from zermelo.engine.portable import PortableEngine
from zermelo.engine.reversi import FAST, TECHNIQUES
from zermelo.games import Bounds, open_game

FEATURES = ["killer", "history", "transposition", "mobility", "discs", "corners", "c_squares",
            "x_squares", "frontier", "stable", "sandwiched", "wiped_out", "positional", "edges",
            "trained"]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Late positions of 6x6, a board that has trained weights."""
    game = open_game("reversi:6x6")
    engine = open_engine(game, hash_mb=1)
    lines = ["# game: reversi:6x6"]
    for listed in load_suite("reversi-6x6-12").positions[:2]:
        position = listed.position
        for move in engine.solve(position).line[:5]:
            position = game.play(position, move)
        answer = engine.solve(position)
        assert answer.move is not None
        lines.append(f"{game.format(position)};"
                     f" {game.move_name(answer.line[0])}:{answer.bounds.lo:+d};")
    path = tmp_path / "small.obf"
    path.write_text("\n".join(lines))
    return path


def test_algorithms_by_orderings_and_techniques(suite: Path) -> None:
    told = run("compare", suite, "--json")
    results = told.json["results"]
    by_algorithm = {
        algorithm: {row["variant"]: row for row in results
                    if (row["kind"], row["algorithm"]) == ("textbook", algorithm)}
        for algorithm in ALGORITHMS
    }
    fast = {(row["algorithm"], row["variant"]) for row in results if row["kind"] == "fast"}
    assert told.code == 0
    assert set(by_algorithm["minimax"]) == {"none"}
    assert by_algorithm["negascout"].keys() >= {"none", "killer + history", *FEATURES}
    assert by_algorithm["alphabeta"].keys() >= {"none", *FEATURES} - {"transposition"}
    assert fast >= {(algorithm, f"without {technique}")
                    for algorithm in FAST for technique in TECHNIQUES}
    assert all(row["nodes"] > 0 and not row["wrong"] for row in results)
    assert min(row["nodes_to_best"] for row in results) == 1
    assert (by_algorithm["alphabeta"]["mobility"]["nodes"]
            < by_algorithm["minimax"]["none"]["nodes"])


def test_one_table_where_no_technique_can_be_left_out() -> None:
    code, out, _ = run("compare", "mnk:3x3")
    assert code == 0
    assert out.startswith("the start of mnk:3x3, value 0\n")
    assert out.count("x best") == 2
    assert "pns" in out


def test_different_values_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody lists the value of a game's start, but all must find the same."""
    search = DefinitionEngine._settle

    def wrong(self: Any, key: bytes, window: Any, algorithm: str) -> None:
        search(self, key, window, algorithm)
        if algorithm == "negamax":
            self._bounds = Bounds(1, 1)

    monkeypatch.setattr(DefinitionEngine, "_settle", wrong)
    code, out, _ = run("compare", "mnk:3x3")
    assert code == 1
    assert "value 0 or +1" in out
    assert "different values for 1 of the positions" in out


def test_people_read_a_table_an_algorithm(suite: Path) -> None:
    code, out, _ = run("compare", suite, "--algorithm", "negascout")
    assert code == 0
    assert "textbook negascout" in out
    assert "fast negascout" in out
    assert "mtdf" not in out
    assert "move ordering" in out


def test_what_meets_the_node_budget_is_a_lower_bound() -> None:
    args = ["compare", "reversi-6x6-12", "--algorithm", "minimax", "--node-budget", 1000]
    assert "≥" in run(*args).out
    assert run(*args, "--json").json["results"][0]["unfinished"] == 10


def test_a_wrong_value_exits_non_zero(tmp_path: Path) -> None:
    path = tmp_path / "wrong.obf"
    path.write_text("# game: reversi:4x4\nOXXOOOXOXOOO-OOO X; a4:-6;\n")
    assert run("compare", path, "--algorithm", "mtdf").code == 1


@pytest.mark.slow
def test_the_plot(suite: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for suffix, begins in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        picture = tmp_path / f"plot.{suffix}"
        assert run("compare", suite, "--algorithm", "mtdf", "--plot", picture).code == 0
        assert picture.read_bytes().startswith(begins)


def test_without_matplotlib_the_plot_is_one_of_characters(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    picture = tmp_path / "plot.png"
    code, out, err = run("compare", suite, "--algorithm", "mtdf", "--plot", picture)
    assert code == 0
    assert out
    assert "pip install 'zermelo[plot]'" in err.splitlines()[0], "told before the work"
    assert "nodes (logarithmic)" in err
    assert "█" in err
    assert not picture.exists()


@pytest.mark.parametrize(("args", "told"), [
    (["nowhere"], ["'nowhere'", "reversi-6x6-12"]),
    (["reversi-6x6-12", "--plot", "plot.gif"], ["'plot.gif'", ".png or .svg"]),
    (["reversi-6x6-12", "--plot", "no/where.png"], ["'no/where.png'", "'no'"]),
    (["reversi-6x6-12", "--game", "reversi:8x8"], ["reversi:6x6", "reversi:8x8"]),
])
def test_bad_input_is_told_in_one_line(args: list[str], told: list[str]) -> None:
    code, _, err = run("compare", *args)
    assert code == 2
    assert "\n" not in err
    assert all(part in err for part in told), err


def test_a_suite_that_does_not_tell_its_game(tmp_path: Path) -> None:
    square, oblong = tmp_path / "square.obf", tmp_path / "oblong.obf"
    square.write_text("OXXOOOXOXOOO-OOO X; a4:-4;\n")
    oblong.write_text("OXXOOOXOXOOO-OOOXXXX X;\n")
    assert load_suite(str(square)).game == open_game("reversi:4x4,scoring=wof")
    assert "--game" in run("compare", oblong).err


def test_a_game_without_a_compiled_engine_compares_the_algorithms() -> None:
    game = open_game("reversi:4x4")
    position = game.parse("OXXOOOXOXOOO-OOO X")
    field = list(contestants(PortableEngine(game)))
    assert [one.algorithm for one in field] == list(ALGORITHMS)
    assert {one.run(position, 1000).score for one in field} == {-4}
