"""Following a campaign in the database, through its restarts."""

from __future__ import annotations

import logging
import time

import psycopg

from zermelo.cli.solve.local_run import LocalRun
from zermelo.server.campaigns import Summary, campaign_summary, standings
from zermelo.server.database import Connection, DatabaseError, connect_once
from zermelo.server.listening import Listener
from zermelo.server.vocabulary import CampaignState, Channel

log = logging.getLogger(__name__)

ENDED = (CampaignState.FINISHED, CampaignState.CANCELLED)


class CampaignWatch:
    """Tells how the campaign of a run stands, now and whenever something happened."""

    def __init__(self, run: LocalRun) -> None:
        self._run = run
        self._connection: Connection | None = None
        self._first = True

    def __enter__(self) -> CampaignWatch:
        return self

    def __exit__(self, *_: object) -> None:
        self._disconnect()

    def next(self, seconds: float) -> Summary | None:
        """The summary after so long, earlier at the end, and only then with the best line; None
        while the database is away."""
        self._run.check()
        try:
            connection = self._connect()
            if not self._first:
                for _ in connection.notifies(timeout=seconds, stop_after=1):
                    pass
            self._first = False
            found = standings(connection, campaign=self._run.campaign_id)
            if found and found[0].state not in ENDED:
                return found[0]
            return campaign_summary(connection, self._run.campaign)
        except (psycopg.OperationalError, DatabaseError) as error:
            log.warning("cannot follow the campaign: %s", error)
            self._disconnect()
            time.sleep(seconds)
            return None

    def _connect(self) -> Connection:
        if self._connection is None:
            self._connection = connect_once(self._run.url)
            Listener(self._connection, (Channel.CAMPAIGNS,))
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
