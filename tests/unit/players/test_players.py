"""Players of every kind: legal moves, the strength that they promise, errors that tell."""

from __future__ import annotations

from typing import Any

import pytest

from zermelo.engine import open_engine
from zermelo.games import Game, GameError, open_game
from zermelo.players import KINDS, Player, PlayerError, open_player
from zermelo.players.depth import DepthPlayer
from zermelo.players.evaluations import EVALUATIONS
from zermelo.players.planning import PlanningPlayer

PLAYERS = ["random", "greedy", "depth:2", *(f"minimax:1,{name}" for name in EVALUATIONS),
           "uct:20", "uct:0.01s", "engine:2000"]


def play(game: Game[Any], *players: Player) -> tuple[int, int]:
    """The score of the first player, and the plies."""
    position, plies = game.initial(), 0
    for player in players:
        player.begin()
    while moves := game.moves(position):
        move = players[plies % 2].choose(position)
        assert move in moves
        position, plies = game.play(position, move), plies + 1
    score = game.score(position)
    return (score if plies % 2 == 0 else -score), plies


@pytest.mark.parametrize("name", PLAYERS)
@pytest.mark.parametrize("spec", ["mnk:3x3", "reversi:4x4", "go:2x2", "kalah:2x2"])
def test_every_player_plays_every_game(name: str, spec: str) -> None:
    game = open_game(spec)
    player = open_player(name, game, seed=3)
    assert player.name == name
    score, plies = play(game, player, open_player("random", game, seed=5))
    assert abs(score) <= game.max_score
    assert plies > 0


@pytest.mark.parametrize("name", ["engine:100000", "uct:400", "minimax:3,playouts"])
def test_good_players_do_not_lose_tic_tac_toe_to_chance(name: str) -> None:
    game = open_game("mnk:3x3")
    player = open_player(name, game, seed=1)
    for seed in range(3):
        assert play(game, player, open_player("random", game, seed=seed))[0] >= 0


def test_more_playouts_win() -> None:
    game = open_game("connect-four:4x5")
    scores = [
        play(game, open_player("uct:400", game, seed=seed), open_player("uct:4", game, seed=9))[0]
        for seed in range(6)
    ]
    assert sum(scores) >= 3


@pytest.mark.parametrize("name", ["depth-first", "breadth-first"])
@pytest.mark.parametrize(("spec", "moves"), [("frogs:3x3", 15), ("frogs:2x4", 14)])
def test_one_player_finds_the_way(name: str, spec: str, moves: int) -> None:
    """n*m + n + m moves; the other side's passes lie between them."""
    game = open_game(spec)
    player = open_player(name, game)
    assert play(game, player, player) == (1, 2 * moves - 1)


def test_planning_is_for_one_player() -> None:
    with pytest.raises(PlayerError, match="one player, such as frogs"):
        PlanningPlayer(open_game("mnk:3x3"), "depth-first", deep=True)


@pytest.mark.parametrize(("name", "message"), [
    ("grandmaster", "unknown player 'grandmaster'; known: random, greedy, depth:N"),
    ("depth:0", "must be 1 to 10"), ("depth:x", "'x' is no whole number"),
    ("minimax:2,beauty", "unknown evaluation 'beauty'; known: engine, rules"),
    ("random:3", "nothing may stand behind the colon"), ("uct:0", "must be 1 to"),
    ("uct:999s", "at most 600 s"), ("engine:-1", "no whole number"),
    ("engine:", "nothing follows the colon; write engine, engine:N"),
])  # fmt: skip
def test_wrong_names_are_told(name: str, message: str) -> None:
    with pytest.raises(PlayerError, match=message):
        open_player(name, open_game("mnk:3x3"))


def test_every_kind_is_tried() -> None:
    words = {name.partition(":")[0] for name in PLAYERS} | {"depth-first", "breadth-first"}
    assert words == set(KINDS)


@pytest.mark.parametrize("name", ["depth:8", "minimax:8,matrix", "minimax:6,discs=1+corners=10"])
def test_reversi_by_depth_is_compiled(name: str) -> None:
    game = open_game("reversi:8x8")
    player = open_player(name, game)
    assert isinstance(player, DepthPlayer)
    assert player.choose(game.initial()) in game.moves(game.initial())


def test_the_end_is_perfect_if_asked() -> None:
    game = open_game("reversi:4x4")
    position = game.initial()
    engine = open_engine(game, hash_mb=1)
    player = open_player("minimax:1,discs,perfect=12", game)
    score, sign = engine.solve(position).bounds.lo, 1
    while game.moves(position):
        position, sign = game.play(position, player.choose(position)), -sign
    assert sign * game.score(position) == score


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("minimax:3,luck", "unknown evaluation"),
        ("minimax:3,luck=1", "unknown feature"),
        ("minimax:3,discs,perfect=99", "up to 20 empty squares"),
        ("minimax:11,discs", "1 to 10"),
    ],
)
def test_mistakes_in_names_of_reversi_players(name: str, said: str) -> None:
    with pytest.raises((PlayerError, GameError), match=said):
        open_player(name, open_game("reversi:6x6"))
