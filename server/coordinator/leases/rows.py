"""What goes into the statements about leases and what comes out of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from zermelo.server.arrays import array
from zermelo.server.trust.accounts import UserId

HostId = int
LeaseId = int
HoldId = int
WorkunitId = int


class Request(NamedTuple):
    """One call for work: at most `wanted` workunits for a host of this speed (nodes a second)."""

    host: HostId
    user: UserId
    wanted: int
    speed: float


class Again(NamedTuple):
    """A workunit to be asked again, and the users and hosts who know it already."""

    workunit: WorkunitId
    users: Sequence[UserId]
    hosts: Sequence[HostId] = ()


class Prefetched(NamedTuple):
    """One workunit taken out of the queue, on its way to a lease."""

    hold: HoldId
    workunit: WorkunitId
    campaign: int
    game: str
    position: bytes
    history: bytes | None
    threshold: int
    #: The largest node budget whatever the host's speed; None where there is no such limit.
    max_node_budget: int | None
    target_seconds: float
    known: bytes | None
    #: Whether its answer is known, and the host is checked by it.
    probe: bool


class Leased(NamedTuple):
    """A prefetched workunit with its lease; `request` counts from 1 within the batch."""

    request: int
    host: HostId
    lease: LeaseId
    node_budget: int
    hold: HoldId
    workunit: WorkunitId
    campaign: int
    game: str
    position: bytes
    history: bytes | None
    threshold: int
    max_node_budget: int | None
    target_seconds: float
    known: bytes | None
    probe: bool


class Returned(NamedTuple):
    """One result as it came in, its form already checked."""

    host: HostId
    lease: LeaseId
    answer: str
    lo: int
    hi: int
    nodes: int
    seconds: float
    proved: bytes | None = None


class Question(NamedTuple):
    """What a lease is about, as far as it limits the result."""

    game: str
    node_budget: int
    history_bytes: int


class Progress(NamedTuple):
    """How many nodes were searched for one lease so far."""

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


def columns(rows: Sequence[Any], *fields: str) -> dict[str, str | list[Any]]:
    """These fields of rows as columns, the form in which a statement takes a batch."""
    return {field: array([getattr(row, field) for row in rows]) for field in fields}
