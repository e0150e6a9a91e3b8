"""Accounts in memory: no busy caller waits for the database, and no stale one is believed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import cast

from zermelo.server.coordinator.account_store import AccountStore
from zermelo.server.coordinator.known_accounts import REMEMBER_SECONDS, KnownAccounts
from zermelo.server.trust.accounts import Account, Role

ADA = Account(1, Role.VOLUNTEER, "ada", banned=False)
TOKEN = b"digest of ada's token"


class Store:
    def __init__(self) -> None:
        self.accounts: dict[bytes, Account] = {TOKEN: ADA}
        self.asked: list[list[bytes]] = []

    async def find_accounts(self, digests: Sequence[bytes]) -> list[Account | None]:
        self.asked.append(list(digests))
        await asyncio.sleep(0)
        return [self.accounts.get(digest) for digest in digests]


class Play:
    def __init__(self) -> None:
        self.now = 0.0
        self.store = Store()
        self.known = KnownAccounts(cast(AccountStore, self.store), clock=lambda: self.now)


def run(play: Callable[[Play], Awaitable[None]]) -> None:
    async def main() -> None:
        scene = Play()
        tasks = [asyncio.create_task(task) for task in scene.known.tasks()]
        try:
            await play(scene)
        finally:
            for task in tasks:
                task.cancel()

    asyncio.run(main())


def test_an_account_in_use_is_looked_up_ahead_of_its_calls() -> None:
    async def play(scene: Play) -> None:
        assert await scene.known.find(TOKEN) == ADA
        for _ in range(5):
            scene.now += REMEMBER_SECONDS * 0.7
            asked = len(scene.store.asked)
            assert await scene.known.find(TOKEN) == ADA
            assert len(scene.store.asked) == asked
            await scene.known.renew()
            assert len(scene.store.asked) == asked + 1
        # Nobody uses it: nobody looks it up.
        await scene.known.renew()
        assert len(scene.store.asked) == asked + 1

    run(play)


def test_a_revoked_token_ends_with_the_next_look() -> None:
    async def play(scene: Play) -> None:
        assert await scene.known.find(TOKEN) == ADA
        scene.store.accounts.clear()
        scene.now += REMEMBER_SECONDS * 0.7
        assert await scene.known.find(TOKEN) == ADA
        await scene.known.renew()
        assert await scene.known.find(TOKEN) is None

    run(play)


def test_without_a_database_nobody_is_believed_for_longer() -> None:
    async def play(scene: Play) -> None:
        assert await scene.known.find(TOKEN) == ADA
        scene.store.accounts.clear()
        scene.now += REMEMBER_SECONDS
        assert await scene.known.find(TOKEN) is None

    run(play)


def test_what_was_looked_up_before_a_change_is_not_remembered() -> None:
    async def play(scene: Play) -> None:
        assert await scene.known.find(TOKEN) == ADA
        scene.now += REMEMBER_SECONDS * 0.7
        await scene.known.find(TOKEN)
        renewing = asyncio.create_task(scene.known.renew())
        await asyncio.sleep(0)
        assert len(scene.store.asked) == 2
        scene.store.accounts.clear()
        scene.known.forget()
        await renewing
        assert await scene.known.find(TOKEN) is None

    run(play)


def test_who_changed_its_own_account_is_looked_up_anew() -> None:
    async def play(scene: Play) -> None:
        assert await scene.known.find(TOKEN) == ADA
        del scene.store.accounts[TOKEN]
        assert await scene.known.find(TOKEN) == ADA  # nobody has said so yet
        scene.known.forget_one(TOKEN)
        assert await scene.known.find(TOKEN) is None

    run(play)
