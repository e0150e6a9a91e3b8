"""The first page: what is being solved, what was solved, how to join."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.routing import Route

from zermelo.server.vocabulary import CampaignState
from zermelo.web.hub import Snapshot
from zermelo.web.miniature import draw_start
from zermelo.web.page import Page, page_routes
from zermelo.web.site import Site, site_of
from zermelo.web.standing import Overview, overview

#: The newest of the finished ones; all of them are on the page of solved games.
MOST_FINISHED = 6
MOST_CARDS = 48


def routes() -> list[Route]:
    return page_routes("/", home, twins="/campaigns")


async def home(request: Request) -> Page:
    found = await overview(site_of(request).library)
    return Page(
        "Solving games together", "home.html", found, found.campaigns,
        {"live": "/live/home", **_view(found)},
    )  # fmt: skip


async def snapshot(site: Site) -> Snapshot:
    view = {"data": await overview(site.library)}
    view |= _view(view["data"])
    return {
        "totals": site.fragment("home/totals.html", view),
        "cards": site.fragment("home/cards.html", view),
    }


def _view(found: Overview) -> dict[str, Any]:
    shown = [card for card in found.campaigns if not card.is_claim]
    open_ones = [card for card in shown
                 if card.state in (CampaignState.RUNNING, CampaignState.PAUSED)]  # fmt: skip
    finished = [card for card in shown if card.finished_at is not None]
    finished.sort(key=lambda card: card.finished_at or card.created_at, reverse=True)
    open_ones = sorted(open_ones, key=lambda card: not card.running)[:MOST_CARDS]
    finished = finished[:MOST_FINISHED]
    return {
        "open_campaigns": open_ones, "finished_campaigns": finished,
        "starts": {card.game: draw_start(card.game) for card in (*open_ones, *finished)},
    }  # fmt: skip
