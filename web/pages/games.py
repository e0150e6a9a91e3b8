"""The games: what they are, how they look, their rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.routing import Route

from zermelo.games import GameError, game_names, open_game
from zermelo.games.catalogue import COMPILED, SHOWN_SIZE, ListedGame, listed_games
from zermelo.texts import one_line
from zermelo.web.board import draw_board
from zermelo.web.errors import Offer, TroubleError, nearest
from zermelo.web.miniature import draw_start
from zermelo.web.page import Page, page_routes
from zermelo.web.site import site_of
from zermelo.web.standing import overview
from zermelo.web.words import path_part


@dataclass(frozen=True, slots=True)
class GamePage:
    spec: str
    name: str
    title: str
    start: str
    max_score: int
    rules: list[str]
    #: The text of the definition; None for compiled games.
    definition: str | None
    campaigns: list[str]


def routes() -> list[Route]:
    return [*page_routes("/games", games), *page_routes("/games/{spec:path}", game, csv=False)]


async def games(request: Request) -> Page:
    listed = listed_games()
    starts = {each.name: draw_start(find_game(each.example).short_spec) for each in listed}
    return Page("Games", "games.html", {"games": listed}, listed, {"starts": starts})


async def game(request: Request) -> Page:
    asked = request.path_params["spec"]
    found = find_game(asked)
    listed = _listed(found.name)
    cards = (await overview(site_of(request).library)).campaigns
    start = found.initial()
    told = GamePage(
        found.short_spec, found.name, found.title, found.format(start), found.max_score,
        found.rules(), found.definition_text,
        [card.campaign for card in cards if card.game == found.short_spec and not card.is_claim],
    )  # fmt: skip
    return Page(found.short_spec, "game.html", told, view={
        "board": draw_board(found, start), "pattern": listed.pattern if listed else "",
    })  # fmt: skip


def find_game(spec: str) -> Any:
    """The game of a spec, or of a name alone; a page with similar names where there is none."""
    try:
        return open_game(f"{spec}:{SHOWN_SIZE}" if spec in COMPILED else spec)
    except GameError as error:
        name, names = spec.partition(":")[0], game_names()
        close = [name] if name in names else nearest(name, names)
        told = str(error) if name in names else f"there is no game {name!r}"
        raise TroubleError(
            404, "No such game", f"{one_line(told)}.",
            [*(Offer(each, f"/games/{path_part(each)}") for each in close),
             Offer("all games", "/games")],
        ) from None  # fmt: skip


def _listed(name: str) -> ListedGame | None:
    return next((each for each in listed_games() if each.name == name), None)
