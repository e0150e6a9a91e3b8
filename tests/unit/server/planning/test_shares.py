"""Clients are shared by nodes searched, whatever the sizes of workunits."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from zermelo.server.planning.shares import Shares, Standing

SPEED = 1000.0


class Queue:
    """A queue that is served first in, first out, by workers that are all as fast."""

    def __init__(self, groups: dict[str, tuple[int, float, float]], workers: int) -> None:
        """Groups by name: how many campaigns, their share, the seconds of a workunit."""
        self.workers, self.shares = workers, Shares()
        self.campaigns = {
            number: (name, share, seconds)
            for number, (name, share, seconds) in enumerate(
                (name, share, seconds)
                for name, (count, share, seconds) in groups.items()
                for _ in range(count)
            )
        }
        self.nodes: Counter[int] = Counter()
        self.ready: list[int] = []
        self.working: list[tuple[float, int]] = []
        self.now = 0.0

    def standings(self) -> list[Standing]:
        return [
            Standing(campaign, name, share, self.nodes[campaign], seconds)
            for campaign, (name, share, seconds) in self.campaigns.items()
        ]

    def run(self, seconds: float, short: frozenset[int] = frozenset()) -> None:
        until = self.now + seconds
        while self.now < until:
            self.shares.observe(self.standings())
            dry = not self.ready
            for campaign, part in self.shares.parts(
                self.workers, SPEED, short, dry=dry
            ).items():
                while (
                    campaign not in short and part.asks
                    and self.ready.count(campaign) < part.workers
                ):
                    self.ready.append(campaign)
            while self.ready and len(self.working) < self.workers:
                campaign = self.ready.pop(0)
                self.working.append((self.now + self.campaigns[campaign][2], campaign))
            self.working.sort()
            if not self.working:
                self.now += 0.1
                continue
            self.now, campaign = self.working.pop(0)
            self.nodes[campaign] += int(SPEED * self.campaigns[campaign][2])

    def by_group(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for campaign, nodes in self.nodes.items():
            found[self.campaigns[campaign][0]] += nodes
        return found


@pytest.mark.slow
@pytest.mark.parametrize(("share", "seconds"), [(1.0, 1.0), (3.0, 1.0), (1.0, 10.0), (3.0, 0.2)])
def test_groups_get_nodes_by_their_shares(share: float, seconds: float) -> None:
    queue = Queue({"list": (40, 1.0, 1.0), "alone": (1, share, seconds)}, workers=8)
    queue.run(300.0 * min(1.0, 2 * seconds))
    found = queue.by_group()
    assert found["alone"] / found["list"] == pytest.approx(share, rel=0.15)


def test_campaigns_of_a_list_get_the_same() -> None:
    queue = Queue({"list": (20, 1.0, 1.0)}, workers=4)
    queue.run(1000.0)
    assert min(queue.nodes.values()) > 0.5 * max(queue.nodes.values())
    assert len(queue.nodes) == 20


def test_only_as_many_are_planned_as_clients_can_use() -> None:
    shares = Shares()
    shares.observe([Standing(number, "list", 1.0, 0.0, 2.0) for number in range(2587)])
    assert len(shares.parts(2, SPEED)) == 3
    shares.observe(
        [Standing(number, "list", 1.0, 0.0, 2.0) for number in range(2587)]
        + [Standing(9999, "new", 1.0, 0.0, 2.0)]
    )
    parts = shares.parts(2, SPEED)
    assert parts[9999].asks, "a new campaign does not wait for thousands of others"
    assert len(parts) <= 4


def test_what_one_cannot_use_goes_to_the_others_and_is_not_saved_up() -> None:
    queue = Queue({"first": (1, 1.0, 1.0), "second": (1, 1.0, 1.0)}, workers=4)
    queue.run(100.0, short=frozenset({0}))
    before = queue.by_group()
    assert before["second"] > 350 * SPEED
    queue.run(100.0)
    gained = queue.by_group() - before
    assert gained["first"] == pytest.approx(gained["second"], rel=0.2)


def test_whoever_ends_is_forgotten() -> None:
    shares = Shares()
    chance = random.Random(1)
    for _ in range(20):
        running = chance.sample(range(50), chance.randint(0, 20))
        shares.observe([
            Standing(number, f"group {number % 7}", 1.0, chance.random(), 2.0)
            for number in running
        ])  # fmt: skip
        assert set(shares.parts(100, SPEED)) == set(running)
