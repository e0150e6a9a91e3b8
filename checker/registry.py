"""Checkers by the family of the game whose certificates they check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zermelo.checker.interface import Checker
from zermelo.checker.plain import PlainChecker
from zermelo.games import Game
from zermelo.games.registry import Registry

checkers: Registry[Callable[[Any], Checker]] = Registry("checker", "zermelo.checkers")
checkers.register("definition", "zermelo.checker.definition_checker:open_definition_checker")
checkers.register("go", "zermelo.checker.go_checker:GoChecker")
checkers.register("reversi", "zermelo.checker.reversi_checker:ReversiChecker")


def open_checker(game: Game[Any]) -> Checker:
    """The checker that is registered for the game, else the plain one."""
    return (checkers.find(game.family) or PlainChecker)(game)
