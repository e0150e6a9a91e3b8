"""What queries are answered with: frozen objects, the same for people and programs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from zermelo.figures import span
from zermelo.games import Bounds


class ProofState(StrEnum):
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

    proof_state: ProofState
    lo: int
    hi: int

    @classmethod
    def of(cls, bounds: Bounds, rules: Bounds) -> Worth:
        proof_state = ProofState.BOUNDED
        if bounds.exact:
            proof_state = ProofState.PROVED
        elif bounds == rules:
            proof_state = ProofState.UNKNOWN
        return cls(proof_state, bounds.lo, bounds.hi)

    @property
    def value(self) -> int | None:
        return self.lo if self.proof_state is ProofState.PROVED else None

    def __str__(self) -> str:
        """Such as ``+4``, ``+2 to +36`` or ``unknown``."""
        if self.proof_state is ProofState.UNKNOWN:
            return str(self.proof_state)
        return span(self.lo, self.hi)


@dataclass(frozen=True, slots=True)
class MoveWorth:
    """A move and what is proved about it, for the side that makes it."""

    move: str
    worth: Worth
    #: Whether it is proved that no other move is better.
    best: bool
    #: Whether it is proved to secure as much as is proved about the position.
    secures: bool

    @property
    def order(self) -> tuple[bool, bool, int, str]:
        """For lists: the best moves first."""
        return not self.best, not self.secures, -self.worth.lo, self.move


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


class LineSource(StrEnum):
    TREE = "tree"
    ENGINE = "engine"

    @classmethod
    def _missing_(cls, value: object) -> LineSource | None:
        # A coordinator of an earlier version says nothing and knows only the tree.
        return cls.TREE if value == "" else None


@dataclass(frozen=True, slots=True)
class LineStep:
    """One move of the best line; the worth is that of the position it is made in."""

    side: str
    move: str
    worth: Worth
    #: Who found it: the tree, or below it the engine, in an exact search of its own.
    source: LineSource


@dataclass(frozen=True, slots=True)
class Level:
    """The nodes at one distance from the root (by the shortest way)."""

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
    """Open questions at one distance from the root."""

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
    workers: int
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
    node_budget: int | None
    created_at: datetime
    position: str
    results: list[ResultRecord]


@dataclass(frozen=True, slots=True)
class WorkunitRecord:
    """A workunit in a list."""

    workunit: int
    #: "Is the score at least this?"
    threshold: int
    state: str
    ply: int
    plies_left: int
    expected: float
    created_at: datetime
    results: int


@dataclass(frozen=True, slots=True)
class TeamRecord:
    """A team; credit in millions of nodes."""

    name: str
    description: str
    founder: str | None
    created_at: datetime
    credit: float
    #: Since the first of this month, UTC.
    month_credit: float
    members: int
    #: Of its members, by day, with a half-life of a week.
    average_credit: float


@dataclass(frozen=True, slots=True)
class VolunteerRecord:
    """A volunteer; credit in millions of nodes."""

    name: str
    team: str | None
    created_at: datetime
    credit: float
    #: Since the first of this month, UTC.
    month_credit: float
    #: By day, with a half-life of a week.
    average_credit: float
    #: Results that credit was granted for.
    results: int
    hosts: int


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
    state: str


@dataclass(frozen=True, slots=True)
class ClaimTotals:
    """An imported list of claims as a whole."""

    claims: int
    confirmed: int
    refuted: int
    open: int
    #: Nodes searched for them so far.
    nodes: int
    #: Sum of the estimates of the nodes still to search for open claims.
    remaining: float
    #: Open claims for which there is no estimate yet; `remaining` leaves them out.
    without_estimate: int
