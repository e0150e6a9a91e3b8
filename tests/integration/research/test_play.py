"""Playing: from the proof nothing that is proved is ever lost; games are stored and shown."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.support.effort import REPEATED, some
from tests.support.harness import Solve
from zermelo.cli import zermelo
from zermelo.games import Bounds, open_game
from zermelo.players import Player, PlayerError
from zermelo.players.looking import LookingPlayer, RandomPlayer
from zermelo.research.games_played import (
    GameInPlay,
    UnknownGameError,
    find_game,
    list_games,
    play_out,
    random_opening,
    store_game,
)
from zermelo.research.players import ProofPlayer, open_player
from zermelo.research.tree_queries import TreeQueries
from zermelo.server.campaigns import create_campaign
from zermelo.server.database import Connection


def proof_player(connection: Connection, spec: str, **options: Any) -> tuple[ProofPlayer, Bounds]:
    """A player from the proof of a solved campaign, and what is proved about the start."""
    campaign = create_campaign(connection, spec, replication="none", **options)
    bounds = Solve(connection, campaign).run()
    return ProofPlayer(TreeQueries(connection, campaign), 10**6), bounds


class Varied:
    """Now this player, now that one: games that neither would play alone."""

    name = "varied"

    def __init__(self, *players: Player) -> None:
        self._players, self._random = players, random.Random(1)

    def begin(self) -> None:
        pass

    def choose(self, position: Any) -> int:
        return self._random.choice(self._players).choose(position)


@pytest.mark.examples
@pytest.mark.parametrize(("spec", "options", "games"), [
    ("reversi:4x4", {"node_budget": 60}, some(120, 1500)),
    ("reversi:4x4", {"node_budget": 60, "goal": "outcome"}, some(70, 700)),
    pytest.param("reversi:4x5", {"node_budget": 2000}, 250, marks=REPEATED),
    ("go:2x2", {}, some(15, 100)),
])  # fmt: skip
def test_the_proof_keeps_what_is_proved(
    connection: Connection, spec: str, options: dict[str, Any], games: int
) -> None:
    game = open_game(spec)
    player, bounds = proof_player(connection, spec, **options)
    greedy = LookingPlayer(game, 1, game.evaluate, "greedy")
    rivals = [RandomPlayer(game, 1), greedy, Varied(RandomPlayer(game, 2), greedy)]
    scores = set()
    for number in range(games):
        rival = rivals[number % len(rivals)]
        first = play_out(GameInPlay(game), player, rival)
        second = play_out(GameInPlay(game), rival, player)
        assert first.score >= bounds.lo
        assert second.score <= bounds.hi
        scores |= {first.score, second.score}
    assert len(scores) > 3 or spec == "go:2x2"


def test_players_by_name(connection: Connection) -> None:
    game = open_game("reversi:4x4")
    queries = TreeQueries(connection, create_campaign(connection, "reversi:4x4"))
    for name in ("random", "greedy", "depth:2", "engine", "engine:50", "proof"):
        player = open_player(name, game, queries=queries)
        assert player.name == name
        player.begin()
        assert player.choose(game.initial()) in game.moves(game.initial())
    for name in ("nobody", "depth:0", "depth:99", "engine:", "proof"):
        with pytest.raises(PlayerError):
            open_player(name, game)
    with pytest.raises(PlayerError, match="not of reversi:4x5"):
        open_player("proof", open_game("reversi:4x5"), queries=queries)


def test_stronger_players_win(connection: Connection) -> None:
    game = open_game("reversi:4x5")
    choose = random.Random(5)
    strong, weak = open_player("engine", game), RandomPlayer(game, 3)
    total = 0
    for _ in range(15):
        start = random_opening(game, 4, choose)
        total += play_out(GameInPlay(game, start), strong, weak).score
        total -= play_out(GameInPlay(game, start), weak, strong).score
    assert total > 0


def test_games_are_stored(connection: Connection) -> None:
    game = open_game("reversi:4x4")
    start = random_opening(game, 3, random.Random(2))
    players = RandomPlayer(game, 1), LookingPlayer(game, 1, game.evaluate, "greedy")
    played = [play_out(GameInPlay(game, begin), *players) for begin in (None, start)]
    numbers = [store_game(connection, one) for one in played]
    newest = list_games(connection, 1)
    assert [one.id for one in newest] == numbers[1:]
    found = find_game(connection, numbers[1])
    assert found.position == game.format(start)
    assert (found.moves, found.score, found.first) == (
        played[1].moves, played[1].score, "random")
    position = game.parse(found.position)
    for move in found.moves:
        position = game.play(position, game.find_move(position, move))
    assert game.format(position) == found.final
    assert game.is_final(position)
    with pytest.raises(UnknownGameError):
        find_game(connection, 10**6)


# -- the commands -----------------------------------------------------------------------------


def run(database: str, *words: str, typed: str = "") -> Result:
    return CliRunner().invoke(zermelo, [*words, "--database", database], input=typed)


def test_play_to_the_end(database: str) -> None:
    game = open_game("reversi:4x4")
    choose = random.Random(8)
    typed = ["moves", "help", "nonsense", "b1", "undo", "undo"]
    # Any square may come up: the illegal ones are refused until a legal one comes.
    typed += [choose.choice([*map(game.move_name, game.squares), "pass"])  # type: ignore[attr-defined]
              for _ in range(2000)]
    done = run(database, "play", "reversi:4x4", "--opponent", "depth:1", "--name", "tester",
               "--json", typed="\n".join(typed))
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["first"], told["second"]) == ("tester", "depth:1")
    assert "illegal move 'nonsense'" in done.stderr
    assert "nothing to take back" in done.stderr
    shown = json.loads(run(database, "games", "show", str(told["number"]), "--json").stdout)
    assert shown["moves"] == told["moves"]
    assert shown["final"] == told["final"]
    listed = run(database, "games", "list")
    assert "depth:1" in listed.stdout


def test_leaving_a_game_stores_nothing(database: str) -> None:
    done = run(database, "play", "reversi:4x4", "--opponent", "random", "--side", "second",
               "--hide-moves", typed="quit\n")
    assert done.exit_code == 0
    assert "moves:" not in done.stderr
    assert "no games yet" in run(database, "games", "list").stdout


def test_match(database: str) -> None:
    done = run(database, "match", "depth:2", "random", "--game", "reversi:4x4", "--games", "6",
               "--json")
    told = json.loads(done.stdout)
    assert [player["player"] for player in told["players"]] == ["depth:2", "random"]
    first, second = told["players"]
    assert first["wins"] + first["draws"] + first["losses"] == 6
    assert (first["wins"], first["score"]) == (second["losses"], -second["score"])
    assert len(json.loads(run(database, "games", "list", "--json").stdout)["games"]) == 6
    assert "depth:2" in run(database, "match", "depth:2", "random", "--game", "reversi:4x4",
                            "--games", "2", "--no-store").stdout


def test_study() -> None:
    told = json.loads(study("--exact", "20", "--games", "400", "--json"))
    positions = [ply["positions"] for ply in told["plies"]]
    lines, distinct = sizes("reversi:4x4")
    assert positions == distinct
    assert told["tree_size_low"] <= sum(lines) <= told["tree_size_high"]


def test_forms_of_a_study(tmp_path: Path) -> None:
    told = json.loads(study("--json"))
    plot = tmp_path / "study.svg"
    assert "lines of play" in study("--plot", str(plot))
    assert plot.read_text().startswith("<?xml")
    csv = study("--csv").splitlines()
    assert csv[0].startswith("ply,positions")
    assert len(csv) == len(told["plies"]) + 1


def study(*options: str) -> str:
    """Little of it, unless told otherwise."""
    arguments = ["tree", "study", "reversi:4x4", "--exact", "3", "--games", "20", *options]
    done = CliRunner().invoke(zermelo, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def sizes(spec: str) -> tuple[list[int], list[int]]:
    """Lines of play of each length, and distinct positions after them up to symmetry."""
    game = open_game(spec)
    level, lines, distinct = {game.initial(): 1}, [], []
    while level:
        lines.append(sum(level.values()))
        distinct.append(len({game.canonical(position) for position in level}))
        following: dict[Any, int] = {}
        for position, ways in level.items():
            for move in game.moves(position):
                after = game.play(position, move)
                following[after] = following.get(after, 0) + ways
        level = following
    return lines, distinct
