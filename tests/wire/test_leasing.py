"""Leasing alone: no word of new work is lost, whenever it comes."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from zermelo.server.coordinator import leasing as module
from zermelo.server.coordinator.dealing import Dealer
from zermelo.server.coordinator.leasing import Leasing
from zermelo.server.coordinator.rows import Leased, Request
from zermelo.server.coordinator.store import CoordinatorStore

WORK = Leased(
    request=1, lease=1, workunit=1, campaign=1, game="reversi:4x4", position=bytes(16),
    history=None, threshold=0, node_budget=1, known=None,
)  # fmt: skip


class LateDealer:
    """Work turns up, and is announced, while the first statement runs."""

    def __init__(self) -> None:
        self.leasing: Leasing | None = None
        self.statements = 0

    async def deal(self, requests: list[Request]) -> tuple[list[Leased], list[int]]:
        self.statements += 1
        granted = [request.slots for request in requests]
        if self.statements == 1:
            assert self.leasing is not None
            self.leasing.work_may_be_ready()
            return [], granted
        return [WORK], granted

    def deal_at_once(self, request: Request) -> list[Leased]:
        return []

    def work_may_be_ready(self) -> None:
        pass


class QuietStore:
    async def ask_for_more(self) -> None:
        pass


def test_work_announced_while_the_statement_runs_is_handed_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "RECHECK_SECONDS", 3600.0)

    async def ask() -> list[Leased]:
        dealer = LateDealer()
        leasing = dealer.leasing = Leasing(
            cast(CoordinatorStore, QuietStore()), cast(Dealer, dealer)
        )
        running = asyncio.create_task(leasing.run())
        try:
            request = Request(host=1, user=1, slots=1, speed=0.0)
            return await leasing.request(request, wait_seconds=20)
        finally:
            running.cancel()

    assert asyncio.run(ask()) == [WORK]
