"""The generator: grows the tree, chooses what is worth asking, writes workunits.

One generator at a time plans a campaign; others stand by or plan other campaigns. Every
step is one transaction. The planner in memory is only a cache: whenever a step fails it
is thrown away and built again from the database. Where more campaigns run than clients can
work on, only some are planned at a time, by their shares.
"""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Collection
from functools import lru_cache

import psycopg

from zermelo.engine import Engine, open_engine
from zermelo.figures import span
from zermelo.games import open_game
from zermelo.server.campaigns import Campaign, load_campaigns
from zermelo.server.database import Connection, serve
from zermelo.server.dropping import remove_some
from zermelo.server.listening import CampaignLocks, Listener
from zermelo.server.planning.campaign_plan import CampaignPlan, Demand
from zermelo.server.planning.shares import Part, Shares, Standing
from zermelo.server.tree.identity import CampaignId
from zermelo.server.vocabulary import Channel, Lock
from zermelo.sql import query

log = logging.getLogger(__name__)

CHANNELS = (Channel.TREE, Channel.WANTED, Channel.CAMPAIGNS)
IDLE_SECONDS = 2.0
#: How often it is looked up which campaigns run and what was searched for each.
SHARE_SECONDS = 1.0
#: How often it is looked for campaigns that were dropped.
REMOVE_SECONDS = 1.0
#: A host that has not called for this many seconds does not count as a client.
HOST_SECONDS = 60
HASH_MB = 16
#: When to look for garbage in circles, which only plans that are dropped leave: so seldom that a
#: growing plan is not looked through again and again, which took a seventh of a generator's time.
GARBAGE_THRESHOLDS = (20_000, 20, 10)
#: Plans of campaigns that are not asked about now are kept in memory, up to so many.
MOST_PLANS = 256
#: What a campaign may do that only hears of answers.
HEARS = Part(0, asks=False)


def run(url: str, stop: threading.Event) -> None:
    """Plan every running campaign until `stop` is set."""
    gc.freeze()
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    serve("generator", url, stop, lambda connection: Generator(connection, stop).run())


@lru_cache(maxsize=8)
def engine_of(spec: str) -> Engine:
    """One engine for all campaigns of a game: it is asked for guesses and moves only."""
    return open_engine(open_game(spec), hash_mb=HASH_MB)


class Generator:
    def __init__(self, connection: Connection, stop: threading.Event) -> None:
        self._connection, self._stop = connection, stop
        self._listener = Listener(connection, CHANNELS)
        self._locks = CampaignLocks(connection, Lock.GENERATOR)
        #: The one that was used last is the last.
        self._plans: dict[CampaignId, CampaignPlan] = {}
        self._shares = Shares()
        self._shared_at = -SHARE_SECONDS
        #: Whether there was something to remove, and when it was looked for.
        self._removing, self._removed_at = False, -REMOVE_SECONDS
        #: Campaigns in which something happened since their last step.
        self._news: set[CampaignId] = set()

    def run(self) -> None:
        while not self._stop.is_set():
            if not self.round(self._listener.heard()) and not self._remove_some():
                self._listener.wait(IDLE_SECONDS, self._stop)

    def _remove_some(self) -> bool:
        """Remove a part of dropped campaigns; whether there is more, which is looked for now and
        then."""
        now = time.monotonic()
        if not self._removing and now - self._removed_at < REMOVE_SECONDS:
            return False
        self._removed_at, self._removing = now, remove_some(self._connection)
        return self._removing

    def round(self, heard: set[tuple[str, str]]) -> bool:
        """One step of every campaign that it is time for; whether there may be more to do."""
        self._news |= {
            int(campaign) for channel, campaign in heard if channel == Channel.TREE and campaign
        }
        changed = any(channel == Channel.CAMPAIGNS for channel, _ in heard)
        if changed or time.monotonic() - self._shared_at >= SHARE_SECONDS:
            self._look_at_shares()
        demand = live_demand(self._connection)
        parts = self._shares.parts(
            demand.workers, demand.speed,
            [campaign for campaign, plan in self._plans.items() if plan.short],
            dry=any(channel == Channel.WANTED for channel, _ in heard),
        )  # fmt: skip
        news, self._news = self._news, set()
        busy = False
        for campaign in self._served(news.union(parts)):
            if self._stop.is_set():
                break
            part = parts.get(campaign.id, HEARS)
            own = demand._replace(workers=part.workers, asks=part.asks)
            busy |= self._step(campaign, own)
        self._forget(parts.keys())
        return busy

    def _look_at_shares(self) -> None:
        self._shared_at = time.monotonic()
        standings = []
        for *standing, news in self._connection.execute(query("running_shares")):
            standings.append(Standing(*standing))
            if news:
                self._news.add(standings[-1].campaign)
        self._shares.observe(standings)
        running = {standing.campaign for standing in standings}
        for ended in self._plans.keys() - running:
            del self._plans[ended]
        self._locks.release_others(running)

    def _served(self, campaigns: set[CampaignId]) -> list[Campaign]:
        """Those of the campaigns that run and that no other generator plans."""
        return [
            campaign for campaign in load_campaigns(self._connection, campaigns)
            if self._locks.hold(campaign.id)
        ]  # fmt: skip

    def _step(self, campaign: Campaign, demand: Demand) -> bool:
        plan = self._plans.pop(campaign.id, None)
        if plan is None:
            plan = CampaignPlan(self._connection, campaign, engine_of(campaign.spec))
        try:
            busy = plan.step(demand)
        except (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure):
            return True
        if plan.finished:
            value = span(plan.bounds.lo, plan.bounds.hi)
            log.info("campaign %s is finished: %s", campaign.name, value)
            self._shared_at = -SHARE_SECONDS
        else:
            self._plans[campaign.id] = plan
        return busy or plan.finished

    def _forget(self, active: Collection[CampaignId]) -> None:
        """Keep memory for the plans that are used."""
        idle = [campaign for campaign in self._plans if campaign not in active]
        for campaign in idle[: max(0, len(self._plans) - MOST_PLANS)]:
            del self._plans[campaign]


def live_demand(connection: Connection) -> Demand:
    """The clients there are, as the hosts table has them."""
    row = connection.execute(query("live_hosts"), (HOST_SECONDS,)).fetchone()
    workers, speed = row if row else (0, 0.0)
    return Demand(int(workers), float(speed), now=time.monotonic())
