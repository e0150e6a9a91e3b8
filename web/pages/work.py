"""The life of a question: workunits of a campaign, and the results that came back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.routing import Route

from zermelo.research.api import TreeCampaigns
from zermelo.research.replies import ResultRecord, WorkunitRecord, WorkunitReport
from zermelo.research.tree_queries import UnknownWorkunitError
from zermelo.web.board import Board, draw_board
from zermelo.web.errors import Offer, TroubleError
from zermelo.web.finding import campaign_href, find_campaign, position_href, without_host_names
from zermelo.web.page import Page, page_routes, wants_html
from zermelo.web.site import site_of

PATH = "/campaigns/{name:path}"
ROWS = 50
#: Programs get more at once.
MOST_ROWS = 1000
LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class WorkunitsPage:
    campaign: str
    workunits: list[WorkunitRecord]
    #: Ask for those `before` this number; None at the end.
    older: int | None


@dataclass(frozen=True, slots=True)
class ResultsPage:
    campaign: str
    results: list[ResultRecord]
    older: int | None


@dataclass(frozen=True, slots=True)
class WorkunitPage:
    campaign: str
    workunit: WorkunitReport


def routes() -> list[Route]:
    return [
        *page_routes(f"{PATH}/workunits/{{number:int}}", workunit),
        *page_routes(f"{PATH}/workunits/{{number}}", no_workunit),
        *page_routes(f"{PATH}/workunits", workunits),
        *page_routes(f"{PATH}/results", results),
    ]


async def workunits(request: Request) -> Page:
    most, before = _paging(request)

    def look(campaigns: TreeCampaigns) -> WorkunitsPage:
        queries = find_campaign(campaigns, request.path_params["name"])
        rows = queries.workunits(most, before)
        return WorkunitsPage(
            queries.name, rows, rows[-1].workunit if len(rows) == most else None
        )

    found = await site_of(request).library.ask(look)
    return Page(
        f"Workunits of {found.campaign}", "campaign/workunits.html", found, found.workunits
    )


async def results(request: Request) -> Page:
    most, before = _paging(request)

    def look(campaigns: TreeCampaigns) -> ResultsPage:
        queries = find_campaign(campaigns, request.path_params["name"])
        rows = without_host_names(queries.results(most, before))
        return ResultsPage(queries.name, rows, rows[-1].result if len(rows) == most else None)

    found = await site_of(request).library.ask(look)
    return Page(f"Results of {found.campaign}", "campaign/results.html", found, found.results)


async def workunit(request: Request) -> Page:
    name, number = request.path_params["name"], min(request.path_params["number"], LARGEST)

    def look(campaigns: TreeCampaigns) -> tuple[WorkunitPage, Board]:
        queries = find_campaign(campaigns, name)
        try:
            report = queries.workunit(number)
        except UnknownWorkunitError as error:
            raise TroubleError(
                404, "No such workunit", f"{error}.",
                [Offer("the newest workunits", campaign_href(name, "/workunits"))],
            ) from None  # fmt: skip
        report = replace(report, results=without_host_names(report.results))
        board = draw_board(queries.game, queries.game.parse(report.position))
        return WorkunitPage(queries.name, report), board

    found, board = await site_of(request).library.ask(look)
    return Page(
        f"Workunit {number} of {found.campaign}", "campaign/workunit.html", found,
        found.workunit.results,
        {"board": board, "position": position_href(found.campaign, [], found.workunit.position)},
    )  # fmt: skip


async def no_workunit(request: Request) -> Page:
    """What is no number names no workunit."""
    name, asked = request.path_params["name"], request.path_params["number"]
    queries = await site_of(request).library.ask(lambda them: find_campaign(them, name))
    raise TroubleError(
        404, "No such workunit", f"{asked[:40]!r} is no workunit: workunits have"
        f" numbers, such as {campaign_href(queries.name, '/workunits/1')}.",
        [Offer("the newest workunits", campaign_href(name, "/workunits"))],
    )  # fmt: skip


def _paging(request: Request) -> tuple[int, int]:
    """How many rows, and before which number they begin (0: the newest)."""
    told = request.query_params.get("before", "0")
    before = int(told) if told.isascii() and told.isdigit() else 0
    return (ROWS if wants_html(request) else MOST_ROWS), min(before, LARGEST)
