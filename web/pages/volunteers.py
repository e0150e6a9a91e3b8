"""Volunteers and teams: who has contributed what."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zermelo.research.replies import TeamRecord
from zermelo.web import people
from zermelo.web.badge import draw_badge
from zermelo.web.page import Page, page_routes
from zermelo.web.site import site_of

#: Lists may be this old.
KEEP_SECONDS = 5.0
BADGE_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Leaderboard:
    #: "all" time or this "month".
    time: str
    volunteers: list[people.Placed]


@dataclass(frozen=True, slots=True)
class Teams:
    teams: list[TeamRecord]


def routes() -> list[Route]:
    return [
        *page_routes("/volunteers", volunteers),
        Route("/volunteers/{name:path}/badge.svg", badge),
        *page_routes("/volunteers/{name:path}", volunteer),
        *page_routes("/teams", teams),
        *page_routes("/teams/{name:path}", team),
    ]


async def volunteers(request: Request) -> Page:
    month = request.query_params.get("time") == "month"
    library = site_of(request).library
    found = await library.keep(
        ("volunteers", month), KEEP_SECONDS,
        lambda: library.read(lambda connection: people.leaderboard(connection, month=month)),
    )  # fmt: skip
    data = Leaderboard("month" if month else "all", found)
    return Page("Volunteers", "people/volunteers.html", data, found)


async def volunteer(request: Request) -> Page:
    name = request.path_params["name"]
    found = await people.find_profile(site_of(request).library, name)
    return Page(found.volunteer.name, "people/volunteer.html", found, found.days)


async def badge(request: Request) -> Response:
    name = request.path_params["name"]
    library = site_of(request).library
    found: people.Profile = await library.keep(
        ("badge", name), KEEP_SECONDS,
        lambda: library.read(lambda connection: people.profile(connection, name)),
    )  # fmt: skip
    return Response(
        draw_badge(found), media_type="image/svg+xml",
        headers={"cache-control": f"public, max-age={BADGE_SECONDS}"},
    )  # fmt: skip


async def teams(request: Request) -> Page:
    library = site_of(request).library
    found = await library.keep("teams", KEEP_SECONDS, lambda: library.read(people.teams))
    return Page("Teams", "people/teams.html", Teams(found), found)


async def team(request: Request) -> Page:
    name = request.path_params["name"]
    found = await site_of(request).library.read(
        lambda connection: people.team_profile(connection, name)
    )
    return Page(found.team.name, "people/team.html", found, found.members)
