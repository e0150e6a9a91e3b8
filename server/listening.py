"""Waiting for other services: notifications instead of polling, locks instead of leaders."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable

from psycopg import sql

from zermelo.server.database import Connection
from zermelo.server.stop_event import wait_to_read
from zermelo.server.vocabulary import Channel, Lock
from zermelo.sql import query

LONGEST_REST = 0.05


class Listener:
    """Wakes up when somebody notifies one of the channels."""

    def __init__(self, connection: Connection, channels: Iterable[Channel]) -> None:
        self._connection = connection
        self._heard: set[tuple[str, str]] = set()
        for channel in channels:
            connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))

    def wait(self, seconds: float, stop: threading.Event) -> bool:
        """Whether a notification came before `seconds` were over or `stop` was set."""
        deadline = time.monotonic() + seconds
        while not stop.is_set():
            if self._listen(0):
                return True
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            wait_to_read(self._connection, stop, left)
        return False

    def heard(self) -> set[tuple[str, str]]:
        """Channel and payload of all notifications since this was last asked."""
        while self._listen(0):
            pass
        heard, self._heard = self._heard, set()
        return heard

    def _listen(self, seconds: float) -> bool:
        """Whether anything came; all that came together is kept."""
        came = list(self._connection.notifies(timeout=seconds, stop_after=1))
        self._heard.update((told.channel, told.payload) for told in came)
        return bool(came)


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

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, campaign: int) -> bool:
        """Whether this connection is the one that serves the campaign."""
        if campaign not in self._held:
            row = self._connection.execute(
                query("try_lock_session"), (self._service, campaign)
            ).fetchone()
            if row and row[0]:
                self._held.add(campaign)
        return campaign in self._held

    def release_others(self, campaigns: Collection[int]) -> None:
        """Let others serve what is not among these: PostgreSQL has room for some thousand locks."""
        for campaign in self._held.difference(campaigns):
            self._connection.execute(query("unlock_session"), (self._service, campaign))
            self._held.discard(campaign)
