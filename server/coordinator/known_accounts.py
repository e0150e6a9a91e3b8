"""Accounts by their tokens: remembered between calls, and looked up again before they are old.

Each is believed for `REMEMBER_SECONDS`. Those in use are looked up again, all together, when half
of that has passed, so that no call of a busy account waits for the database.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple

import psycopg

from zermelo.retry import Retry
from zermelo.server.coordinator.account_store import AccountStore
from zermelo.server.coordinator.batcher import MOST_AT_ONCE, Batcher
from zermelo.server.database import DATABASE
from zermelo.server.trust.accounts import Account

log = logging.getLogger(__name__)

#: How long an account is believed without asking the database again.
REMEMBER_SECONDS = 10.0
#: How often those that grow old are looked up.
RENEW_SECONDS = 1.0
MOST_REMEMBERED = 100_000

Digest = bytes


class _Known(NamedTuple):
    account: Account
    asked_at: float


class KnownAccounts:
    """Its `tasks` must run as long as it is used."""

    def __init__(
        self, store: AccountStore, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store, self._clock = store, clock
        self._finding: Batcher[Digest, Account | None] = Batcher(store.find_accounts)
        self._known: OrderedDict[Digest, _Known] = OrderedDict()
        #: Those that grow old while they are used.
        self._ageing: dict[Digest, None] = {}
        self._changes = 0

    def tasks(self) -> list[Coroutine[Any, Any, None]]:
        retry = Retry(
            "cannot look accounts up", psycopg.OperationalError, log=log, outage=DATABASE
        )
        return [self._finding.run(), retry.forever(self._keep_renewing)]

    def forget(self) -> None:
        """Somebody changed an account: ask the database about everybody again."""
        self._known.clear()
        self._ageing.clear()
        self._changes += 1

    def forget_one(self, digest: Digest) -> None:
        """Whoever has this token may have changed its own account."""
        self._known.pop(digest, None)

    async def find(self, digest: Digest) -> Account | None:
        """Whose token has this digest; None if nobody's."""
        now = self._clock()
        known = self._known.get(digest)
        if known is not None and now - known.asked_at < REMEMBER_SECONDS:
            if now - known.asked_at > REMEMBER_SECONDS / 2:
                self._ageing[digest] = None
            return known.account
        changes = self._changes
        account = await self._finding(digest)
        if changes == self._changes:  # else it may have been looked up before
            self._remember(digest, account, now)
        return account

    async def renew(self) -> None:
        """Look up what grows old."""
        while ageing := list(self._ageing)[:MOST_AT_ONCE]:
            await self._renew(ageing)
            for digest in ageing:  # now, and not if the database was away
                self._ageing.pop(digest, None)

    async def _renew(self, digests: Sequence[Digest]) -> None:
        changes, now = self._changes, self._clock()
        found = await self._store.find_accounts(digests)
        if changes == self._changes:
            for digest, account in zip(digests, found, strict=True):
                self._remember(digest, account, now)

    async def _keep_renewing(self) -> None:
        await asyncio.sleep(RENEW_SECONDS)
        await self.renew()

    def _remember(self, digest: Digest, account: Account | None, asked_at: float) -> None:
        if account is None:
            self._known.pop(digest, None)
            return
        self._known[digest] = _Known(account, asked_at)
        self._known.move_to_end(digest)
        if len(self._known) > MOST_REMEMBERED:
            self._known.popitem(last=False)
