"""Published numbers of positions against those that our rules reach."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from zermelo.engine import open_engine
from zermelo.engine.definition import DefinitionEngine
from zermelo.games import Key, open_game
from zermelo.games.definition.game import DefinedGame
from zermelo.games.definition.reference import PASS, DefinedPosition

#: All positions that can be reached; what only passes before the same side moves again is none.
POSITIONS = {
    "mnk:3x3": 5_478,
    "connect-four:4x4": 161_029, "connect-four:5x4": 1_706_255, "connect-four:4x5": 3_945_711,
    "kalah:2x2,over=mover": 40, "kalah:4x3,over=mover": 5_283_478,
}  # fmt: skip
#: Positions after so many moves.
CONNECT_FOUR_BY_PLY = (
    1, 7, 49, 238, 1_120, 4_263, 16_422, 54_859, 184_275, 558_186, 1_662_623,
)  # fmt: skip
#: Of the L-game's pieces, whoever moves; up to turning and reflecting the board.
ARRANGEMENTS, DIFFERENT_ARRANGEMENTS = 18_368, 2_296


class Reached:
    """The positions that can be reached in a game, by the kernel's rules."""

    def __init__(self, spec: str) -> None:
        self.game = cast(DefinedGame, open_game(spec))
        self._core = cast(DefinitionEngine, open_engine(self.game, hash_mb=1)).core

    def by_ply(self) -> Iterator[int]:
        """How many positions come up first after 0, 1, 2, … moves."""
        level = {self.game.encode(self.game.initial())}
        seen = set(level)
        while level:
            passing, below = 0, set()
            for key in level:
                moves = self._after(key)
                passing += bool(moves) and moves[0][0] == PASS
                below.update(after for _, after in moves)
            yield len(level) - passing
            level = below - seen
            seen |= level

    def positions(self) -> int:
        return sum(self.by_ply())

    def arrangements(self) -> set[tuple[int, ...]]:
        """Boards between turns, by their planes: how long play lasts already does not count."""
        start = self.game.initial()
        seen, open_ones = {start}, [start]
        while open_ones:
            for _, key in self._after(self.game.encode(open_ones.pop())):
                position = self._at_clock_zero(self.game.decode(key))
                if position not in seen:
                    seen.add(position)
                    open_ones.append(position)
        return {one.planes for one in seen if not any(one.counters) and not one.passing}

    def different(self, arrangements: set[tuple[int, ...]]) -> int:
        """How many remain of which none is another turned or reflected."""
        start, names = self.game.initial(), self.game.symmetry_names()
        return len({
            min(image.planes for image, name in zip(
                self.game.symmetries(replace(start, planes=planes)), names, strict=True
            ) if not name.endswith("+exchange"))
            for planes in arrangements
        })

    def _after(self, key: Key) -> list[tuple[int, Key]]:
        found = self._core.children(key)
        return [] if isinstance(found, int) else found

    def _at_clock_zero(self, position: DefinedPosition) -> DefinedPosition:
        limit = self.game.compiled.tables.limit
        return position if limit is None else replace(position, counters=tuple(
            0 if place == limit.clock else count for place, count in enumerate(position.counters)
        ))


def print_counts(prefix: str) -> int:
    """Count what is published and print the table; how many counts differ."""
    wrong = 0

    def tell(what: str, published: int, found: int, started: float) -> None:
        nonlocal wrong
        wrong += found != published
        print(f"{what:42} {published:12,} published, {found:12,} found,"
              f" {time.process_time() - started:8.1f} s  {'' if found == published else 'DIFFERS'}",
              flush=True)

    for spec, published in POSITIONS.items():
        if spec.startswith(prefix):
            started = time.process_time()
            tell(spec, published, Reached(spec).positions(), started)
    if "connect-four:6x7".startswith(prefix):
        started, levels = time.process_time(), Reached("connect-four:6x7").by_ply()
        for ply, published in enumerate(CONNECT_FOUR_BY_PLY):
            tell(f"connect-four:6x7 after {ply} moves", published, next(levels), started)
    if "l-game:".startswith(prefix):
        started, reached = time.process_time(), Reached("l-game:")
        boards = reached.arrangements()
        tell("l-game: arrangements", ARRANGEMENTS, len(boards), started)
        tell("l-game: up to symmetry", DIFFERENT_ARRANGEMENTS, reached.different(boards), started)
    return wrong
