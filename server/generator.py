"""The generator: grows the tree, chooses what is worth asking, writes workunits.

One generator at a time plans a campaign; others stand by or plan other campaigns. Every
step is one transaction. The planner in memory is only a cache: whenever a step fails it
is thrown away and built again from the database.
"""

from __future__ import annotations

import logging
import threading
import time

import psycopg

from zermelo.engine import open_engine
from zermelo.server.campaigns import Campaign, running_campaigns
from zermelo.server.database import Connection, serve
from zermelo.server.listening import CampaignLocks, Listener
from zermelo.server.planning.campaign_plan import CampaignPlan, Demand
from zermelo.server.tree.identity import CampaignId
from zermelo.server.vocabulary import Channel, Lock
from zermelo.sql import query

log = logging.getLogger(__name__)

CHANNELS = (Channel.TREE, Channel.WANTED, Channel.FINISHED)
IDLE_SECONDS = 2.0
#: A host that has not called for this many seconds does not count as a client.
HOST_SECONDS = 60
HASH_MB = 16


def run(url: str, stop: threading.Event) -> None:
    """Plan every running campaign until `stop` is set."""
    serve("generator", url, stop, lambda connection: _Generator(connection, stop).run())


class _Generator:
    def __init__(self, connection: Connection, stop: threading.Event) -> None:
        self._connection, self._stop = connection, stop
        self._listener = Listener(connection, CHANNELS)
        self._locks = CampaignLocks(connection, Lock.GENERATOR)
        self._plans: dict[CampaignId, CampaignPlan] = {}

    def run(self) -> None:
        while not self._stop.is_set():
            busy = False
            campaigns = running_campaigns(self._connection)
            for ended in self._plans.keys() - {campaign.id for campaign in campaigns}:
                del self._plans[ended]
            for campaign in campaigns:
                if self._stop.is_set():
                    return
                if self._locks.hold(campaign.id):
                    busy |= self._step(campaign)
            if not busy:
                self._listener.wait(IDLE_SECONDS, self._stop)

    def _step(self, campaign: Campaign) -> bool:
        plan = self._plans.get(campaign.id)
        if plan is None:
            engine = open_engine(campaign.game, hash_mb=HASH_MB)
            plan = CampaignPlan(self._connection, campaign, engine)
        try:
            busy = plan.step(live_demand(self._connection))
        except (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure):
            self._plans.pop(campaign.id, None)
            return True
        self._plans[campaign.id] = plan
        if plan.finished:
            log.info("campaign %s is finished: %s", campaign.name, plan.bounds)
            del self._plans[campaign.id]
        return busy


def live_demand(connection: Connection) -> Demand:
    """The clients there are, as the hosts table has them."""
    row = connection.execute(query("live_hosts"), (HOST_SECONDS,)).fetchone()
    workers, speed = row if row else (0, 0.0)
    return Demand(int(workers), float(speed), now=time.monotonic())
