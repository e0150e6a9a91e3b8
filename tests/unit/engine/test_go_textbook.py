"""All five algorithms on Go, and territory with prisoners beside area."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from zermelo.checker.go_checker import GoChecker
from zermelo.checker.plain import PlainChecker
from zermelo.checker.registry import open_checker
from zermelo.cli import zermelo
from zermelo.engine import ALGORITHMS, EngineError, Status, Window, open_engine
from zermelo.engine.portable import PortableEngine
from zermelo.games import GameError, open_game
from zermelo.games.go import PASS


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_finds_the_value(algorithm: str) -> None:
    for spec, expected in {"go:1x3": 3, "go:1x3,ko=ssk": 3, "go:1x2": 0}.items():
        game = open_game(spec)
        report = open_engine(game, hash_mb=1).solve(game.initial(), algorithm=algorithm)
        assert report.status is Status.SOLVED
        assert report.bounds.lo == report.bounds.hi == expected


@pytest.mark.parametrize("algorithm", ["alphabeta", "negamax", "negascout"])
def test_windows_and_budgets(algorithm: str) -> None:
    game = open_game("go:2x2")
    engine = open_engine(game, hash_mb=1)
    assert engine.solve(game.initial(), Window(0, 1), algorithm=algorithm).bounds.lo == 1
    report = engine.solve(game.initial(), algorithm=algorithm, node_budget=10)
    assert report.status is Status.EXHAUSTED
    assert report.bounds.lo <= 1 <= report.bounds.hi


@pytest.mark.slow
def test_alpha_beta_leaves_out_what_minimax_sees() -> None:
    game = open_game("go:1x3")
    engine = open_engine(game, hash_mb=1)
    nodes = {name: engine.solve(game.initial(), algorithm=name).nodes for name in ALGORITHMS}
    assert nodes["alphabeta"] < nodes["minimax"]
    assert nodes["negamax"] <= nodes["alphabeta"]


@pytest.mark.slow
def test_compare_runs_all_of_them() -> None:
    result = CliRunner().invoke(zermelo, ["engine", "compare", "go:1x3", "--json"])
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["results"]
    assert {row["algorithm"] for row in rows} == set(ALGORITHMS)
    assert not any(row["wrong"] or row["unfinished"] for row in rows)


# -- territory and prisoners -----------------------------------------------------------------


def test_territory_counts_empty_points_and_prisoners() -> None:
    game = open_game("go:1x4,scoring=territory")
    position = game.initial()
    for name in ("b1", "a1", "d1"):  # White's stone in the corner has no liberty: suicide
        if name == "a1":
            with pytest.raises(GameError):
                game.find_move(position, name)
            position = game.play(position, PASS)
        else:
            position = game.play(position, game.find_move(position, name))
    ended = game.play(game.play(position, PASS), PASS)
    assert game.score(ended) == -2  # White is to move: a1 and c1 are Black's
    assert open_game("go:1x4").score(ended) == -4  # by area the stones count, too


def test_captured_stones_count() -> None:
    game = open_game("go:2x2,scoring=territory")
    position = game.parse("OX.. O")  # O takes by a1
    after = game.play(game.parse("OX.. X"), game.find_move(game.parse("OX.. X"), "a1"))
    assert after.prisoners == 1
    assert game.parse(game.format(after)) == after
    assert game.decode(game.encode(after), game.history(after)) == after
    assert game.history(after) != open_game("go:2x2").history(after.__class__(
        after.black, after.white, after.black_to_move, past=after.past))
    assert position.prisoners == 0
    with pytest.raises(GameError, match="prisoners"):
        open_game("go:2x2").parse("OX.. X prisoners=1")


def test_specs_of_area_stay_as_they_were() -> None:
    assert open_game("go:2x2,scoring=area").spec == (
        "go:2x2,ko=psk,cycle=draw,suicide=forbidden,komi=0"
    )
    assert open_game("go:2x2,scoring=territory").short_spec == "go:2x2,scoring=territory"


def test_territory_is_solved_where_whole_histories_can_be_searched() -> None:
    for spec, expected in {"go:1x3": 2, "go:2x2": 0}.items():
        game = open_game(f"{spec},scoring=territory")
        for algorithm in ("mtdf", "alphabeta"):
            report = open_engine(game).solve(game.initial(), algorithm=algorithm)
            assert report.bounds.lo == report.bounds.hi == expected
    with pytest.raises(EngineError, match=r"on at most 4 points; choose a smaller board"):
        open_engine(open_game("go:5x5,scoring=territory"))


def test_nobody_who_counts_area_serves_territory() -> None:
    """The compiled checker and engine of Go know no prisoners."""
    assert type(open_checker(open_game("go:2x2"))) is GoChecker
    assert type(open_checker(open_game("go:2x2,scoring=territory"))) is PlainChecker
    assert type(open_engine(open_game("go:2x2,scoring=territory"))) is PortableEngine
