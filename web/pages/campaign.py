"""One campaign: how it stands, how it went, what is searched now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.routing import Route

from zermelo.figures import signed
from zermelo.games import Bounds
from zermelo.research.api import TreeCampaigns
from zermelo.research.replies import Contributor, OpenLevel, ProgressPoint, ResultRecord
from zermelo.research.tree_queries import TreeQueries
from zermelo.server.campaigns import Campaign, Summary, outcome_in_words
from zermelo.server.vocabulary import CampaignState
from zermelo.web.charts import Chart, Series, time_chart
from zermelo.web.finding import campaign_href, find_campaign, position_href, without_host_names
from zermelo.web.hub import Snapshot
from zermelo.web.miniature import Miniature, draw_miniature
from zermelo.web.page import Page, page_routes
from zermelo.web.site import Site, site_of

PATH = "/campaigns/{name:path}"
MOST_POINTS = 150
MOST_SEARCHES = 6
MOST_RESULTS = 10
MOST_CONTRIBUTORS = 10


@dataclass(frozen=True, slots=True)
class RunningSearch:
    """What somebody searches at the moment."""

    workunit: int
    #: "Is the score at least this?"
    threshold: int
    ply: int
    expected: float
    nodes: int
    leased_at: datetime
    user: str
    position: str


@dataclass(frozen=True, slots=True)
class RootTest:
    """A question about the root, and its answer; None while it is open."""

    threshold: int
    started_at: datetime
    ended_at: datetime | None
    answer: bool | None


@dataclass(frozen=True, slots=True)
class CampaignNow:
    """What changes while one looks."""

    standing: Summary
    progress: list[ProgressPoint]
    tests: list[RootTest]
    open_questions: list[OpenLevel]
    searches: list[RunningSearch]
    results: list[ResultRecord]


@dataclass(frozen=True, slots=True)
class CampaignPage:
    campaign: str
    game: str
    goal: str
    state: str
    start: str
    replication: str
    created_at: datetime
    finished_at: datetime | None
    now: CampaignNow
    contributors: list[Contributor]


def routes() -> list[Route]:
    return [
        *page_routes(f"{PATH}/progress", progress),
        *page_routes(PATH, campaign),
    ]


async def campaign(request: Request) -> Page:
    site, name = site_of(request), request.path_params["name"]

    def look(
        campaigns: TreeCampaigns,
    ) -> tuple[Campaign, CampaignNow, list[Contributor], str]:
        queries = find_campaign(campaigns, name)
        return (
            queries.campaign, _now(queries), queries.contributors(MOST_CONTRIBUTORS),
            queries.game.format(queries.start),
        )  # fmt: skip

    found, now, contributors, start = await site.library.ask(look)
    told = CampaignPage(
        found.name, found.game.short_spec, str(found.goal), str(found.state), start,
        str(found.replication), found.created_at, found.finished_at, now, contributors,
    )  # fmt: skip
    live = "" if found.state in _ENDED else f"/live{campaign_href(found.name)}"
    return Page(found.name, "campaign/overview.html", told, now.progress, {
        "live": live, **_view(found, now),
    })  # fmt: skip


async def progress(request: Request) -> Page:
    """The curves alone, to look at closely."""
    name = request.path_params["name"]

    def look(campaigns: TreeCampaigns) -> tuple[str, list[ProgressPoint]]:
        queries = find_campaign(campaigns, name)
        return queries.name, queries.progress(1000)

    found, points = await site_of(request).library.ask(look)
    told = {"campaign": found, "progress": points}
    return Page(f"{found} over time", "campaign/progress.html", told, points,
                {"charts": _charts(points)})  # fmt: skip


async def snapshot(site: Site, name: str) -> Snapshot:
    def look(campaigns: TreeCampaigns) -> tuple[Campaign, CampaignNow]:
        queries = find_campaign(campaigns, name)
        return queries.campaign, _now(queries)

    found, now = await site.library.ask(look)
    view = {"now": now, **_view(found, now)}
    # A part called `open` or `error` would be taken for the stream's own events.
    return {
        part: site.fragment(f"campaign/{part}.html", view)
        for part in ("standing", "charts", "questions", "tests", "searches", "answers")
    }


_ENDED = (CampaignState.FINISHED, CampaignState.CANCELLED)


def _now(queries: TreeQueries) -> CampaignNow:
    ended = queries.campaign.state in _ENDED
    return CampaignNow(
        # The best line is worth its statements at the end only.
        queries.standing() if ended else queries.standing_without_line(),
        queries.progress(MOST_POINTS),
        queries.records(RootTest, "tests_of_campaign"),
        [] if ended else queries.open_questions(),
        [] if ended else [_search(queries, row) for row in queries.rows(
            "running_searches", most=MOST_SEARCHES)],
        without_host_names(queries.results(MOST_RESULTS)),
    )  # fmt: skip


def _search(queries: TreeQueries, row: Any) -> RunningSearch:
    *told, key, history = row
    position = queries.game.decode(key.bytes, history or b"")
    return RunningSearch(*[*told, queries.game.format(position)])


def _view(found: Campaign, now: CampaignNow) -> dict[str, Any]:
    game, standing = found.game, now.standing
    return {
        "now": now, "campaign": found.name, "max_score": game.max_score,
        "speed": _speed(now.progress), "charts": _charts(now.progress),
        "line": [
            (move, position_href(found.name, standing.line[: at + 1]))
            for at, move in enumerate(standing.line)
        ],
        "boards": _boards(found, now.searches),
        "most_open": max((each.ready + each.leased for each in now.open_questions), default=0),
        "outcome": outcome_in_words(Bounds(*standing.bounds)),
    }  # fmt: skip


def _boards(found: Campaign, searches: Sequence[RunningSearch]) -> list[Miniature]:
    game = found.game
    return [draw_miniature(game, game.parse(each.position)) for each in searches]


def _speed(points: Sequence[ProgressPoint]) -> float:
    """Nodes a second of the last points."""
    if len(points) < 2:
        return 0.0
    last = points[-1]
    before = next(point for point in points if (last.at - point.at).total_seconds() <= 60)
    if before is last:
        before = points[-2]
    return (last.nodes - before.nodes) / ((last.at - before.at).total_seconds() or 1.0)


def _charts(points: Sequence[ProgressPoint]) -> list[Chart]:
    seconds = [(point.at - points[0].at).total_seconds() for point in points]
    charts = [
        time_chart("Bounds of the root", seconds, [
            Series("proved at least", [point.lo for point in points], "first"),
            Series("proved at most", [point.hi for point in points], "second"),
        ], stepped=True, between=True, write=signed),
        time_chart("Nodes: searched, and expected to remain in this test", seconds, [
            Series("searched", [float(point.nodes) for point in points], "first"),
            Series("remaining", [point.remaining for point in points], "second"),
            Series("searched in vain", [float(point.wasted_nodes) for point in points], "third"),
        ], log=True),
        time_chart("Open questions", seconds, [
            Series("open", [float(point.open_questions) for point in points], "first"),
            Series("leased", [float(point.leased) for point in points], "second"),
        ]),
    ]  # fmt: skip
    return [chart for chart in charts if chart is not None]
