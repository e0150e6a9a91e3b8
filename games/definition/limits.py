"""What a definition may ask for. All of it is checked before anything large is built."""

from __future__ import annotations

MOST_TEXT_BYTES = 16 << 10
MOST_NESTING = 16
MOST_EXPRESSION = 400  # characters of one expression
MOST_CELLS = 128
MOST_PIECE_KINDS = 8
MOST_COUNTERS = 64
MOST_RULES = 32
#: The number of the pass comes right behind the largest number of a move.
MOST_MOVES = 1000
MOST_LINES = 4096
MOST_INSTANCES = 65_536
MOST_PLIES = 1024
MOST_STATE_BITS = 128
MOST_SCORE = 127
#: Numbers in expressions, and all values that an expression can take, are at most this large.
MOST_NUMBER = 1_000_000
#: Nodes of expressions that grounding may make: a definition compiles within a second.
MOST_WORK = 40_000
