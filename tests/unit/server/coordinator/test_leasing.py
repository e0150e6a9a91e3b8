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
    """Work turns up while the first statement runs: it is announced, or goes into the stock."""

    def __init__(self, *, into_stock: bool) -> None:
        self.leasing: Leasing | None = None
        self.statements = 0
        self._into_stock = into_stock
        self._stocked = False

    async def deal(self, requests: list[Request]) -> tuple[list[Leased], list[int]]:
        self.statements += 1
        granted = [request.slots for request in requests]
        assert self.leasing is not None
        if self._into_stock:
            self._stocked = True
            self.leasing.stock_is_filled()
        elif self.statements == 1:
            self.leasing.work_may_be_ready()
        else:
            return [WORK], granted
        return [], granted

    def asked_for(self, slots: int) -> None:
        pass

    def deal_at_once(self, request: Request) -> list[Leased]:
        return [WORK] if self._stocked else []

    def work_may_be_ready(self) -> None:
        pass


class QuietStore:
    async def ask_for_more(self) -> None:
        pass


@pytest.mark.parametrize("into_stock", [False, True])
def test_work_that_turns_up_while_the_statement_runs_is_handed_out(
    monkeypatch: pytest.MonkeyPatch, into_stock: bool
) -> None:
    monkeypatch.setattr(module, "RECHECK_SECONDS", 3600.0)

    async def ask() -> list[Leased]:
        dealer = LateDealer(into_stock=into_stock)
        leasing = dealer.leasing = Leasing(
            cast(CoordinatorStore, QuietStore()), cast(Dealer, dealer)
        )
        running = asyncio.create_task(leasing.run())
        try:
            request = Request(host=1, user=1, slots=1, speed=0.0)
            return await leasing.request(request, wait_seconds=60)
        finally:
            running.cancel()

    assert asyncio.run(ask()) == [WORK]
