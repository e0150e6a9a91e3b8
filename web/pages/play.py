"""Playing: every game, against a machine, another person or a proof, or watching two machines.

A move is a link. Where a machine is to move, or somebody has to pass, the server makes those
moves and sends the visitor on to the address of the position after them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from zermelo.figures import by
from zermelo.games import Game
from zermelo.games.catalogue import listed_games
from zermelo.games.interface import PASS_NAME
from zermelo.games.picture import Picture
from zermelo.games.telling import count_pieces, is_forced_pass, side_signs
from zermelo.players import PlayerError, depth_of, look_ahead
from zermelo.research.games_played import PlayedGame
from zermelo.research.replies import MoveWorth, ProofState, Worth
from zermelo.web.board import Board, draw_board, line_path, side_colours, stones
from zermelo.web.errors import Offer, TroubleError
from zermelo.web.finding import Way, asked_position
from zermelo.web.machine_moves import find_proof, machine_move, proved_worths
from zermelo.web.page import Page, page_routes, wants_html
from zermelo.web.pages.games import find_game
from zermelo.web.play_form import choices, sides
from zermelo.web.playing import (
    PROOF,
    Step,
    Table,
    check_machine,
    first_score,
    is_machine,
    last_choice,
    machine_title,
    read_table,
    remembered_way,
    steps,
)
from zermelo.web.security import household
from zermelo.web.site import site_of
from zermelo.web.words import path_part

REVERSI_BOARDS = ("reversi:4x4", "reversi:6x6", "reversi:8x8")
#: The last moves that scripts can show one after the other.
FRAMES = 6
REFRESH_SECONDS = 2


@dataclass(frozen=True, slots=True)
class Result:
    """How a game ended; the score is that of the first side."""

    score: int
    winner: str
    why: str
    #: The number of the stored game.
    stored: int | None


@dataclass(frozen=True, slots=True)
class PlayPage:
    game: str
    first: str
    second: str
    moves: list[str]
    position: str
    #: Who is to move; empty at the end.
    mover: str
    legal: list[str]
    hint: str
    #: For the side to move, where one plays against a proof.
    worth: Worth | None
    result: Result | None


def routes() -> list[Route]:
    return [
        *page_routes("/play", choose_game, csv=False),
        Route("/play/{spec:path}", begin, methods=["POST"]),
        *page_routes("/play/{spec:path}", play, csv=False),
    ]


async def choose_game(request: Request) -> Page:
    others = [game for game in listed_games() if game.name != "reversi"]
    return Page("Play", "play/games.html", {"reversi": REVERSI_BOARDS, "games": others})


async def begin(request: Request) -> Response:
    """Settings from the form become the address of a game."""
    game = find_game(request.path_params["spec"])
    form = {name: str(value) for name, value in (await request.form()).items()}
    if "first" not in form:
        try:
            form |= sides(game, form)
        except PlayerError as error:
            raise _no_opponent(game, error) from None
    table = replace(
        read_table(game.short_spec, form, []), sitting=site_of(request).sittings.begin()
    )
    _check(game, table)
    return RedirectResponse(table.link(), 303)


async def play(request: Request) -> Page | Response:
    game = find_game(request.path_params["spec"])
    query = request.query_params
    if "first" not in query:
        return await _settings(request, game)
    _, moves = asked_position(request)
    table = read_table(game.short_spec, query, moves)
    _check(game, table)
    way = remembered_way(game, moves)
    if len(way.names) < len(moves):
        raise _illegal(game, table, way)
    more = await _moves_by_themselves(request, game, table, way)
    if more:
        form = "" if wants_html(request) else ".json"
        return RedirectResponse(table.link(form=form, moves=(*way.names, *more)), 303)
    return await _board_page(request, game, table, way)


# -- inside ---------------------------------------------------------------------------------


async def _moves_by_themselves(
    request: Request, game: Game[Any], table: Table, way: Way
) -> list[str]:
    """Forced passes and moves of machines, up to the next choice of a person.

    Of two machines each makes a move when somebody asks for it.
    """
    made: list[str] = []
    at, watching = way.end, not table.people
    may_think = not watching or "step" in request.query_params
    while moves := game.moves(at):
        mover = table.mover(len(way.names) + len(made))
        if is_forced_pass(game, moves):
            name = PASS_NAME
        elif is_machine(mover) and may_think:
            name = await machine_move(request, game, table, at, mover)
            may_think = not watching
        else:
            break
        at = game.play(at, game.find_move(at, name))
        made.append(name)
    return made


async def _board_page(request: Request, game: Game[Any], table: Table, way: Way) -> Page:
    legal = game.line_names(game.moves(way.end))
    over = not legal
    made = steps(game, table, way)
    mover = "" if over else table.mover(len(way.names))
    hint = ""
    if "hint" in request.query_params and mover and not is_machine(mover):
        hint = await machine_move(request, game, table, way.end, _hinter(game, table))
    worths = await proved_worths(request, game, [way.end]) if PROOF in table.machines else None
    result = await _result(request, game, table, way) if over else None
    told = PlayPage(
        game.short_spec, table.first, table.second, way.names, game.format(way.end), mover, legal,
        hint, worths[0] if worths else None, result,
    )  # fmt: skip
    choice = last_choice(made)
    pictures = _Pictures(game, way, table.lines)
    counts = count_pieces(pictures[-1])
    return Page(f"Play {game.short_spec}", "play/board.html", told, view={
        "board": _board(pictures, table, legal if mover and not is_machine(mover) else [], hint),
        "table": table, "counts": counts if any(counts) else None, "symbols": side_signs(game),
        "colours": side_colours(game), "rules": game.title, "turns_pieces": game.turns_pieces,
        "news": made[choice:], "watching": not table.people,
        "person_to_move": mover in table.people,
        "undo": table.link(moves=way.names[:choice]) if made and table.people else "",
        "refresh": REFRESH_SECONDS, "frames": json.dumps(_frames(pictures, made)),
        "finished": over, "by": by(abs(result.score), game.max_score) if result else "",
    })  # fmt: skip


class _Pictures:
    """The boards of a game by their plies, each made once."""

    def __init__(self, game: Game[Any], way: Way, lines: bool) -> None:
        self.game, self.way, self._lines = game, way, lines
        self._made: dict[int, Picture] = {}

    def __getitem__(self, ply: int) -> Picture:
        if ply < 0:
            ply += len(self.way.positions)
        if ply not in self._made:
            self._made[ply] = self.game.picture(self.way.positions[ply])
        return self._made[ply]

    def captures(self, ply: int) -> str:
        """The lines of what the move to this ply captured, if they are to be shown."""
        if not self._lines or not ply:
            return ""
        runs = self.game.captures(self.way.positions[ply - 1], self.way.moves[ply - 1])
        return line_path(self[ply - 1], runs)


def _board(pictures: _Pictures, table: Table, legal: list[str], hint: str) -> Board:
    game, way = pictures.game, pictures.way
    unknown = Worth(ProofState.UNKNOWN, -game.max_score, game.max_score)
    return draw_board(
        game, way.end, [MoveWorth(name, unknown, name == hint, False) for name in legal],
        lambda name: table.link(moves=(*way.names, name)),
        way.last(len(way.moves)),
        picture=pictures[-1], playing=True, captures=pictures.captures(len(way.moves)),
    )  # fmt: skip


def _frames(pictures: _Pictures, made: list[Step]) -> list[dict[str, Any]]:
    """The discs before the last moves that are told and after each of them, with the lines of
    captures."""
    first = max(last_choice(made), len(made) - FRAMES)
    return [
        {
            "ply": ply, "who": made[ply - 1].who if ply else "",
            "move": made[ply - 1].move if ply else "",
            "discs": {f"{stone.x:g},{stone.y:g}": stone.colour
                      for stone in stones(pictures[ply]) if stone.shape == "disc"},
            "lines": pictures.captures(ply),
        }
        for ply in range(first, len(made) + 1)
    ]  # fmt: skip


async def _result(request: Request, game: Game[Any], table: Table, way: Way) -> Result:
    score = first_score(game, way)
    winner = "" if not score else table.first if score > 0 else table.second
    stored = await _stored(request, game, table, way, score)
    return Result(score, winner, game.why_over(way.end, way.names), stored)


async def _stored(
    request: Request, game: Game[Any], table: Table, way: Way, score: int
) -> int | None:
    """The number under which the sitting's game is stored; None if it is not."""
    site = site_of(request)
    began_at = site.sittings.began_at(table.sitting)
    if began_at is None:
        return None
    found = await site.archive.find(table.sitting)
    if found is not None:
        return found
    opponent = table.machines[-1] if table.machines else ""
    return await site.archive.store(
        PlayedGame(
            id=None, spec=game.spec, position=None, first=table.first, second=table.second,
            moves=way.names, final=game.format(way.end), score=score, started_at=began_at,
            seconds=max(0.0, (datetime.now(UTC) - began_at).total_seconds()),
            person=table.people[0] if table.people else "", opponent=opponent,
            device=_device(request), depth=depth_of(opponent), sitting=table.sitting,
        ),
        household(request.scope),
    )  # fmt: skip


def _device(request: Request) -> str:
    """The kind of device, as its browser tells it."""
    agent = request.headers.get("user-agent", "")
    if "iPad" in agent or "Tablet" in agent:
        return "tablet"
    return "phone" if "Mobi" in agent else "computer"


async def _settings(request: Request, game: Game[Any]) -> Page:
    proof = await find_proof(site_of(request), game)
    data = {"game": game.short_spec, "proof": proof, **choices(game)}
    return Page(f"Play {game.short_spec}", "play/settings.html", data, view={
        "turns_pieces": game.turns_pieces, "board": draw_board(game, game.initial()),
        "symbols": side_signs(game), "machine_title": machine_title,
    })  # fmt: skip


def _hinter(game: Game[Any], table: Table) -> str:
    """Who tells a hint: the opponent, or between people a fair player."""
    if table.machines:
        return table.machines[0]
    return look_ahead(game).fair


def _check(game: Game[Any], table: Table) -> None:
    for machine in table.machines:
        try:
            check_machine(machine, game)
        except PlayerError as error:
            raise _no_opponent(game, error) from None


def _no_opponent(game: Game[Any], error: PlayerError) -> TroubleError:
    return TroubleError(400, "No such opponent", f"{error}.", [_settings_offer(game)])


def _settings_offer(game: Game[Any]) -> Offer:
    return Offer(f"settings of {game.short_spec}", f"/play/{path_part(game.short_spec)}")


def _illegal(game: Game[Any], table: Table, way: Way) -> TroubleError:
    name = table.moves[len(way.names)]
    behind = f"after {' '.join(way.names)}" if way.names else "at the start"
    return TroubleError(
        404, "Illegal move", f"{name[:40]!r} is no legal move {behind}.",
        [Offer(f"the position {behind}", table.link(moves=tuple(way.names))),
         _settings_offer(game)],
    )  # fmt: skip
