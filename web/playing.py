"""A game on the pages: all of it stands in its address.

`Table` is what an address tells: the game, who plays either side, the moves so far. A side is a
machine where its name is that of a kind of player, such as ``minimax:4``, and else a person.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from zermelo.games import Game
from zermelo.games.interface import PASS_NAME
from zermelo.games.telling import must_pass
from zermelo.players import KINDS, PlayerError, look_ahead
from zermelo.texts import one_line
from zermelo.web.finding import Way, follow
from zermelo.web.words import path_part

PROOF = "proof"
MOST_PLAYOUTS = 20_000
MOST_NODES = 2_000_000
MOST_PERFECT = 16
LONGEST_NAME = 40
MOST_WAYS = 2_000
#: Ways of games by game and moves, the oldest first.
_WAYS: dict[tuple[str, ...], Way] = {}
_NUMBERS = {"uct": MOST_PLAYOUTS, "engine": MOST_NODES}
#: What an address turns on; see `Table`.
SWITCHES = ("hidden", "lines", "still", "auto")
_PLAIN = ("random", "greedy", PROOF)
_MINIMAX = re.compile(r"([0-9]{1,2})(?:,([a-z0-9=+-]*))?(?:,perfect=([0-9]{1,2}))?", re.ASCII)


def is_machine(name: str) -> bool:
    return name.partition(":")[0] in (*KINDS, PROOF)


def check_machine(name: str, game: Game[Any]) -> None:
    """`PlayerError` for a machine that the pages do not have, or that may not think so long."""
    word, _, argument = name.partition(":")
    if word in _PLAIN and not argument:
        return
    if word in _NUMBERS:
        if not re.fullmatch("[0-9]{1,9}", argument, re.ASCII) or not (
            1 <= int(argument) <= _NUMBERS[word]
        ):
            raise PlayerError(f"{word} takes a number from 1 to {_NUMBERS[word]:,} on these pages")
        return
    deepest = look_ahead(game).deepest
    found = _MINIMAX.fullmatch(argument) if word == "minimax" else None
    if found is None:
        raise PlayerError(
            f"the pages do not have the opponent {name[:LONGEST_NAME]!r}; choose minimax:N, uct:N,"
            " engine:N, greedy, random or proof"
        )
    if not 1 <= int(found[1]) <= deepest or int(found[3] or 0) > MOST_PERFECT:
        raise PlayerError(
            f"minimax looks 1 to {deepest} plies ahead in {game.short_spec} on these pages, and"
            f" plays perfectly with at most {MOST_PERFECT} empty squares"
        )


def machine_title(name: str) -> str:
    """What a machine is called beside the board; people keep the names that they gave."""
    word, _, argument = name.partition(":")
    if word == "minimax" and (found := _MINIMAX.fullmatch(argument)):
        how = "own weights" if "=" in (found[2] or "") else found[2]
        told = ", ".join(filter(None, [f"depth {found[1]}", how]))
        return f"{told}, perfect at the end" if found[3] else told
    if word in _NUMBERS and argument.isdigit():
        return f"{'Monte Carlo' if word == 'uct' else 'engine'} {int(argument):,}"
    return "the proof" if name == PROOF else name


@dataclass(frozen=True, slots=True)
class Table:
    """Who plays what, and how far they are."""

    spec: str
    first: str
    second: str
    moves: tuple[str, ...] = ()
    sitting: str = ""
    #: Whether legal moves are not marked.
    hidden: bool = False
    #: Whether a line shows the direction of every capture.
    lines: bool = False
    #: Whether discs change at once.
    still: bool = False
    #: Whether two machines go on by themselves.
    auto: bool = False

    def link(
        self, *, form: str = "", extra: Mapping[str, str] | None = None, **changes: Any
    ) -> str:
        """The address of the same game with something else."""
        at = replace(self, **changes)
        pairs = {"first": at.first, "second": at.second}
        pairs |= {name: "on" for name in SWITCHES if getattr(at, name)}
        if at.sitting:
            pairs["sitting"] = at.sitting
        if at.moves:
            pairs["moves"] = ",".join(at.moves)
        query = urlencode(pairs | dict(extra or {}), safe=",:")
        return f"/play/{path_part(at.spec)}{form}?{query}"

    def mover(self, ply: int) -> str:
        return self.second if ply % 2 else self.first

    def title(self, name: str) -> str:
        """What a side is called beside the board."""
        return machine_title(name) if is_machine(name) else name

    @property
    def machines(self) -> list[str]:
        return [name for name in (self.first, self.second) if is_machine(name)]

    @property
    def people(self) -> list[str]:
        return [name for name in (self.first, self.second) if not is_machine(name)]


def read_table(spec: str, query: Mapping[str, str], moves: list[str]) -> Table:
    return Table(
        spec, _side(query.get("first", "")), _side(query.get("second", "")),
        tuple(moves), query.get("sitting", "")[:100], **{name: name in query for name in SWITCHES},
    )  # fmt: skip


def _side(name: str) -> str:
    return name if is_machine(name) else persons_name(name)


def persons_name(text: str) -> str:
    return one_line(text, LONGEST_NAME).strip() or "somebody"


def remembered_way(game: Game[Any], moves: Sequence[str]) -> Way:
    """The way of a game from its start as far as its moves are legal.

    A game comes back with a move or two more each time, so the ways of the last games are kept:
    the rules are asked about the new moves alone.
    """
    for known in range(len(moves), -1, -1):
        way = _WAYS.get((game.spec, *moves[:known]))
        if way is not None:
            break
    else:
        known, way = 0, follow(game, game.initial(), [])
    more = follow(game, way.end, moves[known:])
    way = Way(way.positions + more.positions[1:], way.moves + more.moves, way.names + more.names)
    if tuple(moves) == tuple(way.names):
        _WAYS[(game.spec, *moves)] = way
        if len(_WAYS) > MOST_WAYS:
            del _WAYS[next(iter(_WAYS))]
    return way


@dataclass(frozen=True, slots=True)
class Step:
    """A move that was made, and by whom."""

    who: str
    move: str
    forced: bool


def steps(game: Game[Any], table: Table, way: Way) -> list[Step]:
    return [
        Step(table.mover(ply), name, name == PASS_NAME and must_pass(game, way.positions[ply]))
        for ply, name in enumerate(way.names)
    ]


def last_choice(made: list[Step]) -> int:
    """The ply of the last move that a person chose; 0 if there is none."""
    chosen = [ply for ply, step in enumerate(made) if not is_machine(step.who) and not step.forced]
    return chosen[-1] if chosen else 0


def first_score(game: Game[Any], way: Way) -> int:
    """The score of a finished game for the side that moved first."""
    score = game.score(way.end)
    return -score if len(way.moves) % 2 else score
