"""The explorer: any position, what is proved about it and its moves, and what that rests on."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from zermelo.games import Game
from zermelo.research.api import TreeCampaigns
from zermelo.research.replies import LineStep, MoveWorth, Provenance, Worth
from zermelo.web.board import Board, draw_board
from zermelo.web.finding import (
    Way,
    asked_position,
    find_campaign,
    position_href,
    walk,
    without_host_names,
)
from zermelo.web.page import Page, page_routes
from zermelo.web.playing import PROOF, Table
from zermelo.web.site import site_of

PATH = "/campaigns/{name:path}"


@dataclass(frozen=True, slots=True)
class PathStep:
    """A position on the way here; the worth is for the side that moves first at the start."""

    ply: int
    #: The move that led here; empty at the start.
    move: str
    worth: Worth


@dataclass(frozen=True, slots=True)
class PositionPage:
    campaign: str
    game: str
    #: The moves that led here.
    path: list[str]
    position: str
    side: str
    node: int | None
    #: For the side to move.
    worth: Worth
    expanded: bool
    moves: list[MoveWorth]
    provenance: list[Provenance]
    history: list[PathStep]


@dataclass(frozen=True, slots=True)
class LinePage:
    campaign: str
    path: list[str]
    line: list[LineStep]
    worth: Worth


def routes() -> list[Route]:
    return [
        *page_routes(f"{PATH}/position", position),
        *page_routes(f"{PATH}/line", line),
    ]


async def position(request: Request) -> Page:
    name = request.path_params["name"]
    text, moves = asked_position(request)

    def look(campaigns: TreeCampaigns) -> tuple[PositionPage, Board, Game[object], str]:
        with campaigns.one_state():
            queries = find_campaign(campaigns, name)
            way = walk(campaigns, queries, text, moves)
            report, worths = queries.explore(way.positions)
            play_href = _play_href(campaigns, queries.game, way) if report.moves else ""
        game = queries.game
        told = PositionPage(
            queries.name, game.short_spec, way.names, report.position,
            game.side_to_move(way.end), report.node, report.worth, report.expanded, report.moves,
            without_host_names(report.provenance), _history(game, way, worths),
        )  # fmt: skip
        board = draw_board(
            game, way.end, report.moves,
            lambda move: position_href(queries.name, [*way.names, move], text),
            way.last(len(way.moves)),
        )  # fmt: skip
        return told, board, game, play_href

    found, board, game, play_href = await site_of(request).library.ask(look)
    where = f"after {' '.join(found.path)}" if found.path else "start"
    return Page(f"{found.campaign}, {where}", "campaign/position.html", found, found.moves, {
        "board": board, "text": text, "lazy": True,
        "moves": sorted(found.moves, key=lambda move: move.order),
        "crumbs": [(step.move or "start", position_href(name, found.path[:step.ply], text))
                   for step in found.history],
        "line_href": position_href(name, found.path, text, "/line"),
        "addresses": {move.move: position_href(name, [*found.path, move.move], text)
                      for move in found.moves},
        "max_score": game.max_score, "play_href": play_href,
    })  # fmt: skip


async def line(request: Request) -> Page | Response:
    """Best play from a position on; `part` asks for the moves alone, for a page that has them."""
    name = request.path_params["name"]
    text, moves = asked_position(request)

    def look(campaigns: TreeCampaigns) -> LinePage:
        queries = find_campaign(campaigns, name)
        way = walk(campaigns, queries, text, moves)
        steps = queries.line(text, way.names)
        worth = steps[0].worth if steps else queries.worths([way.end])[0]
        return LinePage(queries.name, way.names, steps, worth)

    site = site_of(request)
    found: LinePage = await site.library.keep(
        ("line", name, text, tuple(moves)), 1.0, lambda: site.library.ask(look)
    )
    view = {
        "back": position_href(name, found.path, text),
        "addresses": [
            position_href(name, [*found.path, *(step.move for step in found.line[: at + 1])], text)
            for at in range(len(found.line))
        ],
    }
    if "part" in request.query_params:
        return HTMLResponse(site.fragment("campaign/moves.html", {"data": found, **view}))
    return Page(f"Best play in {found.campaign}", "campaign/line.html", found, found.line, view)


def _play_href(campaigns: TreeCampaigns, game: Game[object], way: Way) -> str:
    """Where one plays on from here; empty where games do not come from their usual start."""
    if game.format(way.positions[0]) != game.format(game.initial()):
        return ""
    machine = PROOF if campaigns.finished_campaign(game) else "minimax:4"
    sides = (machine, "you") if len(way.names) % 2 else ("you", machine)
    return Table(game.short_spec, *sides, tuple(way.names)).link()


def _history(game: Game[object], way: Way, worths: list[Worth]) -> list[PathStep]:
    first = game.side_to_move(way.positions[0])
    return [
        PathStep(
            ply, way.names[ply - 1] if ply else "",
            worth if game.side_to_move(at) == first
            else Worth(worth.proof_state, -worth.hi, -worth.lo),
        )
        for ply, (at, worth) in enumerate(zip(way.positions, worths, strict=True))
    ]  # fmt: skip
