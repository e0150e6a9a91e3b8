"""From an address to a campaign and a position; what is not there is answered with what is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from urllib.parse import quote

from starlette.requests import Request

from zermelo.games import Game, GameError, Move, open_game
from zermelo.research.api import TreeCampaigns
from zermelo.research.replies import Provenance, ResultRecord
from zermelo.research.tree_queries import TreeQueries
from zermelo.server.campaigns import CampaignError
from zermelo.web.errors import HOME, MOST_OFFERS, Offer, TroubleError, nearest
from zermelo.web.words import path_part

#: More moves than any game has.
MOST_MOVES = 1000
#: Campaigns whose games are tried on a text that is no position of the one asked about.
MOST_TRIED = 20


def campaign_href(name: str, below: str = "") -> str:
    return f"/campaigns/{path_part(name)}{below}"


def position_href(
    campaign: str, moves: Sequence[str], text: str | None = None, below: str = "/position"
) -> str:
    """The address of a position: the moves that lead there, from the start or from a text."""
    parts = [f"p={quote(text)}"] if text is not None else []
    if moves:
        parts.append("moves=" + ",".join(quote(move, safe="") for move in moves))
    return campaign_href(campaign, below) + ("?" + "&".join(parts) if parts else "")


def asked_position(request: Request) -> tuple[str | None, list[str]]:
    """The text and the moves of an address; commas or spaces are between moves."""
    moves = request.query_params.get("moves", "").replace(",", " ").split()
    if len(moves) > MOST_MOVES:
        raise TroubleError(400, "Too many moves", f"A game has at most {MOST_MOVES} moves.")
    return request.query_params.get("p") or None, moves


def find_campaign(campaigns: TreeCampaigns, name: str) -> TreeQueries:
    """What can be asked about a campaign; a page with similar names where there is none."""
    try:
        return campaigns.campaign(name)
    except CampaignError:
        close = nearest(name, campaigns.campaigns())
        raise TroubleError(
            404, "No such campaign", f"There is no campaign {name!r}.",
            [*(Offer(each, campaign_href(each)) for each in close), HOME],
        ) from None  # fmt: skip


@dataclass(frozen=True, slots=True)
class Way:
    """How a position was reached: each position but the last with the move made there."""

    positions: list[Any]
    moves: list[Move]
    names: list[str]

    @property
    def end(self) -> Any:
        return self.positions[-1]

    def last(self, ply: int) -> tuple[Any, Move] | None:
        """The move that led to a ply, behind the position before it; None at the start."""
        return (self.positions[ply - 1], self.moves[ply - 1]) if ply else None


def walk(
    campaigns: TreeCampaigns, queries: TreeQueries, text: str | None, moves: Sequence[str]
) -> Way:
    """The way that an address tells; a page that offers the nearest right one if it is wrong."""
    game = queries.game
    try:
        at = queries.start if text is None else game.parse(text)
    except GameError as error:
        raise _other_game(campaigns, queries, str(text), error) from None
    way = follow(game, at, moves)
    if len(way.moves) < len(moves):
        raise _illegal(queries, way, text, moves[len(way.moves)])
    return way


def follow(game: Game[Any], at: Any, moves: Sequence[str]) -> Way:
    """The way from a position as far as the moves are legal."""
    way = Way([at], [], [])
    for name in moves:
        try:
            move = game.find_move(at, name)
        except GameError:
            break
        at = game.play(at, move)
        way.positions.append(at)
        way.moves.append(move)
        way.names.append(game.move_name(move))
    return way


def _illegal(queries: TreeQueries, way: Way, text: str | None, name: str) -> TroubleError:
    game = queries.game
    legal = [game.move_name(move) for move in game.moves(way.end)]
    behind = f"after {' '.join(way.names)}" if way.names else "at the start"
    told = f"the moves there are {' '.join(legal)}" if legal else "the game is over there"
    last_right = Offer(
        f"the position {behind}", position_href(queries.name, way.names, text)
    )
    near = [] if not legal else nearest(name, legal)[: MOST_OFFERS // 2]
    offers = [Offer(f"{each} instead", position_href(queries.name, [*way.names, each], text))
              for each in near]  # fmt: skip
    return TroubleError(
        404, "Illegal move", f"{name[:40]!r} is no legal move {behind}: {told}.",
        [last_right, *offers],
    )  # fmt: skip


def _other_game(
    campaigns: TreeCampaigns, queries: TreeQueries, text: str, error: GameError
) -> TroubleError:
    offers = [Offer("the start of this campaign", position_href(queries.name, []))]
    for standing in campaigns.some_standings(MOST_TRIED):
        if standing.campaign != queries.name and _reads(open_game(standing.game), text):
            offers.append(
                Offer(f"this position in {standing.campaign}",
                      position_href(standing.campaign, [], text))
            )  # fmt: skip
    return TroubleError(
        400, "Not a position of this game",
        f"The text is no position of {queries.game.short_spec}: {error}.", offers,
    )  # fmt: skip


def _reads(game: Game[Any], text: str) -> bool:
    try:
        game.parse(text)
    except GameError:
        return False
    return True


H = TypeVar("H", Provenance, ResultRecord)


def without_host_names(records: Sequence[H]) -> list[H]:
    """What computers are called is their owners' business; their numbers tell them apart."""
    return [replace(record, host_name="") for record in records]
