"""The player that plays from a campaign's proof, beside those of `zermelo.players`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zermelo import players
from zermelo.engine import open_engine
from zermelo.engine.securing import securing_move
from zermelo.games import Game, Move
from zermelo.players import Player, PlayerError
from zermelo.players.looking import LookingPlayer
from zermelo.players.solving import DEFAULT_NODES, FALLBACK_PLIES, HASH_MB, solved_move
from zermelo.research.replies import Worth

if TYPE_CHECKING:
    from zermelo.research.tree_queries import TreeQueries


def open_player(
    name: str, game: Game[Any], *, seed: int | None = None, queries: TreeQueries | None = None
) -> Player:
    """The player of this name; `queries` are the tree that ``proof`` plays from."""
    if name != "proof":
        return players.open_player(name, game, seed=seed)
    if queries is None:
        raise PlayerError("the player 'proof' needs a campaign; name it with --campaign")
    if queries.game != game:
        raise PlayerError(
            f"campaign {queries.campaign.name!r} is of {queries.game.short_spec},"
            f" not of {game.short_spec}"
        )
    return ProofPlayer(queries, DEFAULT_NODES)


class ProofPlayer:
    """Never gives up what is proved.

    Where the tree has a move that is best, or secures what is proved, it is played. Below
    the frontier the engine must keep the bound that was secured last.
    """

    def __init__(self, queries: TreeQueries, nodes: int) -> None:
        self.name = "proof"
        self._queries, self._nodes = queries, nodes
        self._game = queries.game
        self._engine = open_engine(self._game, hash_mb=HASH_MB)
        self._looking = LookingPlayer(
            self._game, FALLBACK_PLIES, self._engine.guess, self.name
        )
        self._secured = -self._game.max_score
        self._chosen: dict[Any, tuple[Move | None, Worth]] = {}

    def begin(self) -> None:
        self._secured = -self._game.max_score

    def choose(self, position: Any) -> Move:
        if position not in self._chosen:
            self._chosen[position] = self._queries.proved_move(position)
        move, worth = self._chosen[position]
        self._secured = max(self._secured, worth.lo)
        if move is not None:
            return move
        solved = solved_move(self._engine, position, self._nodes)
        if solved is not None:
            return solved
        if self._secured > -self._game.max_score:
            # It is proved that there is such a move, so the search may take what it takes.
            kept = securing_move(self._engine, position, self._secured)
            if kept is not None:
                return kept
        return self._looking.choose(position)
