"""What players who look ahead by depth can do in a game, and what can be chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from zermelo.games import Game
from zermelo.players.evaluations import open_evaluation
from zermelo.players.interface import Player, PlayerError
from zermelo.players.looking import LookingPlayer

G = TypeVar("G", bound=Game[Any])
#: The most plies that any player looks ahead.
DEEPEST = 10


class LookAhead(Generic[G]):
    """Any game, by its rules in Python. Games with a search of their own have another one,
    registered by family."""

    #: How many plies can be looked ahead while somebody waits.
    deepest: int = 4
    #: Whether the last moves can be played perfectly.
    perfect_end: bool = False
    #: Features that can be weighed, with usual weights; empty where there are none.
    features: Mapping[str, int] = {}
    largest_weight: int = 0
    #: Players of different strength, to watch.
    rivals: Sequence[str] = ("minimax:1", "minimax:3")
    #: A player who is neither weak nor slow.
    fair: str = "uct:500"

    def evaluations(self, game: G) -> Sequence[str]:
        """The names of the evaluations among which people may choose."""
        return ("engine", "rules", "mobility")

    def open(
        self, game: G, plies: int, evaluation: str, perfect: str, name: str
    ) -> Player:
        """The player; `evaluation` and `perfect` as they are written in its name, empty for
        what is usual."""
        if perfect:
            raise PlayerError(
                f"player {name!r}: {game.short_spec} is not played perfectly at the end"
            )
        return LookingPlayer(game, plies, open_evaluation(evaluation or "engine", game), name)
