"""What goes into the coordinator's statements and what comes out of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from zermelo.server.trust.accounts import UserId

HostId = int
LeaseId = int
HoldId = int

#: What PostgreSQL reads within an array as Python writes it. Words come from tables of ours.
PLAIN = frozenset((int, float, str))


class Host(NamedTuple):
    id: HostId
    user: UserId
    banned: bool
    #: Nodes a second, by what its searches took; 0 while they are too few to tell.
    speed: float = 0.0


@dataclass(slots=True)
class Seen:
    """What calls of a host told since the last time."""

    #: What it says of itself, in nodes a second.
    speed: float = 0.0
    #: What the searches of its results took.
    nodes: int = 0
    seconds: float = 0.0


class Request(NamedTuple):
    """One call for work."""

    host: HostId
    user: UserId
    slots: int
    speed: float


class Leased(NamedTuple):
    """One workunit handed out; `request` counts from 1 within the batch."""

    request: int
    lease: LeaseId
    workunit: int
    campaign: int
    game: str
    position: bytes
    history: bytes | None
    threshold: int
    node_budget: int
    known: bytes | None


class Held(NamedTuple):
    """One workunit taken out of the queue for whoever asks next."""

    hold: HoldId
    workunit: int
    campaign: int
    game: str
    position: bytes
    history: bytes | None
    threshold: int
    #: Most nodes to spend whatever the host's speed.
    most_nodes: int | None
    target_seconds: float
    known: bytes | None


class Given(NamedTuple):
    """A held workunit that was handed out, as it is written down."""

    hold: HoldId
    lease: LeaseId
    workunit: int
    host: HostId
    budget: int


class Returned(NamedTuple):
    """One result as it came in, its form already checked."""

    host: HostId
    lease: LeaseId
    answer: str
    lo: int
    hi: int
    nodes: int
    seconds: float
    proved: bytes | None


class Beat(NamedTuple):
    """The progress of one lease."""

    host: HostId
    lease: LeaseId
    nodes: int


class Directive(NamedTuple):
    """What the client is to do about a lease, and what is known about its node."""

    lease: LeaseId
    directive: str
    lease_ms: int
    lo: int | None
    hi: int | None


def columns(rows: Iterable[Any], kind: Any) -> dict[str, str | list[Any]]:
    """Rows turned into columns, the form in which a statement takes a batch."""
    turned = list(zip(*rows, strict=True)) or [()] * len(kind._fields)
    return {field: array(values) for field, values in zip(kind._fields, turned, strict=True)}


def array(values: Sequence[Any]) -> str | list[Any]:
    """Values as one parameter: numbers and words as PostgreSQL writes an array of them.

    Other values are left to the database adapter, which looks at every one of them; for
    long arrays of numbers that was a fifth of what a coordinator did.
    """
    if PLAIN.issuperset(map(type, values)):
        return "{" + ",".join(map(str, values)) + "}"
    return list(values)
