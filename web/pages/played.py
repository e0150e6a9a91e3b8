"""Games that were played: the last ones, and each of them move by move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zermelo.games import Game, GameError
from zermelo.research.game_files import FORMATS, formats_of
from zermelo.research.games_played import PlayedGame, UnknownGameError, find_game, list_games
from zermelo.research.replies import Worth
from zermelo.texts import one_line
from zermelo.web.board import draw_board
from zermelo.web.errors import Offer, TroubleError
from zermelo.web.finding import Way, follow
from zermelo.web.machine_moves import proved_worths
from zermelo.web.page import Page, page_routes
from zermelo.web.playing import LONGEST_NAME
from zermelo.web.site import site_of

SHOWN = 100
DEVICES = ("phone", "tablet", "computer", "terminal")
LARGEST_NUMBER = 2**63 - 1
#: The formats of games to take away, by the ending of their address.
ENDINGS = {"txt": "text", "sgf": "sgf", "obf": "obf"}


@dataclass(frozen=True, slots=True)
class PlayedRow:
    """A stored game in a list; the score is that of the first side."""

    number: int
    game: str
    first: str
    second: str
    winner: str
    score: int
    moves: int
    seconds: float
    started_at: datetime
    device: str
    person: str
    opponent: str
    depth: int | None
    final: str


@dataclass(frozen=True, slots=True)
class PlayedDetails:
    number: int
    game: str
    first: str
    second: str
    person: str
    opponent: str
    depth: int | None
    device: str
    winner: str
    score: int
    moves: list[str]
    start: str | None
    final: str
    started_at: datetime
    seconds: float


#: How the last games can be sorted.
ORDERS: dict[str, Callable[[PlayedRow], Any]] = {
    "newest": lambda row: -row.number,
    "oldest": lambda row: row.number,
    "score": lambda row: (-abs(row.score), -row.number),
    "moves": lambda row: (-row.moves, -row.number),
    "duration": lambda row: (-row.seconds, -row.number),
}


def routes() -> list[Route]:
    return [
        *page_routes("/played", played),
        *page_routes("/played/{number:int}", details, csv=False),
        Route("/played/{number:int}.{ending}", take_away),
    ]


async def played(request: Request) -> Page:
    query = request.query_params
    person = one_line(query.get("person", ""), LONGEST_NAME)
    device = query.get("device", "") if query.get("device") in DEVICES else ""
    order = query.get("sort", "") if query.get("sort") in ORDERS else "newest"
    found = await site_of(request).library.read(
        lambda connection: list_games(connection, SHOWN, person=person, device=device)
    )
    rows = sorted(map(_row, found), key=ORDERS[order])
    return Page("Games that were played", "played/list.html", {"games": rows}, rows, {
        "person": person, "device": device, "order": order, "devices": DEVICES,
        "orders": list(ORDERS),
    })  # fmt: skip


async def details(request: Request) -> Page:
    game = await _find(request)
    told = PlayedDetails(
        game.id or 0, game.short_spec, game.first, game.second, game.person, game.opponent,
        game.depth, game.device, game.winner, game.score, game.moves, game.position, game.final,
        game.started_at, game.seconds,
    )  # fmt: skip
    view: dict[str, Any] = {
        "board": None, "ply": len(game.moves), "endings": {"text": "txt"}, "worths": None,
    }  # fmt: skip
    rules, way = _replayed(game)
    if rules is not None and way is not None:
        asked = request.query_params.get("ply", "")
        right = asked.isascii() and asked.isdigit() and len(asked) < 6
        ply = min(int(asked), len(way.moves)) if right else len(way.moves)
        view = {
            "board": draw_board(rules, way.positions[ply], last=way.last(ply)), "ply": ply,
            "endings": {
                form: ending for ending, form in ENDINGS.items() if form in formats_of(rules)
            },
            "worths": await _worths(request, rules, way),
        }
    return Page(f"Game {game.id}", "played/game.html", told, view=view)


@dataclass(frozen=True, slots=True)
class StepWorth:
    """What is proved about a position of a replay, for the side to move there."""

    worth: Worth
    #: Whether the move that led here gave away something that was proved.
    lost: bool


async def _worths(request: Request, rules: Game[Any], way: Way) -> list[StepWorth] | None:
    """The worth at every ply; None where no campaign has solved the game."""
    worths = await proved_worths(request, rules, way.positions)
    if worths is None:
        return None
    return [
        StepWorth(worth, ply > 0 and -worth.lo < worths[ply - 1].lo)
        for ply, worth in enumerate(worths)
    ]


async def take_away(request: Request) -> Response:
    """The game as a file, in the format that ends the address."""
    game = await _find(request)
    ending = request.path_params["ending"]
    offers = [Offer("the game as text", f"/played/{game.id}.txt")]
    if ending not in ENDINGS:
        raise TroubleError(404, "No such format", f"Games end in {', '.join(ENDINGS)}.", offers)
    form = FORMATS[ENDINGS[ending]]
    try:
        text = form.write(game)
    except GameError as error:
        raise TroubleError(404, "Not in this format", f"{error}.", offers) from None
    return Response(text, headers=_as_file(game, ending), media_type=form.media_type)


def _as_file(game: PlayedGame, ending: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="game-{game.id}.{ending}"'}


async def _find(request: Request) -> PlayedGame:
    number = min(request.path_params["number"], LARGEST_NUMBER)
    try:
        return await site_of(request).library.read(lambda connection: find_game(connection, number))
    except UnknownGameError:
        raise TroubleError(404, "No such game", f"No game {number} was stored.",
                           [Offer("the last games", "/played")]) from None  # fmt: skip


def _replayed(game: PlayedGame) -> tuple[Game[Any] | None, Way | None]:
    """The rules and the way of a stored game; None where its rules are no longer here."""
    try:
        rules = game.game
        start = rules.initial() if game.position is None else rules.parse(game.position)
    except GameError:
        return None, None
    way = follow(rules, start, game.moves)
    return rules, way if len(way.moves) == len(game.moves) else None


def _row(game: PlayedGame) -> PlayedRow:
    return PlayedRow(
        game.id or 0, game.short_spec, game.first, game.second, game.winner, game.score,
        len(game.moves), game.seconds, game.started_at, game.device, game.person, game.opponent,
        game.depth, game.final,
    )  # fmt: skip
