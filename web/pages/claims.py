"""Published claims that are checked here: confirmed, refuted or open."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.routing import Route

from zermelo.research.api import TreeCampaigns
from zermelo.research.replies import ClaimReport, ClaimTotals
from zermelo.server.campaigns import CampaignError
from zermelo.texts import one_line
from zermelo.web.errors import Offer, TroubleError, nearest
from zermelo.web.page import Page, page_routes, wants_html
from zermelo.web.site import site_of
from zermelo.web.standing import overview
from zermelo.web.words import path_part

ROWS = 100
KEEP_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ClaimsPage:
    name: str
    totals: ClaimTotals
    claims: list[ClaimReport]


def routes() -> list[Route]:
    return [*page_routes("/claims", lists), *page_routes("/claims/{name:path}", claims)]


async def lists(request: Request) -> Page:
    found = (await overview(site_of(request).library)).claim_lists
    return Page("Claims", "claims.html", {"lists": found}, found)


async def claims(request: Request) -> Page:
    site, name = site_of(request), request.path_params["name"]
    told = request.query_params.get("skip", "0")
    skip = min(int(told), 10**6) if told.isascii() and told.isdigit() else 0
    paged = wants_html(request)

    def look(campaigns: TreeCampaigns) -> ClaimsPage:
        totals = campaigns.claim_totals(name)
        rows = campaigns.some_claims(name, ROWS, skip) if paged else campaigns.claims(name)
        return ClaimsPage(name, totals, rows)

    try:
        found: ClaimsPage = await site.library.keep(
            ("claims", name, skip, paged), KEEP_SECONDS, lambda: site.library.ask(look)
        )
    except CampaignError:
        names = [each.name for each in (await overview(site.library)).claim_lists]
        raise TroubleError(
            404, "No such list of claims", f"There are no claims {one_line(name)!r}.",
            [*(Offer(each, f"/claims/{path_part(each)}") for each in nearest(name, names)),
             Offer("all lists of claims", "/claims")],
        ) from None  # fmt: skip
    older = skip + ROWS if skip + ROWS < found.totals.claims else None
    return Page(f"Claims: {name}", "claim_list.html", found, found.claims,
                {"skip": skip, "next": older, "rows_a_page": ROWS})  # fmt: skip
