"""The tables that grounding makes of a definition: what plays, proves and compiles uses them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from zermelo.games.definition.board import Mask
from zermelo.games.definition.model import Model
from zermelo.games.definition.terms import Ray, Term

NO_RULE = -1


@dataclass(frozen=True, slots=True)
class Put:
    """All cells of a mask become `value`; `before` are the values that they can have had."""

    mask: Mask
    value: int
    before: frozenset[int]


@dataclass(frozen=True, slots=True)
class Change:
    """A counter becomes, or is changed by, a number, if the condition holds."""

    counter: int
    #: "=" or "+=".
    operator: str
    amount: Term
    condition: Term


@dataclass(frozen=True, slots=True)
class Instance:
    """One way a ground move can happen. Everything is done in the order of the fields."""

    rule: int
    guard: Term
    #: The cells that a piece leaves and reaches; 0: none does.
    source: Mask
    target: Mask
    #: The value whose pieces are taken off the board first; 0: none.
    lifts: int
    puts: tuple[Put, ...]
    #: Rays on which enclosed enemies turn over.
    rays: frozenset[Ray]
    #: A rule: the pieces that could have used it instead are taken off, where they are now.
    forfeits: int
    changes: tuple[Change, ...]
    #: The cell that must go on if its rule still applies there; 0: none.
    chain: Mask
    #: Whether the same side moves again.
    again: Term
    #: Whether the clock of the limit starts again.
    resets: bool


@dataclass(frozen=True, slots=True)
class End:
    """The game is over if the condition holds; the score is for the side to move."""

    condition: Term
    score: Term


@dataclass(frozen=True, slots=True)
class Limit:
    plies: int
    #: The score, for the side to move.
    score: int
    #: The counter of plies without progress.
    clock: int


@dataclass(frozen=True, slots=True)
class Start:
    planes: tuple[Mask, ...]
    counters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    model: Model
    rules: tuple[str, ...]
    #: The names of all moves; their numbers are what the game interface calls moves.
    moves: tuple[str, ...]
    #: For each side and move the instances, in order: the first that applies is what happens.
    instances: tuple[tuple[tuple[Instance, ...], ...], tuple[tuple[Instance, ...], ...]]
    ends: tuple[tuple[End, ...], tuple[End, ...]]
    #: The score expression for each side to move, if there is one.
    scores: tuple[Term | None, Term | None]
    limit: Limit | None
    start: Start

    def every(self) -> Iterator[tuple[int, int, Instance]]:
        """All instances with side and move."""
        for side, moves in enumerate(self.instances):
            for move, instances in enumerate(moves):
                for instance in instances:
                    yield side, move, instance
