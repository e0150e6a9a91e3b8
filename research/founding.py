"""The numbers of the founding documents beside ours, measured anew.

Facts of theirs are the constants here; whatever can be counted, sampled or read from a
database is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zermelo.games import KEY_BYTES, Game, open_game
from zermelo.players.looking import LookingPlayer, RandomPlayer
from zermelo.proof.moves import MoveFinder, Place
from zermelo.research.api import TreeCampaigns
from zermelo.research.games_played import GameInPlay, play_out
from zermelo.research.study import PASS, Study, study
from zermelo.server.campaigns import campaign_summary
from zermelo.server.database import Connection
from zermelo.sql import query

SPEC = "reversi:8x8"
#: Lines of play of 1, 2, ... moves.
LINES = (4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005264)
#: Estimated nodes of the tree: the sum of the products of mean branching factors.
TREE_SIZE = 2.27e53
#: The move near which the branching of random games is largest.
PEAK_PLY = 30
#: Share of its games that positional play won against random play.
POSITIONAL_SHARE = 0.85
#: Bytes of a node: 258 bits, and how many times as much a row of PostgreSQL took.
NODE_BYTES = 33
ROW_FACTORS = ((85_000, 4.5), (1_300_000, 6.9), (2_700_000, 5.45))
#: Worth of the squares of a quarter of the board, rows 1 to 4, columns a to d.
SQUARE_WORTH = ((100, -20, 10, 5), (-20, -50, -2, -2), (10, -2, -1, -1), (5, -2, -1, -1))


@dataclass(frozen=True, slots=True)
class Solved:
    """A game that was solved then: score for the first player, positions searched, time."""

    campaign: str
    score: int
    nodes: float
    time: str


SOLVED = (
    Solved("reversi:6x6", -4, 4e10, "two weeks"),
    Solved("reversi:6x6,start=parallel", -2, 1e11, "five weeks"),
    Solved("go:5x5", 25, 4.5e9, "four hours"),
)


@dataclass(frozen=True, slots=True)
class LineCount:
    depth: int
    there: int
    here: int
    #: How many of the lines that are one move shorter end where the side to move must pass.
    forced_passes: int


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a campaign of ours has found; None where the database has no finished one."""

    there: Solved
    score: int | None
    nodes: int | None
    engine_seconds: float | None


@dataclass(frozen=True, slots=True)
class Stored:
    """Nodes in a database of ours, and the bytes that they take there, indexes included."""

    nodes: int
    size: int


@dataclass(frozen=True, slots=True)
class Founding:
    lines: list[LineCount]
    games: Study
    matches: int
    #: Share of the matches that positional play won.
    positional_share: float
    key_bytes: int
    stored: Stored | None
    solved: list[Resolved]

    @property
    def peak(self) -> tuple[int, float]:
        """The ply with the largest branching, a pass being no move; and that branching."""
        found = [(ply.branching_without_pass or 0.0, ply.ply) for ply in self.games.plies]
        branching, ply = max(found)
        return ply, branching


Report = Callable[[str, int], None]


def measure(
    *, depth: int, games: int, matches: int, seed: int, connection: Connection | None = None,
    report: Report = lambda what, done: None,
) -> Founding:  # fmt: skip
    """All numbers; what was solved and what a node takes is read from a database."""
    game = open_game(SPEC)
    return Founding(
        lines=count_lines(game, depth, report),
        games=study(game, exact=0, games=games, seed=seed, report=report),
        matches=matches,
        positional_share=positional_share(game, matches, seed, report),
        key_bytes=KEY_BYTES,
        stored=None if connection is None else _stored(connection),
        solved=[_resolved(there, connection) for there in SOLVED],
    )


def count_lines(game: Game[Any], depth: int, report: Report) -> list[LineCount]:
    """Lines of play by depth, counted position by position, symmetric ones together."""
    finder = MoveFinder(game)
    start = game.canonical(game.initial())
    level: dict[Place, int] = {(game.encode(start), game.history(start)): 1}
    found = []
    ended = 0  # a game that ends earlier is one line
    for plies, there in zip(range(1, depth + 1), LINES, strict=False):
        following: dict[Place, int] = {}
        forced = 0
        for place, ways in level.items():
            steps = finder.steps(place)
            ended += ways if not steps else 0
            forced += ways if [game.move_name(step.move) for step in steps] == [PASS] else 0
            for step in steps:
                following[step.after] = following.get(step.after, 0) + ways
        report(f"lines of {plies} moves", len(following))
        found.append(LineCount(plies, there, sum(following.values()) + ended, forced))
        level = following
    return found


def positional_share(game: Game[Any], matches: int, seed: int, report: Report) -> float:
    """How many games positional play wins against random play, moving first in every other."""
    positional = LookingPlayer(game, 1, positional_evaluation(game), "positional")
    opponent = RandomPlayer(game, seed)
    won = 0
    for number in range(matches):
        players = (positional, opponent) if number % 2 == 0 else (opponent, positional)
        won += play_out(GameInPlay(game), *players).winner == positional.name
        report("positional against random", number + 1)
    return won / matches if matches else 0.0


def positional_evaluation(game: Game[Any]) -> Callable[[Any], int]:
    """Own squares minus the opponent's, each by its worth, for the side to move."""
    masks: dict[int, int] = {}
    for row, col in itertools.product(range(8), repeat=2):
        worth = SQUARE_WORTH[min(row, 7 - row)][min(col, 7 - col)]
        masks[worth] = masks.get(worth, 0) | 1 << (8 * row + col)

    def evaluate(position: Any) -> int:
        return sum(
            worth * ((position.own & mask).bit_count() - (position.opponent & mask).bit_count())
            for worth, mask in masks.items()
        )

    return evaluate


def _stored(connection: Connection) -> Stored:
    ((nodes, size),) = connection.execute(query("size_of_nodes"))
    return Stored(nodes, size)


def _resolved(there: Solved, connection: Connection | None) -> Resolved:
    names = [] if connection is None else TreeCampaigns(connection).campaigns()
    if connection is None or there.campaign not in names:
        return Resolved(there, None, None, None)
    standing = campaign_summary(connection, there.campaign)
    if standing.value is None:
        return Resolved(there, None, None, None)
    return Resolved(there, standing.value, standing.nodes, standing.engine_seconds)
