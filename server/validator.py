"""The validator: decides which results to believe.

Under the policy `none` a single answer that is sound in itself is believed. Otherwise
answers are compared (`trust/`): new hosts are always checked by another user, trusted ones
at random and where much rests on their answer. A host that is outvoted loses its record, and
whatever is believed on its word alone goes out of the tree again (the assimilator does that)
and is asked again.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

from zermelo.proto.known import unpack
from zermelo.server.database import Connection, in_transaction, serve, wait_for
from zermelo.server.listening import Listener, notify, rest
from zermelo.server.trust import referee
from zermelo.server.trust.comparison import Comparison
from zermelo.server.trust.credit import grant
from zermelo.server.trust.records import note_errors
from zermelo.server.vocabulary import Answer, Channel, Replication, ResultState
from zermelo.sql import query

log = logging.getLogger(__name__)

CHANNELS = (Channel.RESULTS,)
BATCH = 1000
IDLE_SECONDS = 5.0
#: How often to look for answers that wait in vain.
SWEEP_SECONDS = 1.0


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
    #: What the answer is worth, in nodes, whatever its host says.
    effort: float


def run(url: str, stop: threading.Event, referee_share: float = 0.0) -> None:
    """Judge results as they come until `stop` is set.

    A referee searches beside it, in a thread of its own, with at most `referee_share` of a core;
    0 is no referee.
    """
    if not wait_for(url, stop):
        return
    if referee_share > 0:
        searching = threading.Thread(
            target=referee.run, args=(url, stop, referee_share), name="referee"
        )
        searching.start()
        try:
            _judge_until(url, stop)
        finally:
            stop.set()
            searching.join()
    else:
        _judge_until(url, stop)


def _judge_until(url: str, stop: threading.Event) -> None:

    def work(connection: Connection) -> None:
        listener = Listener(connection, CHANNELS)
        swept = -math.inf
        while not stop.is_set():
            started = time.monotonic()
            judged = validate(connection)
            if judged == BATCH:
                continue
            if judged:
                rest(time.monotonic() - started, stop)
            elif started - swept >= SWEEP_SECONDS:
                swept = started
                in_transaction(
                    connection, lambda: connection.execute(query("unanswerable_votes"))
                )
            # Results that came meanwhile were told of, which ends the waiting at once.
            listener.wait(IDLE_SECONDS, stop)

    serve("validator", url, stop, work)


def validate(connection: Connection, batch: int = BATCH) -> int:
    """Judge up to `batch` results in one transaction; how many there were."""
    return in_transaction(connection, lambda: _validate(connection, batch))


def fault(result: Pending) -> str | None:
    """What makes a result unsound in itself; None when nothing does."""
    if not -result.max_score <= result.lo <= result.hi <= result.max_score:
        return f"impossible bounds {result.lo}..{result.hi}"
    if result.answer == Answer.YES and result.lo < result.threshold:
        return f"says yes to {result.threshold} with a lower bound of {result.lo}"
    if result.answer == Answer.NO and result.hi >= result.threshold:
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
    sound, unsound = [], []
    for result in results:
        if wrong := fault(result):
            log.warning("result %d of host %d is refused: %s", result.lease, result.host, wrong)
            unsound.append(result)
        else:
            sound.append(result)
    comparable = [result for result in sound if result.replication != Replication.NONE]
    compared = sorted({result.workunit for result in comparable})
    if unsound:
        # All that this touches at once, in the order in which everybody locks it.
        asked = sorted({*compared, *(result.workunit for result in unsound)})
        connection.execute(query("lock_voters"), (asked,))
        connection.execute(query("lock_questions"), (asked,))
    _refuse(connection, unsound)
    _believe(connection, [result for result in sound if result.replication == Replication.NONE])
    if compared:
        Comparison(connection, compared, [result.lease for result in comparable]).run()
    for campaign in {result.campaign for result in results}:
        notify(connection, Channel.VALID, campaign)
    return len(results)


def _refuse(connection: Connection, results: Sequence[Pending]) -> None:
    """Unsound in itself: no vote, no credit, and an error of its host."""
    if not results:
        return
    _judge(connection, results, ResultState.INVALID)
    connection.execute(query("ask_again"), ([result.workunit for result in results],))
    note_errors(connection, sorted({result.host for result in results}))
    notify(connection, Channel.READY)


def _believe(connection: Connection, results: Sequence[Pending]) -> None:
    if results:
        _judge(connection, results, ResultState.VALID)
        grant(connection, [(result.host, result.effort) for result in results])


def _judge(connection: Connection, results: Sequence[Pending], state: ResultState) -> None:
    connection.execute(
        query("judge_results"),
        {
            "leases": [result.lease for result in results],
            "states": [state] * len(results),
            "credits": [
                result.effort if state is ResultState.VALID else 0.0 for result in results
            ],
        },
    )
