"""The leases this client holds: the workunit of each, how far its search is, and its deadline."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from zermelo.client.files import write_atomically
from zermelo.proto import coordinator_pb2 as pb


class Ending(Enum):
    """Why a search is stopped before its end, and what becomes of its lease."""

    DROPPED = "the server ended the lease"
    SETTLED = "others answered the question; the server will end the lease"
    STOPPING = "the client stops, and the lease is given back"
    PAUSED = "the client pauses for longer than the lease, which is given back"
    KEPT = "the client stops, and goes on from the checkpoint if it is back in time"
    MOVED = "the search goes on from the checkpoint in a new worker"

    @property
    def saves(self) -> bool:
        return self in (Ending.PAUSED, Ending.KEPT, Ending.MOVED)


@dataclass(slots=True, eq=False)
class HeldLease:
    """One lease."""

    workunit: pb.Workunit
    #: When the lease ends unless it is extended, on our own monotonic clock.
    deadline: float
    nodes: int = 0
    permille: int = 0
    #: What a checkpoint brought along.
    nodes_before: int = 0
    #: Nodes that were visited before an interruption and had to be visited again.
    repeated: int = 0
    #: Whether a checkpoint of this very lease is to be continued.
    resume: bool = False
    started_at: float | None = None
    #: What becomes of the lease when its search has stopped, once it is told to.
    ending: Ending | None = None

    @property
    def lease(self) -> int:
        return self.workunit.lease_id

    @property
    def lasts(self) -> float:
        """Seconds that the lease lasts without progress."""
        return self.workunit.lease_ms / 1000

    @property
    def effort(self) -> int:
        """Every node visited for this lease: never falls, also after an interruption."""
        return self.nodes + self.repeated

    @property
    def nodes_here(self) -> int:
        """Those visited since this run began with it."""
        return max(0, self.nodes - self.nodes_before)

    @property
    def seconds(self) -> float:
        return 0.0 if self.started_at is None else time.monotonic() - self.started_at


class Ledger:
    def __init__(self, reported: Path) -> None:
        self._held: dict[int, HeldLease] = {}
        self._reported = reported
        #: What the workunits of all leases take.
        self.bytes = 0
        #: Leases that nobody works on yet.
        self.waiting: deque[HeldLease] = deque()
        #: Set whenever a lease came, went, or could be worked on.
        self.changed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[HeldLease]:
        return iter(list(self._held.values()))

    def get(self, lease: int) -> HeldLease | None:
        return self._held.get(lease)

    @property
    def leases(self) -> list[int]:
        return list(self._held)

    def take(self, held: HeldLease) -> None:
        self._held[held.lease] = held
        self.bytes += held.workunit.ByteSize()
        self.waiting.append(held)
        self.changed.set()

    def end(self, lease: int) -> HeldLease | None:
        """The lease is ours no more."""
        held = self._held.pop(lease, None)
        if held is not None:
            self.bytes -= held.workunit.ByteSize()
            with contextlib.suppress(ValueError):
                self.waiting.remove(held)
        self.changed.set()
        return held

    # -- across restarts ------------------------------------------------------------------

    def note_reported(self, least_seconds: float) -> None:
        """Remember what the server was told about long searches.

        Only growing effort extends a lease, and a restart must not fall behind it.
        """
        told = {held.lease: held.effort for held in self if held.seconds >= least_seconds}
        if told:
            with contextlib.suppress(OSError):
                write_atomically(self._reported, [json.dumps(told).encode()], durable=False)

    def reported(self) -> dict[int, int]:
        try:
            told = json.loads(self._reported.read_bytes())
            return {int(lease): int(nodes) for lease, nodes in told.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            return {}
