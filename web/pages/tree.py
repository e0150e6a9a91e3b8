"""The tree of a campaign: how much is proved at each distance from the root."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.routing import Route

from zermelo.research.api import TreeCampaigns
from zermelo.research.replies import Level
from zermelo.web.finding import find_campaign, position_href
from zermelo.web.page import Page, page_routes
from zermelo.web.site import site_of

#: Counting a tree of more nodes than this takes seconds, so only its top is counted.
MOST_NODES, TOP_PLIES = 300_000, 8
DEEPEST = 1000
KEEP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class TreePage:
    campaign: str
    tree_nodes: int
    #: How far down was counted.
    depth: int
    levels: list[Level]


def routes() -> list[Route]:
    return page_routes("/campaigns/{name:path}/tree", tree)


async def tree(request: Request) -> Page:
    site, name = site_of(request), request.path_params["name"]
    asked = request.query_params.get("depth", "")
    chosen = min(int(asked), DEEPEST) if asked.isascii() and asked.isdigit() else None

    def look(campaigns: TreeCampaigns) -> TreePage:
        queries = find_campaign(campaigns, name)
        nodes = queries.standing_without_line().tree_nodes
        depth = chosen if chosen is not None else DEEPEST if nodes <= MOST_NODES else TOP_PLIES
        return TreePage(queries.name, nodes, depth, queries.levels(depth))

    found: TreePage = await site.library.keep(
        ("tree", name, chosen), KEEP_SECONDS, lambda: site.library.ask(look)
    )
    return Page(f"Tree of {found.campaign}", "campaign/tree.html", found, found.levels, {
        "source": position_href(found.campaign, [], below="/position.json"),
        "whole": found.depth == DEEPEST,
    })  # fmt: skip
