"""Players for one: they look for a way to a win, and then follow it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, cast

from zermelo.engine.definition import DefinitionEngine
from zermelo.games import Game, Key, Move
from zermelo.games.definition.game import DefinedGame
from zermelo.players.interface import PlayerError

#: Positions that a search looks at; beyond them it plays the first move there is.
MOST_POSITIONS = 2_000_000
#: What can be done in a position: moves with keys after them; or the score, if it is over.
Children = Callable[[Key], list[tuple[Move, Key]] | int]


class PlanningPlayer:
    """Depth first or breadth first, without meeting a position twice. Breadth first finds a way
    of the fewest moves."""

    def __init__(self, game: Game[Any], name: str, *, deep: bool) -> None:
        if not game.solo:
            raise PlayerError(
                f"{name} plays games for one player, such as frogs:3x3; {game.short_spec} has two"
            )
        self.name = name
        self._game, self._deep = game, deep
        # Only definitions have games for one player.
        engine = DefinitionEngine(cast(DefinedGame, game), hash_mb=1)
        self._children: Children = engine.core.children
        self._plan: dict[Key, Move] = {}

    def begin(self) -> None:
        self._plan = {}

    def choose(self, position: Any) -> Move:
        key = self._game.encode(position)
        if key not in self._plan:
            if position.turn == 0:
                self._plan.update(self._search(key))
            self._plan.setdefault(key, self._game.moves(position)[0])
        return self._plan[key]

    def _search(self, start: Key) -> dict[Key, Move]:
        """The moves on the way to a win for the first player; none if there is no such way."""
        came: dict[Key, tuple[Key, Move] | None] = {start: None}
        waiting = deque([start])
        while waiting and len(came) < MOST_POSITIONS:
            key = waiting.pop() if self._deep else waiting.popleft()
            found = self._children(key)
            if isinstance(found, int):
                second = self._game.decode(key).turn
                if (-found if second else found) > 0:
                    return _way(came, key)
                continue
            for move, after in reversed(found) if self._deep else found:
                if after not in came:
                    came[after] = key, move
                    waiting.append(after)
        return {}


def _way(came: dict[Key, tuple[Key, Move] | None], key: Key) -> dict[Key, Move]:
    way: dict[Key, Move] = {}
    while (step := came[key]) is not None:
        key, move = step
        way[key] = move
    return way
