"""`zermelo engine solve` on one position."""

from __future__ import annotations

import pytest

from tests.support.engine_command import invoke as run
from zermelo.engine import ALGORITHMS
from zermelo.games import open_game

FIELDS = {"game", "position", "value", "bounds", "move", "line", "nodes", "seconds", "algorithm",
          "status"}


def test_people_read_value_outcome_line_and_cost() -> None:
    code, out, _ = run("solve", "reversi:4x5")
    assert code == 0
    assert "value      +16\n" in out
    assert "X, who moves first, wins by 16" in out
    assert all(label in out for label in ("best play", "nodes", "time", "nodes/s"))
    assert "to move" not in out  # no board unless a position was given


def test_programs_read_json() -> None:
    code, out, err = run("solve", "reversi:4x4", "--json")
    answer = run("solve", "reversi:4x4", "--json").json
    assert code == 0
    assert not err
    assert out.count("\n") == 1
    assert answer.keys() >= FIELDS
    assert answer["game"] == "reversi:4x4,start=diagonal,scoring=raw"
    assert answer["value"] == -8
    assert answer["bounds"] == [-8, -8]
    assert answer["status"] == "solved"


def test_the_line_is_play_to_the_end_with_the_value() -> None:
    game = open_game("reversi:4x5")
    answer = run("solve", "reversi:4x5", "--json").json
    position, sign = game.parse(answer["position"]), 1
    for name in answer["line"]:
        position, sign = game.play(position, game.find_move(position, name)), -sign
    assert game.is_final(position)
    assert sign * game.score(position) == answer["value"]
    assert answer["move"] == answer["line"][0]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("threads", [1, 2])
def test_every_algorithm_finds_the_value(algorithm: str, threads: int) -> None:
    answer = run("solve", "reversi:4x4", "--algorithm", algorithm, "--threads", threads,
                 "--json").json
    assert (answer["value"], answer["algorithm"]) == (-8, algorithm)


def test_scoring_is_part_of_the_game() -> None:
    assert run("solve", "reversi:4x4,scoring=wof", "--json").json["value"] == -10


@pytest.mark.parametrize("text", [
    "OXXOOOXOXOOO-OOO X",
    "OXXO\nOOXO\nXOOO\n-OOO\nX",
    "OXXO/OOXO/XOOO/-OOO X",
    "OXXOOOXOXOOO-OOO X; a4:-4;",
])
def test_a_position_is_drawn_and_solved(text: str) -> None:
    code, out, _ = run("solve", "reversi:4x4", "--position", text)
    assert code == 0
    assert out.startswith("  a b c d\n1 O X X O\n")
    assert "X, to move, loses by 4" in out
    assert "best play  a4\n" in out


def test_a_position_where_nobody_can_move_is_a_finished_game() -> None:
    text = "XXXX/XXXX/XXXX/XXXO O"
    code, out, _ = run("solve", "reversi:4x4", "--position", text)
    answer = run("solve", "reversi:4x4", "--position", text, "--json").json
    assert code == 0
    assert "the game is over: O loses by 14" in out
    assert (answer["value"], answer["move"], answer["line"]) == (-14, None, [])


def test_the_goal_outcome_asks_only_for_the_sign() -> None:
    answer = run("solve", "reversi:4x6", "--goal", "outcome", "--json").json
    assert answer["outcome"] == "win"
    assert answer["bounds"][0] >= 1
    assert answer["nodes"] < run("solve", "reversi:4x6", "--json").json["nodes"]


@pytest.mark.slow
def test_a_window_gives_bounds_and_names_only_a_proved_move() -> None:
    below = run("solve", "reversi:4x4", "--window", "-3,5", "--json").json
    above = run("solve", "reversi:4x4", "--window", "-13,-10", "--json").json
    assert below["value"] is None
    assert below["bounds"][1] <= -3
    assert below["move"] is None
    assert above["bounds"][0] >= -10
    assert above["move"] is not None
    assert "secures the lower bound" in run("solve", "reversi:4x4", "--window", "-13,-10").out
    assert run("solve", "reversi:4x4", "--window", "-99,99", "--json").json["value"] == -8


def test_the_node_budget_leaves_bounds_and_its_own_exit_code() -> None:
    code, out, _ = run("solve", "reversi:6x6", "--node-budget", 5000, "--hash-mb", 1)
    answer = run("solve", "reversi:6x6", "--node-budget", 5000, "--hash-mb", 1, "--json").json
    assert code == 3
    assert "node budget reached" in out
    assert answer["status"] == "exhausted"
    assert answer["value"] is None
    assert answer["bounds"][0] <= -4 <= answer["bounds"][1]


def test_the_former_name_of_the_node_budget_still_works() -> None:
    new = run("solve", "reversi:6x6", "--node-budget", 5000, "--hash-mb", 1, "--json").json
    former = run("solve", "reversi:6x6", "--node-budget", 5000, "--hash-mb", 1, "--json").json
    assert (former["status"], former["nodes"]) == (new["status"], new["nodes"])
    told = run("solve", "--help").out
    assert "--node-budget" in told
    assert "ZERMELO_NODE_BUDGET" in told
    assert "limit" not in told.casefold()


def test_options_have_twins_in_the_environment() -> None:
    env = {"ZERMELO_ALGORITHM": "negamax", "ZERMELO_JSON": "1"}
    assert run("solve", "reversi:4x4", env=env).json["algorithm"] == "negamax"


@pytest.mark.parametrize(("args", "told"), [
    (["chess:8x8"], ["'chess'", "reversi"]),
    (["reversi"], ["'reversi'", "ROWSxCOLS"]),
    (["reversi:3x9"], ["3x9", "4 to 8"]),
    (["reversi:6x6,start=odd"], ["'odd'", "diagonal or parallel"]),
    (["reversi:4x4", "--position", "XO X"], ["2 squares", "16"]),
    (["reversi:4x4", "--position", "?XXOOOXOXOOO-OOO X"], ["'?'", "a1", "X, O or -"]),
    (["reversi:4x4", "--position", "OXXOOOXOXOOO-OOO"], ["no side to move", "X or O"]),
    (["reversi:4x4", "--position", "-------X-------- X"], ["1 discs", "at least 4"]),
    (["reversi:4x4", "--window", "2,2"], ["'2,2'", "LO must be below HI"]),
    (["reversi:4x4", "--window", "4,-4"], ["'4,-4'", "LO must be below HI"]),
    (["reversi:4x4", "--window", "0"], ["'0'", "LO,HI"]),
    (["reversi:4x4", "--window", "17,20"], ["'17,20'", "-16 to 16"]),
    (["reversi:4x4", "--window", "-1,1", "--goal", "outcome"], ["--window", "--goal outcome"]),
    (["reversi:4x4", "--position", "x", "--file", "y"], ["--position", "--file"]),
    (["reversi:4x4", "--threads", "0"], ["--threads", "0", "1<=x"]),
    (["reversi:4x4", "--threads", "many"], ["--threads", "'many'"]),
    (["reversi:4x4", "--hash-mb", "0"], ["--hash-mb", "0", "x>=1"]),
    (["reversi:4x4", "--hash-mb", "999999999"], ["999999999 MB", "this machine"]),
    (["reversi:4x4", "--node-budget", "0"], ["--node-budget", "0", "1<=x"]),
    (["reversi:4x4", "--algorithm", "magic"], ["'magic'", "'mtdf'"]),
    (["reversi:4x4", "--goal", "fun"], ["'fun'", "'outcome'"]),
    (["reversi:4x4", "--speed", "9"], ["--speed"]),
    ([], ["SPEC"]),
])
def test_bad_input_is_told_in_one_line(args: list[str], told: list[str]) -> None:
    code, out, err = run("solve", *args)
    assert code == 2
    assert not out
    assert "\n" not in err
    assert all(part in err for part in told), err
