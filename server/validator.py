"""The validator: decides which results to believe.

An answer is a pure function of its question, so two honest answers are *compatible*:
they agree on the question and their bounds intersect. Under the policy `none` a single
answer that is sound in itself is believed; what contradicts the tree is caught later,
by the assimilator. The policies with replicas are decided here as well.
"""

from __future__ import annotations

import logging
import threading
from typing import NamedTuple

from zermelo.proto.known import unpack
from zermelo.server.database import Connection, in_transaction, serve
from zermelo.server.listening import Listener
from zermelo.sql import query

log = logging.getLogger(__name__)

CHANNELS = ("zermelo_results",)
BATCH = 1000
IDLE_SECONDS = 5.0


class Pending(NamedTuple):
    """A result to be judged and what its campaign asked."""

    lease: int
    workunit: int
    campaign: int
    host: int
    answer: str
    lo: int
    hi: int
    proved: bytes | None
    threshold: int
    max_score: int
    replication: str
    quorum: int


def run(url: str, stop: threading.Event) -> None:
    """Judge results as they come until `stop` is set."""

    def work(connection: Connection) -> None:
        listener = Listener(connection, CHANNELS)
        while not stop.is_set():
            if not validate(connection):
                listener.wait(IDLE_SECONDS, stop)

    serve(url, stop, work)


def validate(connection: Connection, batch: int = BATCH) -> int:
    """Judge up to `batch` results in one transaction; how many there were."""
    return in_transaction(connection, lambda: _validate(connection, batch))


def compatible(one: Pending, other: Pending) -> bool:
    """Whether two answers to the same question can both be true."""
    if max(one.lo, other.lo) > min(one.hi, other.hi):
        return False
    return "exhausted" in (one.answer, other.answer) or one.answer == other.answer


def fault(result: Pending) -> str | None:
    """What makes a result unsound in itself; None when nothing does."""
    if not -result.max_score <= result.lo <= result.hi <= result.max_score:
        return f"impossible bounds {result.lo}..{result.hi}"
    if result.answer == "yes" and result.lo < result.threshold:
        return f"says yes to {result.threshold} with a lower bound of {result.lo}"
    if result.answer == "no" and result.hi >= result.threshold:
        return f"says no to {result.threshold} with an upper bound of {result.hi}"
    if result.proved is not None:
        try:
            below = unpack(result.proved)
        except ValueError as error:
            return f"unreadable bounds below: {error}"
        for item in below:
            if not -result.max_score <= item.lo <= item.hi <= result.max_score:
                return f"impossible bounds {item.lo}..{item.hi} below"
    return None


def _validate(connection: Connection, batch: int) -> int:
    rows = connection.execute(query("pending_results"), (batch,)).fetchall()
    if not rows:
        return 0
    results = [Pending(*row) for row in rows]
    refused: list[int] = []
    states: list[str] = []
    for result in results:
        wrong = fault(result)
        states.append("invalid" if wrong else "valid")
        if wrong:
            refused.append(result.workunit)
            log.warning("result %d of host %d is refused: %s", result.lease, result.host, wrong)
    connection.execute(
        query("judge_results"),
        {"leases": [result.lease for result in results], "states": states},
    )
    if refused:
        connection.execute(query("ask_again"), (refused,))
        connection.execute(query("notify"), ("zermelo_ready", ""))
    for campaign in {result.campaign for result in results}:
        connection.execute(query("notify"), ("zermelo_valid", str(campaign)))
    return len(results)
