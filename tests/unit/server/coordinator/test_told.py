"""What hosts are told that ask again too soon."""

from __future__ import annotations

from zermelo.server.coordinator.admission import ACCOUNT_RATE, MOST_FINE
from zermelo.server.coordinator.leases.told import INSISTED, ToldShortages
from zermelo.server.coordinator.rates import RateLimiter
from zermelo.server.coordinator.service import calls_for_refusals
from zermelo.server.trust.shortage import Shortage

ANNA, BERT = 1, 2
PAUSE = 10.0


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_who_asks_too_soon_is_told_the_same() -> None:
    clock = Clock()
    told = ToldShortages(clock)
    told.tell(told.page(ANNA), 1, Shortage.HOST_QUOTA, PAUSE)
    assert told.again(1, ANNA) is Shortage.HOST_QUOTA
    assert told.again(2, ANNA) is None
    assert told.again(1, BERT) is None
    clock.now += INSISTED * PAUSE
    assert told.again(1, ANNA) is None


def test_what_is_handed_in_counts_for_all_hosts_of_the_user() -> None:
    told = ToldShortages(Clock())
    told.tell(told.page(ANNA), 1, Shortage.USER_QUOTA, PAUSE)
    told.tell(told.page(BERT), 3, Shortage.USER_QUOTA, PAUSE)
    told.has_news(ANNA)
    assert told.again(1, ANNA) is None
    assert told.again(3, BERT) is Shortage.USER_QUOTA
    told.forget()
    assert told.again(3, BERT) is None


def test_news_that_comes_while_a_call_is_served_makes_void_what_it_is_told() -> None:
    told = ToldShortages(Clock())
    page = told.page(ANNA)
    told.has_news(ANNA)
    told.tell(page, 1, Shortage.USER_QUOTA, PAUSE)
    assert told.again(1, ANNA) is None


def test_work_for_everybody_may_come_at_any_moment() -> None:
    told = ToldShortages(Clock())
    told.tell(told.page(ANNA), 1, Shortage.ALL_LEASED, PAUSE)
    assert told.again(1, ANNA) is None


def test_made_up_leases_cost_a_minute_and_a_few_lost_ones_nothing() -> None:
    clock = Clock()
    accounts = RateLimiter(ACCOUNT_RATE, clock)
    accounts.charge(ANNA, calls_for_refusals(16), MOST_FINE)
    assert accounts.wait_needed(ANNA) == 0
    accounts.charge(BERT, calls_for_refusals(256), MOST_FINE)
    assert 55 < accounts.wait_needed(BERT) < 65
    accounts.charge(BERT, 1000)  # what a smaller debt would allow takes nothing away
    assert accounts.wait_needed(BERT) > 55
