"""What was solved here, with certificates."""

from __future__ import annotations

from starlette.requests import Request
from starlette.routing import Route

from zermelo.web.page import Page, page_routes
from zermelo.web.site import site_of
from zermelo.web.standing import overview


def routes() -> list[Route]:
    return page_routes("/solved", solved)


async def solved(request: Request) -> Page:
    cards = [card for card in (await overview(site_of(request).library)).campaigns
             if card.finished_at is not None and not card.is_claim]  # fmt: skip
    return Page("Solved games", "solved.html", {"solved": cards}, cards)
