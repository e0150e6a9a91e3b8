"""Sharing the clients between campaigns: pure logic, driven by the generator.

The claims of one list are a *group*, and so is every other campaign alone. Groups get nodes
searched in proportion to their weights, and inside a group its campaigns in proportion to their
shares: fair queueing with a virtual time, which goes on by nodes searched over weight. Whoever is
behind is asked about first. Of a group with thousands of campaigns only as many are planned at the
same time as clients can work on, those that are behind the most. A group that has nothing to ask
leaves its part to the others and gains no claim to later parts by it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import NamedTuple

from zermelo.server.tree.identity import CampaignId

#: How far groups, and campaigns of a group, may be ahead of others, in seconds of all clients.
#: Nodes are counted when results come, so this is not less than what a workunit takes.
LEAST_SLACK = 2.0


class Standing(NamedTuple):
    """What a running campaign has had so far."""

    campaign: CampaignId
    group: str
    share: float
    #: Searched for it, by all clients.
    nodes: float
    target_seconds: float


class Part(NamedTuple):
    """What a campaign may ask for now."""

    #: How many workers it may keep busy.
    workers: int
    #: Whether it may ask anything new.
    asks: bool


@dataclass(slots=True)
class _Account:
    """A campaign: nodes seen, and its virtual time inside the group."""

    share: float
    nodes: float
    time: float = 0.0


@dataclass(slots=True)
class _Group:
    weight: float = 1.0
    time: float = 0.0
    accounts: dict[CampaignId, _Account] = field(default_factory=dict)
    active: list[CampaignId] = field(default_factory=list)


class Shares:
    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}
        self._target_seconds = LEAST_SLACK

    def observe(self, standings: Iterable[Standing]) -> None:
        """The campaigns that run now; those that are new begin where the others are."""
        groups: dict[str, list[Standing]] = {}
        for standing in standings:
            groups.setdefault(standing.group, []).append(standing)
        self._groups = {name: self._groups.get(name, _Group()) for name in groups}
        told = [name for name in groups if self._groups[name].accounts]
        now = min((self._groups[name].time for name in told), default=0.0)
        self._target_seconds = LEAST_SLACK
        for name, members in groups.items():
            group = self._groups[name]
            if not group.accounts:
                group.time = now
            group.weight = fmean(standing.share for standing in members)
            group.time += _observe(group, members) / group.weight
            most = max(standing.target_seconds for standing in members)
            self._target_seconds = max(self._target_seconds, most)

    def parts(
        self, workers: int, speed: float, short: Collection[CampaignId] = (), *, dry: bool = False
    ) -> Mapping[CampaignId, Part]:
        """What the active campaigns may ask for.

        `short` are those that could not use what they had; when the queue is `dry`, nobody has to
        wait for others.
        """
        slack = self._target_seconds * max(1, workers) * (speed or 1.0)
        hungry = {
            name: group for name, group in self._groups.items()
            if len(group.active) < len(group.accounts) or not set(group.active) <= set(short)
        }  # fmt: skip
        total = sum(group.weight for group in hungry.values())
        now = min((group.time for group in hungry.values()), default=0.0)
        parts: dict[CampaignId, Part] = {}
        for name, group in self._groups.items():
            group.time = max(group.time, now)  # unused parts are not saved up
            own = workers * group.weight / (total if name in hungry else total + group.weight)
            asks = dry or group.time <= now + slack / (total + group.weight)
            _choose_active(group, math.ceil(own) + 1, slack)
            each = max(1, math.ceil(own / max(1, len(group.active)))) if workers else 0
            parts.update((campaign, Part(each, asks)) for campaign in group.active)
        return parts


def _observe(group: _Group, members: list[Standing]) -> float:
    """Keep the accounts of a group; the nodes searched for it since the last time."""
    now = min((account.time for account in group.accounts.values()), default=0.0)
    accounts, searched = {}, 0.0
    for standing in members:
        account = group.accounts.get(standing.campaign)
        if account is None:
            account = _Account(standing.share, standing.nodes, now)
        searched += standing.nodes - account.nodes
        account.time += (standing.nodes - account.nodes) / standing.share
        account.share, account.nodes = standing.share, standing.nodes
        accounts[standing.campaign] = account
    group.accounts = accounts
    return max(0.0, searched)


def _choose_active(group: _Group, most: int, slack: float) -> None:
    """The campaigns that are behind the most; those that were chosen before stay a while."""
    former = set(group.active)

    def rank(campaign: CampaignId) -> tuple[float, CampaignId]:
        account = group.accounts[campaign]
        kept = slack / account.share if campaign in former else 0.0
        return account.time - kept, campaign

    group.active = sorted(group.accounts, key=rank)[:most]
