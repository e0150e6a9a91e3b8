"""Reversi (Othello) on any board from 4x4 to 8x8: the reference rules.

Written to be read, not to be fast: the compiled engine is tested against this
module. Both share one layout, whatever the size of the board::

        a   b   c        h
    1   0   1   2  ...   7        square = 8 * row + column
    2   8   9  10  ...  15        smaller boards use the upper left corner,
       ...                        the squares beyond them stay empty for ever
    8  56  57  58  ...  63

A position holds the discs of the side to move (`own`) and of the other side
(`opponent`), so that colours play no part in its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from zermelo.games.interface import KEY_BYTES, Game, GameError, Key, Move, Score
from zermelo.games.picture import (
    BLACK_STONE,
    WHITE_STONE,
    Ground,
    Picture,
    Touch,
    TouchKind,
    grid_picture,
)
from zermelo.games.position_text import black_to_move
from zermelo.games.spec import format_spec, parse_spec
from zermelo.games.symmetry import permute, symmetry_maps

Square = int
Bitboard = int

PASS: Move = 64
STRIDE = 8
DIRECTIONS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
OPTIONS = {"start": ("diagonal", "parallel"), "scoring": ("raw", "wof")}
DEFAULTS = {option: values[0] for option, values in OPTIONS.items()}

BLACK_SIGNS = "Xx*"
WHITE_SIGNS = "Oo"
EMPTY_SIGNS = "-._"
FEWEST_DISCS = 4
DISCS = {"X": BLACK_STONE, "O": WHITE_STONE}

RULES = [
    "X moves first. A disc is put on an empty square so that it encloses a straight run of the"
    " other side's discs between itself and another disc of its own side; all runs enclosed are"
    " turned over.",
    "Who cannot turn any disc passes. If neither side can, the game is over.",
    "The score is the number of own discs minus the other side's.",
]


@dataclass(frozen=True, slots=True)
class ReversiPosition:
    own: Bitboard
    opponent: Bitboard
    #: Which colour is to move. For people only: it changes no value.
    black_to_move: bool = field(default=True, compare=False)


class Reversi(Game[ReversiPosition]):
    name = "reversi"
    title = "Reversi (Othello) on boards from 4x4 to 8x8"
    turns_pieces = True

    def __init__(
        self, rows: int, cols: int, *, start: str = "diagonal", scoring: str = "raw"
    ) -> None:
        self.rows, self.cols = rows, cols
        self.start, self.scoring = start, scoring
        options = {"start": start, "scoring": scoring}
        self.spec = format_spec(self.name, rows, cols, options, {})
        self.short_spec = format_spec(self.name, rows, cols, options, DEFAULTS)
        self.max_score = rows * cols
        self.squares: list[Square] = [
            STRIDE * row + col for row in range(rows) for col in range(cols)
        ]
        self.mask: Bitboard = sum(1 << square for square in self.squares)
        self._rays = {square: self._rays_from(square) for square in self.squares}
        #: The same as bits, and those next to the square: most squares touch no disc to turn.
        self._lines = {
            square: [[1 << step for step in ray] for ray in rays]
            for square, rays in self._rays.items()
        }
        self._nearest: dict[Square, Bitboard] = {
            square: sum(line[0] for line in lines) for square, lines in self._lines.items()
        }
        self.square_symmetries = symmetry_maps(rows, cols, STRIDE)

    @classmethod
    def from_spec(cls, text: str) -> Reversi:
        spec = parse_spec(text)
        rows, cols = spec.size(4, 8)
        return cls(rows, cols, **spec.choices(OPTIONS))

    # -- rules ---------------------------------------------------------------------

    def initial(self) -> ReversiPosition:
        row, col = self.rows // 2 - 1, self.cols // 2 - 1
        upper_left = 1 << STRIDE * row + col
        upper_right, lower_left = upper_left << 1, upper_left << STRIDE
        lower_right = lower_left << 1
        if self.start == "diagonal":
            return ReversiPosition(upper_right | lower_left, upper_left | lower_right)
        return ReversiPosition(lower_left | lower_right, upper_left | upper_right)

    def flips(self, position: ReversiPosition, square: Square) -> Bitboard:
        """The discs that a disc on this square turns over; none where it cannot be put."""
        own, opponent = position.own, position.opponent
        if not opponent & self._nearest[square] or (own | opponent) >> square & 1:
            return 0
        flipped = 0
        for line in self._lines[square]:
            run = 0
            for disc in line:
                if opponent & disc:
                    run |= disc
                    continue
                if own & disc:
                    flipped |= run
                break
        return flipped

    def moves(self, position: ReversiPosition) -> list[Move]:
        placements = self._placements(position)
        if placements or not self._placements(_other_side(position)):
            return placements
        return [PASS]

    def is_final(self, position: ReversiPosition) -> bool:
        # One move of either side is enough to know.
        return not any(
            self.flips(at, square)
            for at in (position, _other_side(position)) for square in self.squares
        )  # fmt: skip

    def play(self, position: ReversiPosition, move: Move) -> ReversiPosition:
        if move == PASS:
            if self.moves(position) != [PASS]:
                raise GameError("a pass is legal only when no disc can be put but the other can")
            return _other_side(position)
        if move not in self._rays:
            raise GameError(f"move {move} is not on the board")
        flipped = self.flips(position, move)
        if not flipped:
            raise GameError(f"{self.move_name(move)} turns no disc over")
        return ReversiPosition(
            position.opponent & ~flipped,
            position.own | flipped | 1 << move,
            not position.black_to_move,
        )

    def score(self, position: ReversiPosition) -> Score:
        own, opponent = position.own.bit_count(), position.opponent.bit_count()
        difference = own - opponent
        if self.scoring == "wof" and difference:
            empties = self.plies_left(position)
            return difference + empties if difference > 0 else difference - empties
        return difference

    # -- hints ------------------------------------------------------------------------

    def evaluate(self, position: ReversiPosition) -> Score:
        mobility = len(self._placements(position)) - len(self._placements(_other_side(position)))
        corners = _corner_mask(self.rows, self.cols)
        owned = (position.own & corners).bit_count() - (position.opponent & corners).bit_count()
        guess = 2 * mobility + 8 * owned
        return max(-self.max_score, min(self.max_score, guess))

    def plies_left(self, position: ReversiPosition) -> int:
        return len(self.squares) - (position.own | position.opponent).bit_count()

    # -- identity ---------------------------------------------------------------------

    def encode(self, position: ReversiPosition) -> Key:
        return position.own.to_bytes(8, "big") + position.opponent.to_bytes(8, "big")

    def decode(self, key: Key, history: bytes = b"") -> ReversiPosition:
        if len(key) != KEY_BYTES or history:
            raise GameError(f"a {self.name} key is {KEY_BYTES} bytes without history")
        own, opponent = int.from_bytes(key[:8], "big"), int.from_bytes(key[8:], "big")
        if own & opponent or (own | opponent) & ~self.mask:
            raise GameError(f"key {key.hex()} is no {self.short_spec} position")
        return ReversiPosition(own, opponent)

    def symmetries(self, position: ReversiPosition) -> list[ReversiPosition]:
        return [
            ReversiPosition(
                permute(position.own, image),
                permute(position.opponent, image),
                position.black_to_move,
            )
            for image in self.square_symmetries
        ]

    # -- text -------------------------------------------------------------------------

    def parse(self, text: str) -> ReversiPosition:
        """OBF (``SQUARES SIDE; comments``) or rows of ``X O -`` followed by the side."""
        *rows, side = text.partition(";")[0].replace("/", " ").split() or [""]
        cells = "".join(rows)
        blacks_turn = black_to_move(side, text, BLACK_SIGNS, WHITE_SIGNS)
        if len(cells) != len(self.squares):
            raise GameError(
                f"position has {len(cells)} squares; {self.rows}x{self.cols} has"
                f" {len(self.squares)}"
            )
        black = white = 0
        for square, sign in zip(self.squares, cells, strict=True):
            if sign in BLACK_SIGNS:
                black |= 1 << square
            elif sign in WHITE_SIGNS:
                white |= 1 << square
            elif sign not in EMPTY_SIGNS:
                raise GameError(
                    f"{sign!r} on {self.move_name(square)} is no disc; use X, O or -"
                )
        discs = (black | white).bit_count()
        if discs < FEWEST_DISCS:
            raise GameError(f"{discs} discs on the board; a game has at least {FEWEST_DISCS}")
        if blacks_turn:
            return ReversiPosition(black, white, True)
        return ReversiPosition(white, black, False)

    def format(self, position: ReversiPosition) -> str:
        cells = "".join(self._sign(position, square) for square in self.squares)
        return f"{cells} {self.side_to_move(position)}"

    def picture(self, position: ReversiPosition) -> Picture:
        pieces = [DISCS.get(self._sign(position, square)) for square in self.squares]
        to_move = f"{self.side_to_move(position)} to move"
        return grid_picture(self.rows, self.cols, pieces, [to_move], ground=Ground.FELT)

    def touch(self, position: ReversiPosition, move: Move) -> Touch:
        if move == PASS:
            return Touch(TouchKind.BUTTON)
        return Touch(TouchKind.PLACE, (self._point(move),))

    def captures(self, position: ReversiPosition, move: Move) -> list[tuple[int, int]]:
        if move == PASS:
            return []
        return [(self._point(move), self._point(end)) for end in self._anchors(position, move)]

    def rules(self) -> list[str]:
        return RULES

    def why_over(self, final: ReversiPosition, moves: Sequence[str]) -> str:
        return "Neither side can move." if self.plies_left(final) else "The board is full."

    def side_to_move(self, position: ReversiPosition) -> str:
        return "X" if position.black_to_move else "O"

    def move_name(self, move: Move) -> str:
        if move == PASS:
            return "pass"
        if move not in self._rays:
            raise GameError(f"move {move} is not on the board")
        row, col = divmod(move, STRIDE)
        return f"{'abcdefgh'[col]}{row + 1}"

    # -- inside -----------------------------------------------------------------------

    def _placements(self, position: ReversiPosition) -> list[Move]:
        return [square for square in self.squares if self.flips(position, square)]

    def _anchors(self, position: ReversiPosition, square: Square) -> list[Square]:
        """The own discs at the far ends of the runs that a disc on this square captures."""
        ends = []
        for ray in self._rays[square]:
            for at, step in enumerate(ray):
                if position.opponent >> step & 1:
                    continue
                if at and position.own >> step & 1:
                    ends.append(step)
                break
        return ends

    def _point(self, square: Square) -> int:
        """The number of a square's point in the picture."""
        row, col = divmod(square, STRIDE)
        return self.cols * row + col

    def _sign(self, position: ReversiPosition, square: Square) -> str:
        signs = "XO" if position.black_to_move else "OX"
        if position.own >> square & 1:
            return signs[0]
        return signs[1] if position.opponent >> square & 1 else "-"

    def _rays_from(self, square: Square) -> list[list[Square]]:
        rays = []
        for down, right in DIRECTIONS:
            row, col = divmod(square, STRIDE)
            ray = []
            while 0 <= (row := row + down) < self.rows and 0 <= (col := col + right) < self.cols:
                ray.append(STRIDE * row + col)
            if len(ray) > 1:
                rays.append(ray)
        return rays


def _other_side(position: ReversiPosition) -> ReversiPosition:
    return ReversiPosition(position.opponent, position.own, not position.black_to_move)


def _corner_mask(rows: int, cols: int) -> Bitboard:
    return sum(1 << STRIDE * row + col for row in (0, rows - 1) for col in (0, cols - 1))
