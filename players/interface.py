"""What a player is."""

from __future__ import annotations

from typing import Any, Protocol

from zermelo import ZermeloError
from zermelo.games import Move


class PlayerError(ZermeloError, ValueError):
    """There is no such player, or it cannot play this game."""

    exit_code = 2


class Player(Protocol):
    name: str

    def choose(self, position: Any) -> Move:
        """A legal move; only asked where there is one."""

    def begin(self) -> None:
        """A new game begins."""
