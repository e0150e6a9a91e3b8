"""Moves of machines for pages: from a proof where there is one, else from the opponents' processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request

from zermelo.games import Game
from zermelo.players import PlayerError
from zermelo.research.api import TreeCampaigns
from zermelo.research.replies import Worth
from zermelo.web.errors import Offer, TroubleError
from zermelo.web.opponents import BusyError, SlowError
from zermelo.web.playing import PROOF, Table
from zermelo.web.security import household
from zermelo.web.site import Site, site_of
from zermelo.web.standing import KEEP_SECONDS
from zermelo.web.words import path_part

#: Below the frontier of a proof the engine may take this many nodes for a move.
NODES_BELOW_PROOF = 20_000_000
#: Who is offered instead of an opponent that takes too long.
WEAKER = ("minimax:1", "random")


async def machine_move(
    request: Request, game: Game[Any], table: Table, position: Any, player: str
) -> str:
    """The name of the move that a player makes in a position."""
    site = site_of(request)
    wait = site.play_rates.wait_needed(household(request.scope))
    here = Offer("try again", table.link(moves=tuple(table.moves)))
    if wait:
        raise TroubleError(
            429, "Too many moves", "Machines make only some moves a second for one address."
            f" Try again in {wait:.0f} s.", [here],
        )  # fmt: skip
    if player == PROOF:
        proved = await _from_proof(site, game, position)
        if proved is not None:
            return proved
        player = f"engine:{NODES_BELOW_PROOF}"
    try:
        return await site.opponents.choose(game, player, position)
    except BusyError:
        raise TroubleError(
            503, "All machines are busy", "Too many visitors are playing just now. Your game is"
            " this address: try again in a moment.", [here],
        ) from None  # fmt: skip
    except SlowError:
        raise TroubleError(
            503, "The machine needs too long", f"{player} did not find a move in time. Go on"
            " against a weaker one, or try again.", [*_weaker(table, player), here],
        ) from None  # fmt: skip
    except PlayerError as error:
        raise TroubleError(
            400, "No such opponent", f"{error}.",
            [Offer("settings", f"/play/{path_part(table.spec)}")],
        ) from None  # fmt: skip


async def find_proof(site: Site, game: Game[Any]) -> str:
    """A finished campaign of the game; empty if there is none."""
    library = site.library
    return await library.keep(
        ("proof", game.spec), KEEP_SECONDS,
        lambda: library.ask(lambda campaigns: campaigns.finished_campaign(game)),
    )  # fmt: skip


async def proved_worths(
    request: Request, game: Game[Any], positions: Sequence[Any]
) -> list[Worth] | None:
    """What is proved about positions; None without a finished campaign."""
    site = site_of(request)
    name = await find_proof(site, game)
    if not name:
        return None
    return await site.library.ask(lambda campaigns: campaigns.campaign(name).worths(positions))


async def _from_proof(site: Site, game: Game[Any], position: Any) -> str | None:
    name = await find_proof(site, game)
    if not name:
        raise TroubleError(
            404, "No proof", f"No campaign has solved {game.short_spec} yet.",
            [Offer("other opponents", f"/play/{path_part(game.short_spec)}")],
        )  # fmt: skip

    def look(campaigns: TreeCampaigns) -> str | None:
        move, _ = campaigns.campaign(name).proved_move(position)
        return None if move is None else game.move_name(move)

    return await site.library.ask(look)


def _weaker(table: Table, player: str) -> list[Offer]:
    def instead(name: str, other: str) -> str:
        return other if name == player else name

    return [
        Offer(f"go on against {other}", table.link(
            first=instead(table.first, other), second=instead(table.second, other)
        ))
        for other in WEAKER if other != player
    ]  # fmt: skip
