"""What questions are answered with: plain objects, the same for people and programs."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from zermelo.games import Bounds


class Known(StrEnum):
    """How much is proved about a position. There is no word for a guess."""

    PROVED = "proved"  # the exact score
    BOUNDED = "bounded"  # more than the rules tell, but not the score
    UNKNOWN = "unknown"  # nothing: not in the tree, or not yet


@dataclass(frozen=True, slots=True)
class Subject:
    """What a campaign is about: the game, and where it starts."""

    campaign: str
    game: str
    position: str


@dataclass(frozen=True, slots=True)
class Worth:
    """What is proved about a score; `value` only where it is exact."""

    known: Known
    lo: int
    hi: int

    @classmethod
    def of(cls, bounds: Bounds, rules: Bounds) -> Worth:
        known = Known.BOUNDED
        if bounds.exact:
            known = Known.PROVED
        elif bounds == rules:
            known = Known.UNKNOWN
        return cls(known, bounds.lo, bounds.hi)

    @property
    def value(self) -> int | None:
        return self.lo if self.known is Known.PROVED else None

    def __str__(self) -> str:
        """Such as ``+4``, ``+2 to +36`` or ``unknown``."""
        if self.known is Known.UNKNOWN:
            return str(self.known)
        return f"{self.lo:+d}" if self.known is Known.PROVED else f"{self.lo:+d} to {self.hi:+d}"


@dataclass(frozen=True, slots=True)
class MoveWorth:
    """A move and what is proved about it, for the side that makes it."""

    move: str
    worth: Worth
    #: Whether it is proved that no other move is better.
    best: bool
    #: Whether it is proved to secure as much as is proved about the position.
    secures: bool


@dataclass(frozen=True, slots=True)
class Provenance:
    """A result that a bound rests on, and who sent it."""

    result: int
    workunit: int
    lo: int
    hi: int
    answer: str
    nodes: int
    seconds: float
    received_at: datetime
    host: int
    host_name: str
    user: str


@dataclass(frozen=True, slots=True)
class PositionReport:
    """Everything that is known about one position."""

    position: str
    #: The node in the tree; None where the tree does not reach.
    node: int | None
    worth: Worth
    #: Whether the node has been expanded: its bounds then rest on the moves as well.
    expanded: bool
    moves: list[MoveWorth]
    provenance: list[Provenance]


@dataclass(frozen=True, slots=True)
class LineStep:
    """One move of the best line; the worth is that of the position it is made in."""

    side: str
    move: str
    worth: Worth


@dataclass(frozen=True, slots=True)
class Level:
    """The nodes so many plies from the root (by the shortest way)."""

    ply: int
    nodes: int
    frontier: int
    proved: int
    bounded: int
    unknown: int


@dataclass(frozen=True, slots=True)
class ProgressPoint:
    at: datetime
    lo: int
    hi: int
    threshold: int | None
    open_questions: int
    ready: int
    leased: int
    tree_nodes: int
    nodes: int
    wasted_nodes: int
    split_nodes: int
    #: Median of the nodes still to search; 80 % likely within a factor of the next number.
    remaining: float | None
    remaining_factor: float | None


@dataclass(frozen=True, slots=True)
class OpenLevel:
    """Open questions so many plies from the root."""

    ply: int
    ready: int
    leased: int
    #: Nodes that the cost model expects them to take.
    expected: float


@dataclass(frozen=True, slots=True)
class Contributor:
    name: str
    hosts: int
    results: int
    accepted: int
    refused: int
    nodes: int
    seconds: float
    last_at: datetime


@dataclass(frozen=True, slots=True)
class HostRecord:
    host: int
    name: str
    user: str
    version: str
    slots: int
    results: int
    accepted: int
    refused: int
    nodes: int
    seconds: float
    seen_at: datetime


@dataclass(frozen=True, slots=True)
class ResultRecord:
    result: int
    workunit: int
    answer: str
    lo: int
    hi: int
    state: str
    nodes: int
    seconds: float
    late: bool
    received_at: datetime
    host: int
    host_name: str
    user: str


@dataclass(frozen=True, slots=True)
class WorkunitReport:
    workunit: int
    node: int
    #: "Is the score at least this?"
    threshold: int
    state: str
    ply: int
    plies_left: int
    guess: int
    expected: float
    budget: int | None
    created_at: datetime
    position: str
    results: list[ResultRecord]


@dataclass(frozen=True, slots=True)
class ClaimReport:
    """An imported claim and what became of it."""

    campaign: str
    position: str
    #: What was claimed about the score.
    lower: int
    upper: int
    worth: Worth
    #: ``confirmed``, ``refuted`` or ``open``.
    verdict: str


def plain(value: Any) -> Any:
    """An answer as JSON can have it: dicts, lists, numbers, text."""
    if isinstance(value, Worth):
        return {"known": str(value.known), "value": value.value, "bounds": [value.lo, value.hi]}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return value

