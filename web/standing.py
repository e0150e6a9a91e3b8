"""Where campaigns stand, as lists and cards show it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from zermelo.games import open_game
from zermelo.research.api import TreeCampaigns
from zermelo.research.tree_queries import one_state
from zermelo.server.campaigns import Summary
from zermelo.server.database import Connection
from zermelo.server.vocabulary import CampaignState
from zermelo.sql import query
from zermelo.web.library import Library

#: What lists show may be this old.
KEEP_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Card:
    """A campaign in a list."""

    campaign: str
    game: str
    goal: str
    state: str
    bounds: tuple[int, int]
    value: int | None
    outcome: str | None
    max_score: int
    nodes: int
    engine_seconds: float
    answered: int
    tree_nodes: int
    open_questions: int
    ready: int
    leased: int
    #: Nodes a second of the last minute.
    speed: float
    #: Volunteers who have leases now.
    volunteers: int
    #: Nodes still to search: the median, and a factor that holds the truth four times in five.
    remaining: float | None
    remaining_factor: float | None
    created_at: datetime
    finished_at: datetime | None
    #: Whether it only checks a published claim.
    is_claim: bool

    @property
    def running(self) -> bool:
        return self.state == CampaignState.RUNNING

    @property
    def done_share(self) -> float | None:
        """The share of the work that seems to be done, of that of the current test."""
        return done_share(self.nodes, self.remaining, self.state)

    @property
    def remaining_seconds(self) -> tuple[float, float] | None:
        """From how long to how long it may take at this speed."""
        if self.remaining is None or not self.speed:
            return None
        factor = self.remaining_factor or 1.0
        return self.remaining / factor / self.speed, self.remaining * factor / self.speed


@dataclass(frozen=True, slots=True)
class ProjectTotals:
    users: int
    hosts: int
    #: Seen within ten minutes.
    active_hosts: int
    nodes: int
    answered: int


@dataclass(frozen=True, slots=True)
class ClaimList:
    """Claims that were imported under one name."""

    name: str
    game: str
    claims: int
    confirmed: int
    refuted: int

    @property
    def open(self) -> int:
        return self.claims - self.confirmed - self.refuted


@dataclass(frozen=True, slots=True)
class Overview:
    campaigns: list[Card]
    claim_lists: list[ClaimList]
    totals: ProjectTotals


def done_share(nodes: int, remaining: float | None, state: str) -> float | None:
    if state == CampaignState.FINISHED:
        return 1.0
    return None if remaining is None or not nodes else nodes / (nodes + remaining)


async def overview(library: Library) -> Overview:
    return await library.keep("overview", KEEP_SECONDS, lambda: library.read(_overview))


def _overview(connection: Connection) -> Overview:
    with one_state(connection):
        headings = {row[0]: row[1:] for row in connection.execute(query("campaign_headings"))}
        standings = TreeCampaigns(connection).standings()
        totals = connection.execute(query("project_totals")).fetchone()
        lists = connection.execute(query("claim_lists")).fetchall()
    return Overview(
        [_card(each, *headings[each.campaign]) for each in standings if each.campaign in headings],
        [ClaimList(name, open_game(spec).short_spec, *counts) for name, spec, *counts in lists],
        ProjectTotals(*(totals or (0, 0, 0, 0, 0))),
    )


def _card(
    each: Summary, created_at: datetime, finished_at: datetime | None, is_claim: bool,
    speed: float, volunteers: int,
) -> Card:  # fmt: skip
    return Card(
        each.campaign, each.game, each.goal, each.state, each.bounds, each.value, each.outcome,
        open_game(each.game).max_score, each.nodes, each.engine_seconds, each.answered,
        each.tree_nodes, each.open_questions, each.ready, each.leased, speed, volunteers,
        each.remaining, each.remaining_factor, created_at, finished_at, is_claim,
    )  # fmt: skip
