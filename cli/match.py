"""`zermelo match`: two players against each other, many times."""

from __future__ import annotations

import csv
import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zermelo.cli.game_files import CAMPAIGN, open_local_game
from zermelo.cli.options import database_options, json_option, open_connection, option
from zermelo.cli.output import print_json, print_table, short_time
from zermelo.cli.plain_errors import CommandError
from zermelo.cli.watch import Ticker
from zermelo.parts import is_installed

if TYPE_CHECKING:
    from zermelo.players import Player
    from zermelo.research.games_played import PlayedGame


@dataclass(slots=True)
class Tally:
    """How one player did."""

    player: str
    wins: int = 0
    draws: int = 0
    losses: int = 0
    score: int = 0
    seconds: float = 0.0
    moves: int = 0

    def count(self, score: int) -> None:
        self.wins += score > 0
        self.draws += score == 0
        self.losses += score < 0
        self.score += score


@click.command()
@click.argument("first")
@click.argument("second")
@option("--game", "spec", default="reversi:6x6", metavar="SPEC", help="The game.")
@option("--games", type=click.IntRange(1, 100_000), default=20, help="Games to play.")
@option("--random-plies", type=click.IntRange(0, 60), default=4,
        help="Random moves to begin with; both players get the same ones, with either side.")
@option("--seed", type=click.IntRange(0), default=1, help="Repeats the random moves.")
@option("--campaign", type=CAMPAIGN, default=None,
        help="The campaign that the player 'proof' plays from.")
@option("--store/--no-store", default=True, help="Store the games for `zermelo games`.")
@option("--csv", "csv_file", type=click.Path(dir_okay=False, path_type=Path), default=None,
        help="Write a line about every game into this file.")
@database_options
@json_option
def match(
    first: str, second: str, spec: str, games: int, random_plies: int, seed: int,
    campaign: str | None, store: bool, csv_file: Path | None, data_dir: Path,
    database: str | None, as_json: bool,
) -> None:
    """Let the players FIRST and SECOND play each other, and count.

    A player is random, greedy, depth:N (looks N plies ahead), minimax:N,EVALUATION (the same
    with engine, rules, mobility or playouts), uct:N or uct:1.5s (Monte Carlo by playouts or
    time), engine:NODES (proves its move within NODES nodes if it can), proof (from a campaign),
    or for one player depth-first or breadth-first.
    """
    from zermelo.research.games_played import store_game
    from zermelo.research.players import open_player

    game = open_local_game(spec)
    store = store and not game.is_definition  # whose rules may be gone when it is looked up
    if campaign is None and database is None and not is_installed("server"):
        store = False
    if not store and campaign is None:
        players = [Timed(open_player(name, game, seed=seed)) for name in (first, second)]
        played = _hold(game, players, games, random_plies, seed)
    else:
        with open_connection(data_dir, database, create=campaign is None) as connection:
            queries = None
            if campaign is not None:
                from zermelo.research.tree_queries import TreeQueries
                from zermelo.server.campaigns import find_campaign

                queries = TreeQueries(connection, find_campaign(connection, campaign))
            players = [Timed(open_player(name, game, seed=seed, queries=queries))
                       for name in (first, second)]
            played = _hold(game, players, games, random_plies, seed)
            for one in played if store else ():
                store_game(connection, one)
    tallies = _count(players, played)
    if csv_file is not None:
        _write_csv(csv_file, played)
    plies = sum(len(one.moves) for one in played) / len(played)
    seconds = sum(one.seconds for one in played) / len(played)
    if as_json:
        print_json({"game": game.spec, "games": len(played), "random_plies": random_plies,
                    "seed": seed, "mean_plies": round(plies, 3),
                    "mean_seconds": round(seconds, 6),
                    "players": [_as_json(tally) for tally in tallies]})
        return
    print_table(
        f"{len(played)} games of {game.short_spec}",
        ["player", "wins", "draws", "losses", "mean score", "time a move", "time"],
        [[tally.player, str(tally.wins), str(tally.draws), str(tally.losses),
          f"{tally.score / len(played):+.2f}",
          short_time(tally.seconds / max(1, tally.moves)), short_time(tally.seconds)]
         for tally in tallies],
    )
    click.echo(f"on average {plies:.1f} plies and {short_time(seconds)} a game")


def _write_csv(path: Path, played: list[PlayedGame]) -> None:
    try:
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["game", "first", "second", "score", "plies", "seconds", "start",
                             "moves"])
            for number, one in enumerate(played, 1):
                writer.writerow([number, one.first, one.second, one.score, len(one.moves),
                                 f"{one.seconds:.6f}", one.position or "", " ".join(one.moves)])
    except OSError as error:
        raise CommandError(f"cannot write {str(path)!r}: {error.strerror}") from None


class Timed:
    """A player and the time it takes."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self.name = player.name
        self.seconds, self.moves = 0.0, 0

    def begin(self) -> None:
        self._player.begin()

    def choose(self, position: Any) -> int:
        started = time.perf_counter()
        move = self._player.choose(position)
        self.seconds += time.perf_counter() - started
        self.moves += 1
        return move


def _hold(
    game: Any, players: list[Timed], games: int, random_plies: int, seed: int
) -> list[PlayedGame]:
    """All games; the players change sides after each, and the opening after every two."""
    from zermelo.research.games_played import GameInPlay, play_out, random_opening

    if random_plies and game.is_final(game.initial()):
        raise CommandError(f"{game.short_spec} is over before it begins")
    choose = random.Random(seed)  # noqa: S311
    played = []
    with Ticker() as ticker:
        for number in range(games):
            if number % 2 == 0:
                start = random_opening(game, random_plies, choose) if random_plies else None
            order = players if number % 2 == 0 else players[::-1]
            played.append(play_out(GameInPlay(game, start), *order))
            ticker.show(f"{number + 1} of {games} games")
    return played


def _count(players: list[Timed], played: list[PlayedGame]) -> list[Tally]:
    tallies = [Tally(player.name, seconds=player.seconds, moves=player.moves)
                 for player in players]
    for number, game in enumerate(played):
        score = game.score if number % 2 == 0 else -game.score
        tallies[0].count(score)
        tallies[1].count(-score)
    return tallies


def _as_json(tally: Tally) -> dict[str, Any]:
    return {
        "player": tally.player, "wins": tally.wins, "draws": tally.draws,
        "losses": tally.losses, "score": tally.score, "moves": tally.moves,
        "seconds": round(tally.seconds, 6),
    }
