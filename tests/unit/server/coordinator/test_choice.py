"""Who gets what, decided in memory: slots within quotas, second opinions, node budgets."""

from __future__ import annotations

import random

import pytest

from zermelo.server.coordinator.leases.assigner import DEFAULT_SPEED, LEAST_SPEED, node_budget
from zermelo.server.coordinator.leases.quota import Slot, open_slots
from zermelo.server.coordinator.leases.rows import Again, Prefetched, Request
from zermelo.server.coordinator.leases.second_opinions import choose

ADA, BOB = 1, 2


def request(host: int, user: int, wanted: int) -> Request:
    return Request(host, user, wanted, speed=1.0)


def requests_served(slots: list[Slot]) -> list[int]:
    return [slot.request for slot in slots]


def test_one_to_each_request_before_a_second() -> None:
    free = {(10, ADA): 9, (20, BOB): 9}
    slots = open_slots([request(10, ADA, 3), request(20, BOB, 1)], free)
    assert requests_served(slots) == [1, 2, 1, 1]


def test_requests_of_one_host_share_its_quota() -> None:
    slots = open_slots([request(10, ADA, 2), request(10, ADA, 2)], {(10, ADA): 3})
    assert requests_served(slots) == [1, 2, 1]


def test_hosts_of_one_user_share_the_users_quota() -> None:
    requests = [request(10, ADA, 2), request(11, ADA, 2), request(20, BOB, 2)]
    free = {(10, ADA): 9, (11, ADA): 9, (20, BOB): 9}
    assert requests_served(open_slots(requests, free, {ADA: 1, BOB: 9})) == [1, 3, 3]
    assert len(open_slots(requests, free)) == 6


def test_a_host_gets_nothing_as_somebody_elses() -> None:
    assert open_slots([request(10, BOB, 1)], {(10, ADA): 9}) == []


def test_nobody_is_asked_twice() -> None:
    slots = [Slot(1, 10, ADA, 1.0), Slot(2, 20, BOB, 1.0)]
    again = [Again(100, [ADA]), Again(101, [ADA, BOB]), Again(102, [])]
    for seed in range(20):
        chosen = choose(slots, again, [], 0.0, random.Random(seed))
        assert chosen == {1: (100, False), 0: (102, False)}


def test_probes_come_at_their_rate_and_only_to_those_who_do_not_know_them() -> None:
    slots = [Slot(1, 10, ADA, 1.0)] * 1000
    probes = [Again(number, [BOB]) for number in range(1000)]
    chosen = choose(slots, [], probes, 0.1, random.Random(1))
    assert 60 < len(chosen) < 140
    assert all(probe for _, probe in chosen.values())
    assert len({workunit for workunit, _ in chosen.values()}) == len(chosen)
    assert choose([Slot(1, 20, BOB, 1.0)] * 1000, [], probes, 0.1, random.Random(1)) == {}


@pytest.mark.parametrize(
    ("speed", "max_node_budget", "budget"),
    [
        (1000.0, None, 2000),
        (1000.0, 1500, 1500),
        (0.1, None, round(2 * LEAST_SPEED)),  # it measured nothing
        (0.0, None, round(2 * DEFAULT_SPEED)),
    ],
)
def test_a_budget_is_what_the_host_searches_in_the_target_time(
    speed: float, max_node_budget: int | None, budget: int
) -> None:
    item = Prefetched(
        hold=1, workunit=1, campaign=1, game="reversi:4x4", position=bytes(16), history=None,
        threshold=0, max_node_budget=max_node_budget, target_seconds=2.0, known=None, probe=False,
    )  # fmt: skip
    assert node_budget(item, speed) == budget
