"""Engines and trainers by the family of the game they serve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from zermelo.engine.interface import Engine
from zermelo.engine.shared_table import SharedTable
from zermelo.games.registry import Registry


class EngineFactory(Protocol):
    """Opens an engine for one game of its family."""

    def __call__(
        self, game: Any, *, threads: int, hash_mb: int, shared: SharedTable | None
    ) -> Engine:
        """`EngineError` where the engine cannot do what is asked for, such as threads.

        An engine that cannot use a shared table makes one of its own.
        """


@dataclass(frozen=True, slots=True)
class Lessons:
    """How much work to put into training; None: what the shipped weights were made with."""

    positions: int | None = None
    exact_empties: int | None = None
    depth: int | None = None
    threads: int = 1


#: What training tells about itself, a line at a time.
Tell = Callable[[str], None]
#: The weights as bytes, and where they come from.
Trained = tuple[bytes, dict[str, Any]]


class Trainer(Protocol):
    """Makes the weights of a game's engine from positions that the engine solves itself."""

    def __call__(self, game: Any, lessons: Lessons, tell: Tell) -> Trained:
        """`EngineError` where there is nothing to train, or not in the way asked for."""


engines: Registry[EngineFactory] = Registry("engine", "zermelo.engines")
engines.register("definition", "zermelo.engine.definition:open_definition_engine")
engines.register("go", "zermelo.engine.go:open_go_engine")
engines.register("go-territory", "zermelo.engine.go:open_territory_engine")
engines.register("reversi", "zermelo.engine.reversi:ReversiEngine")

#: Families whose engine searches with two threads as many nodes as with one, each of them as fast.
searched_in_pairs = frozenset({"reversi"})

trainers: Registry[Trainer] = Registry("trainer", "zermelo.trainers")
trainers.register("go", "zermelo.engine.conquest_training:train_go")
trainers.register("reversi", "zermelo.engine.training:train_reversi")
