"""What a text may ask of the checker; docs/games.md states the limits of the language."""

from __future__ import annotations

from zermelo.games import GameError

LONGEST_TEXT = 16 << 10
DEEPEST = 16
LONGEST_EXPRESSION = 400
MOST_CELLS = 128
MOST_KINDS = 8
MOST_COUNTERS = 64
MOST_RULES = 32
MOST_LINES = 4096
MOST_CASES = 65_536
MOST_PLIES = 1024
MOST_BITS = 128
HIGHEST_SCORE = 127
#: Numbers in expressions and all that is computed from them.
LARGEST = 1_000_000
#: Terms that grounding may make. The language allows less; this only bounds time and memory.
MOST_WORK = 100_000


class TextError(GameError):
    """A text is no definition, or one that the checker cannot follow."""


class Work:
    """Counts what grounding has done."""

    def __init__(self) -> None:
        self._done = 0

    def spend(self, amount: int = 1) -> None:
        self._done += amount
        if self._done > MOST_WORK:
            raise TextError(f"grounding the definition takes more than {MOST_WORK} steps")
