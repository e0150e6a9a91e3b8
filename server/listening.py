"""Waiting for other services: notifications instead of polling, locks instead of leaders."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

from psycopg import sql

from zermelo.server.database import Connection
from zermelo.server.vocabulary import Channel, Lock
from zermelo.sql import query

#: How soon a waiting service notices that it shall stop.
STOP_SECONDS = 0.2
LONGEST_REST = 0.05


class Listener:
    """Wakes up when somebody notifies one of the channels."""

    def __init__(self, connection: Connection, channels: Iterable[Channel]) -> None:
        self._connection = connection
        for channel in channels:
            connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))

    def wait(self, seconds: float, stop: threading.Event) -> bool:
        """Whether a notification came before `seconds` were over or `stop` was set."""
        deadline = time.monotonic() + seconds
        while not stop.is_set():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            for _ in self._connection.notifies(timeout=min(left, STOP_SECONDS), stop_after=1):
                return True
        return False


def notify(connection: Connection, channel: Channel, campaign: int | None = None) -> None:
    """Wake whoever listens, when the running transaction commits."""
    connection.execute(query("notify"), (channel, "" if campaign is None else str(campaign)))


def rest(worked: float, stop: threading.Event) -> None:
    """After a round that emptied the queue: rest as long as it took, or nearly.

    Work gathers meanwhile, so a busy service does it in fewer and larger batches, and those
    who wait for an answer get at the processor.
    """
    stop.wait(min(worked, LONGEST_REST))


class CampaignLocks:
    """The campaigns that this connection serves; others stand by until it ends."""

    def __init__(self, connection: Connection, service: Lock) -> None:
        self._connection, self._service = connection, service
        self._held: set[int] = set()

    def hold(self, campaign: int) -> bool:
        """Whether this connection is the one that serves the campaign."""
        if campaign not in self._held:
            row = self._connection.execute(
                query("try_lock_session"), (self._service, campaign)
            ).fetchone()
            if row and row[0]:
                self._held.add(campaign)
        return campaign in self._held
