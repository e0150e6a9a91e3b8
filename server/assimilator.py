"""The assimilator: puts valid results into the tree and backs their bounds up.

One assimilator at a time serves a campaign; others stand by or serve other campaigns.
Every batch is one transaction. It begins with taking out what is doubted. A result that
contradicts the tree is never written: where answers are not compared it is quarantined
with an alarm and its question asked again, and where that happens to the same question
again and again the campaign is paused, because asking once more will not tell who lies.
Where answers are compared, more users decide who is right, the result or what the tree
rests on.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from psycopg.errors import SerializationFailure

from zermelo.games import Bounds
from zermelo.server.campaigns import (
    Campaign,
    CampaignError,
    steer_campaign,
    waiting_campaigns,
)
from zermelo.server.database import Connection, in_transaction, serve
from zermelo.server.listening import CampaignLocks, Listener, notify, rest
from zermelo.server.tree.backup import Contradiction, Evidence, add_evidence
from zermelo.server.tree.identity import NodeId
from zermelo.server.trust import records
from zermelo.server.trust.credit import grant_partial
from zermelo.server.trust.provenance import responsible_results
from zermelo.server.trust.retraction import dispute, retract_doubted
from zermelo.server.trust.voting import DISPUTE_QUORUM
from zermelo.server.vocabulary import (
    AlarmKind,
    Answer,
    CampaignState,
    Channel,
    Lock,
    Replication,
    ResultState,
)
from zermelo.sql import query

log = logging.getLogger(__name__)

CHANNELS = (Channel.VALID,)
BATCH = 500
#: The campaign is paused when this many results of one workunit contradict the tree.
MOST_CONTRADICTIONS = 3
IDLE_SECONDS = 2.0
#: Locks of campaigns without results are given back when there are more than this.
MOST_LOCKS = 256


class Valid(NamedTuple):
    """A validated result on its way into the tree."""

    lease: int
    workunit: int
    node: NodeId
    answer: str
    lo: int
    hi: int
    nodes: int
    seconds: float
    wasted: bool
    #: Nodes of this lease that the totals contain already.
    counted_nodes: int
    #: Whether it only confirms what another user answered.
    checking: bool
    #: Whether bounds it started from were retracted meanwhile.
    unfounded: bool


def run(url: str, stop: threading.Event) -> None:
    """Serve every campaign until `stop` is set."""

    def work(connection: Connection) -> None:
        listener = Listener(connection, CHANNELS)
        locks = CampaignLocks(connection, Lock.ASSIMILATOR)
        while not stop.is_set():
            started = time.monotonic()
            most = 0
            waiting = waiting_campaigns(connection)
            if len(locks) > MOST_LOCKS:
                locks.release_others({campaign.id for campaign in waiting})
            for campaign in waiting:
                if locks.hold(campaign.id):
                    most = max(most, assimilate(connection, campaign))
            if not most:
                listener.wait(IDLE_SECONDS, stop)
            elif most < BATCH:
                rest(time.monotonic() - started, stop)

    serve("assimilator", url, stop, work)


def assimilate(connection: Connection, campaign: Campaign, batch: int = BATCH) -> int:
    """Put up to `batch` valid results into the tree; how many there were."""
    try:
        return in_transaction(connection, lambda: _assimilate(connection, campaign, batch))
    except Contradiction:
        # Again one by one, so that only what contradicts is kept out.
        return in_transaction(connection, lambda: _assimilate_singly(connection, campaign, batch))


def _assimilate(connection: Connection, campaign: Campaign, batch: int) -> int:
    results = _valid_results(connection, campaign, batch)
    if results:
        _believe(connection, campaign, results)
        _end(connection, campaign, results)
    return len(results)


def _assimilate_singly(connection: Connection, campaign: Campaign, batch: int) -> int:
    results = _valid_results(connection, campaign, batch)
    believed = []
    for result in results:
        try:
            with connection.transaction():
                _believe(connection, campaign, [result])
            believed.append(result)
        except Contradiction as contradiction:
            _end(connection, campaign, believed)  # what is contested may be among them
            believed = []
            if campaign.replication is Replication.NONE:
                _quarantine(connection, campaign, result)
            elif _contest(connection, campaign, result, contradiction):
                break  # the tree has changed; the rest is read again
    _end(connection, campaign, believed)
    return len(results)


def _believe(connection: Connection, campaign: Campaign, results: Sequence[Valid]) -> None:
    """Write what results prove into the tree; `Contradiction` when that is impossible."""
    rules = campaign.game.score_range
    evidence = [
        Evidence(result.node, result.lease, result.lo, result.hi)
        for result in results
        if Bounds(result.lo, result.hi) != rules
    ]
    add_evidence(connection, campaign.id, evidence)


def _end(connection: Connection, campaign: Campaign, results: Sequence[Valid]) -> None:
    marked = connection.execute(
        query("mark_results"),
        {"state": ResultState.ASSIMILATED, "leases": [result.lease for result in results]},
    ).rowcount
    if marked < len(results):  # a host was convicted meanwhile: all of it again, without these
        raise SerializationFailure
    # The first result of a workunit ends it, unless a later one knows more.
    answers = {result.workunit: result.answer for result in results}
    answers |= {r.workunit: r.answer for r in results if r.answer != Answer.EXHAUSTED}
    connection.execute(
        query("end_workunits"), {"ids": list(answers), "answers": list(answers.values())}
    )
    connection.execute(
        query("count_results"),
        {
            "campaign": campaign.id,
            "answered": sum(r.answer != Answer.EXHAUSTED and not r.wasted for r in results),
            "nodes": sum(r.nodes - r.counted_nodes for r in results),
            "wasted_nodes": sum(r.nodes - r.counted_nodes for r in results if r.wasted),
            "split_nodes": sum(
                r.nodes for r in results if r.answer == Answer.EXHAUSTED and not r.wasted
            ),
            "seconds": sum(r.seconds for r in results),
            "checking_nodes": sum(r.nodes for r in results if r.checking),
        },
    )
    notify(connection, Channel.TREE, campaign.id)


def _contest(
    connection: Connection, campaign: Campaign, result: Valid, contradiction: Contradiction
) -> bool:
    """Have more users decide between a result and the tree; whether that was possible.

    While few stand behind the result, its own question is asked on. When many do, what the
    tree rests on there is taken out and asked on.
    """
    backers = connection.execute(query("contested_results"), (result.lease,)).fetchall()
    if not backers:  # its host was convicted meanwhile
        return True
    own = [lease for lease, _ in backers]
    contested = own
    if len({user for _, user in backers}) >= DISPUTE_QUORUM:
        contested = [
            lease
            for lease in responsible_results(connection, campaign, contradiction.nodes)
            if lease not in own
        ]
    if not contested:
        _quarantine(connection, campaign, result)
        return False
    dispute(connection, campaign, contested)
    return True


def _quarantine(connection: Connection, campaign: Campaign, result: Valid) -> None:
    log.error(
        "campaign %s: result %d contradicts the tree at node %d and is quarantined",
        campaign.name, result.lease, result.node,
    )
    connection.execute(
        query("mark_results"), {"state": ResultState.QUARANTINED, "leases": [result.lease]}
    )
    connection.execute(
        query("raise_alarm"),
        {
            "campaign": campaign.id,
            "kind": AlarmKind.CONTRADICTION,
            "node": result.node,
            "result": result.lease,
            "detail": f"the result proves {result.lo}..{result.hi}, the tree excludes that",
        },
    )
    connection.execute(query("ask_again"), ([result.workunit],))
    notify(connection, Channel.READY, campaign.id)
    row = connection.execute(query("contradictions"), (result.workunit,)).fetchone()
    if row and row[0] >= MOST_CONTRADICTIONS:
        log.error("campaign %s is paused: nobody's answer fits the tree there", campaign.name)
        with suppress(CampaignError):  # it may have ended meanwhile
            steer_campaign(connection, campaign, CampaignState.PAUSED)


def _valid_results(connection: Connection, campaign: Campaign, most: int) -> list[Valid]:
    """Results to assimilate, and the tree locked against other writers."""
    connection.execute(query("lock_tree"), (campaign.id,))
    row = connection.execute(
        query("count_ended_leases"),
        {
            "campaign": campaign.id,
            "tolerated": records.TOLERATED_ABANDONED,
            "share": records.ABANDONED_SHARE,
        },
    ).fetchone()
    grant_partial(connection, row[0] if row else ())
    connection.execute(query("count_refused"), {"campaign": campaign.id})
    retract_doubted(connection, campaign)
    rows = connection.execute(
        query("valid_results"), {"campaign": campaign.id, "most": most}
    )
    results = [Valid(*row) for row in rows]
    unfounded = [result.lease for result in results if result.unfounded]
    if unfounded:
        connection.execute(
            query("refuse_unfounded"), {"campaign": campaign.id, "leases": unfounded}
        )
    return [result for result in results if not result.unfounded]
