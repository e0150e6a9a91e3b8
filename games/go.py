"""Go on any board from 1x1 to 7x7: the reference rules.

Written to be read, not to be fast: the compiled engine is tested against this module.
`docs/go.md` states the rules in words; the choices a spec makes are

``ko``
    ``psk``: no stone may recreate a board that was there before (positional superko).
    ``ssk``: nor one with the same side to move (situational superko).
    ``basic``: only the immediate recapture is forbidden; a situation (stones, side to
    move, ko point, passes) that comes back ends the game.
``cycle`` (``basic`` only)
    what such an end is worth: ``draw`` 0, ``passes`` the whole board for the side that
    passed more often within the cycle, 0 if both did equally.
``suicide``
    ``allowed`` for chains of two or more stones. A single stone would leave the board
    as it was, so that is never a move.
``komi``
    what White gets on top, a whole number.
``scoring``
    ``area``: stones and the empty points they surround. ``territory``: these points and the
    stones captured; stones that stay on the board when both pass count as alive.

A pass is always legal; two passes in a row end the game.
"""

from __future__ import annotations

import re
from dataclasses import replace

from zermelo.games.go_board import LONGEST_SIDE, Bitboard, Board, Point
from zermelo.games.go_keys import decode_position, encode_history, encode_position
from zermelo.games.go_position import NO_KO, PASS, GoPosition, Past
from zermelo.games.interface import Game, GameError, Key, Move, Score
from zermelo.games.picture import Picture
from zermelo.games.spec import Spec, format_spec, parse_spec
from zermelo.games.symmetry import Image, permute

__all__ = ["NO_KO", "PASS", "Go", "GoPosition", "Past"]

TERRITORY_FAMILY = "go-territory"
OPTIONS = {
    "ko": ("psk", "ssk", "basic"),
    "cycle": ("draw", "passes"),
    "suicide": ("forbidden", "allowed"),
    "scoring": ("area", "territory"),
}
#: Captures make room again: moves that a game lasts for each point that is empty, by how its
#: search grows from board to board, compared with a game without captures.
PLIES_PER_POINT = 1.44
#: ... and on boards of these sizes, where mostly one side gets everything, which takes less to
#: prove than any other score. (5x5 after a stone in the centre: 78 million nodes.)
DECISIVE_SIZES = range(20, 26)
PLIES_WHERE_DECISIVE = 1.19
#: Such a proof is one search with one table: in parts it takes far more.
DECISIVE_SECONDS = 3000.0
DEFAULTS = {option: values[0] for option, values in OPTIONS.items()} | {"komi": "0"}
_KOMI = re.compile(r"-?[0-9]{1,2}", re.ASCII)

RULES = [
    "X moves first. A stone is put on an empty crossing; groups of the other side without"
    " liberties are taken off. Suicide is forbidden unless the spec allows it.",
    "A board may not come again (positional superko), unless the spec names another rule of ko."
    " A player may pass; two passes end the game.",
    "The score is the area: own stones and the empty crossings that only own stones reach, minus"
    " the other side's.",
]


class Go(Game[GoPosition]):
    name = "go"
    title = "Go on boards up to 7x7"
    path_dependent = True

    def __init__(
        self,
        rows: int,
        cols: int,
        *,
        ko: str = "psk",
        cycle: str = "draw",
        suicide: str = "forbidden",
        komi: int = 0,
        scoring: str = "area",
    ) -> None:
        self.rows, self.cols = rows, cols
        self.ko, self.cycle, self.suicide, self.komi = ko, cycle, suicide, komi
        self.scoring = scoring
        self.board = Board(rows, cols)
        options = {"ko": ko, "cycle": cycle, "suicide": suicide, "komi": str(komi)}
        if self.counts_prisoners:  # the spec of all other games is older than the choice
            options["scoring"] = scoring
        self.spec = format_spec(self.name, rows, cols, options, {})
        self.short_spec = format_spec(self.name, rows, cols, options, DEFAULTS)
        self.max_score = rows * cols * (2 if self.counts_prisoners else 1) + abs(komi)

    @property
    def family(self) -> str:
        """What is compiled for Go proves by area, so that territory is another family: nobody
        who knows area only is found for it."""
        return TERRITORY_FAMILY if self.counts_prisoners else self.name

    def rules(self) -> list[str]:
        return RULES

    @property
    def counts_prisoners(self) -> bool:
        return self.scoring == "territory"

    @classmethod
    def from_spec(cls, text: str) -> Go:
        spec = parse_spec(text)
        rows, cols = spec.size(1, LONGEST_SIDE)
        options = dict(spec.options)
        komi = options.pop("komi", "0")
        if not _KOMI.fullmatch(komi) or abs(int(komi)) > rows * cols:
            raise GameError(
                f"komi={komi!r} is not allowed; choose a whole number from"
                f" {-rows * cols} to {rows * cols}"
            )
        choices = Spec(spec.name, rows, cols, options).choices(OPTIONS)
        if choices["ko"] != "basic" and choices["cycle"] != DEFAULTS["cycle"]:
            raise GameError(f"cycle={choices['cycle']} makes sense with ko=basic only")
        return cls(rows, cols, komi=int(komi), **choices)

    # -- rules ---------------------------------------------------------------------

    def initial(self) -> GoPosition:
        return GoPosition(0, 0)

    def moves(self, position: GoPosition) -> list[Move]:
        if self.is_final(position):
            return []
        empty = self.board.mask & ~(position.black | position.white)
        points = [point for point in self.board.points if empty >> point & 1]
        return [point for point in points if self.after(position, point) is not None] + [PASS]

    def is_final(self, position: GoPosition) -> bool:
        return position.passes == 2 or self._cycle(position) is not None

    def play(self, position: GoPosition, move: Move) -> GoPosition:
        if move != PASS and move not in self.board.points:
            raise GameError(f"move {move} is not on the board")
        if self.is_final(position):
            raise GameError("illegal move: the game is over")
        if move == PASS:
            return self._next(position, position.black, position.white, NO_KO, passed=True)
        if move not in self.board.points:
            raise GameError(f"illegal move {move}: it is no point of this board")
        child = self.after(position, move)
        if child is None:
            raise GameError(f"illegal move {self.move_name(move)}: {self._why(position, move)}")
        return child

    def after(self, position: GoPosition, point: Point) -> GoPosition | None:
        """The position after a stone on this point; `None` where the rules forbid it."""
        stone = 1 << point
        if (position.black | position.white) & stone or not stone & self.board.mask:
            return None
        if point == position.ko:
            return None
        own, opponent = position.own | stone, position.opponent
        captured = self.board.without_liberties(opponent, own)
        opponent &= ~captured
        lost = self.board.without_liberties(own, opponent)
        if lost and (self.suicide == "forbidden" or lost == stone):
            return None
        own &= ~lost
        ko = NO_KO
        if self.ko == "basic" and captured.bit_count() == 1:
            chain = self.board.flood(stone, own)
            liberties = self.board.neighbours(chain) & ~opponent
            if chain == stone and liberties == captured:
                ko = captured.bit_length() - 1
        black, white = (own, opponent) if position.black_to_move else (opponent, own)
        if self.counts_prisoners:
            gained = captured.bit_count() - lost.bit_count()
            gained = gained if position.black_to_move else -gained
            position = replace(position, prisoners=position.prisoners + gained)
        child = self._next(position, black, white, ko, passed=False)
        if self.ko != "basic" and self._repeats(position, child):
            return None
        return child

    def score(self, position: GoPosition) -> Score:
        cycle = self._cycle(position)
        if position.passes < 2 and cycle is not None:
            difference = cycle
        else:
            difference = self.counted_difference(position) - self.komi
        difference = max(-self.max_score, min(self.max_score, difference))
        return difference if position.black_to_move else -difference

    def counted_difference(self, position: GoPosition) -> int:
        """What Black has counted minus what White has, without komi."""
        if not self.counts_prisoners:
            return self.area_difference(position)
        stones = position.black.bit_count() - position.white.bit_count()
        return self.area_difference(position) - stones + position.prisoners

    def area_difference(self, position: GoPosition) -> int:
        """Black's area minus White's as the stones stand, without komi."""
        black = self.board.area(position.black, position.white)
        white = self.board.area(position.white, position.black)
        return black.bit_count() - white.bit_count()

    # -- hints ------------------------------------------------------------------------

    def evaluate(self, position: GoPosition) -> Score:
        """Area, where every empty point goes to the colour that touches it more."""
        near_black = self.board.neighbours(position.black)
        near_white = self.board.neighbours(position.white)
        black = (position.black | near_black & ~(near_white | position.white)).bit_count()
        white = (position.white | near_white & ~(near_black | position.black)).bit_count()
        guess = black - white - self.komi
        if self.counts_prisoners:
            stones = position.black.bit_count() - position.white.bit_count()
            guess += position.prisoners - stones
            guess = max(-self.max_score, min(self.max_score, guess))
        return guess if position.black_to_move else -guess

    def plies_left(self, position: GoPosition) -> int:
        if self.is_final(position):
            return 0
        empty = len(self.board.points) - (position.black | position.white).bit_count()
        return round((PLIES_WHERE_DECISIVE if self._decisive else PLIES_PER_POINT) * (empty + 2))

    @property
    def target_seconds(self) -> float:
        return DECISIVE_SECONDS if self._decisive else super().target_seconds

    @property
    def _decisive(self) -> bool:
        return len(self.board.points) in DECISIVE_SIZES

    # -- identity ---------------------------------------------------------------------

    def encode(self, position: GoPosition) -> Key:
        return encode_position(position)

    def decode(self, key: Key, history: bytes = b"") -> GoPosition:
        return decode_position(self, key, history)

    def history(self, position: GoPosition) -> bytes:
        return encode_history(position)

    def symmetries(self, position: GoPosition) -> list[GoPosition]:
        return [self._image(position, image) for image in self.board.symmetries]

    def canonical(self, position: GoPosition) -> GoPosition:
        """As for every game; a history is turned only where the stones leave a choice."""
        bare = replace(position, past=frozenset())
        keys = [self.encode(self._image(bare, image)) for image in self.board.symmetries]
        least = min(keys)
        images = [
            self._image(position, image)
            for image, key in zip(self.board.symmetries, keys, strict=True)
            if key == least
        ]
        return images[0] if len(images) == 1 else min(images, key=self.history)

    # -- text -------------------------------------------------------------------------

    def parse(self, text: str) -> GoPosition:
        """Rows of ``X O .``, the side to move, then ``ko=b2 passes=1 past=HEX`` if needed."""
        from zermelo.games.go_text import parse_position

        return parse_position(self, text)

    def format(self, position: GoPosition) -> str:
        from zermelo.games.go_text import format_position

        return format_position(self, position)

    def picture(self, position: GoPosition) -> Picture:
        from zermelo.games.go_text import show_position

        return show_position(self, position)

    def side_to_move(self, position: GoPosition) -> str:
        return "X" if position.black_to_move else "O"

    def read_record(self, data: bytes) -> GoPosition:
        """The end of the main line of an SGF file, with its history."""
        from zermelo.games.go_sgf import read_sgf

        return read_sgf(self, data)

    def move_name(self, move: Move) -> str:
        if move == PASS:
            return "pass"
        if move not in self.board.points:
            raise GameError(f"move {move} is not on the board")
        return self.board.point_name(move)

    # -- for the readers of text, keys and SGF --------------------------------------------

    def check_stones(self, black: Bitboard, white: Bitboard, source: str) -> None:
        """`GameError` unless these stones can lie on the board."""
        if black & white or (black | white) & ~self.board.mask:
            raise GameError(f"{source} is no {self.short_spec} position")
        dead = self.board.without_liberties(black, white) | self.board.without_liberties(
            white, black
        )
        if dead:
            point = self.board.point_name((dead & -dead).bit_length() - 1)
            raise GameError(f"the stone on {point} has no liberty")

    def with_ko(self, position: GoPosition, ko: Point) -> GoPosition:
        """The position right after a stone on `ko` was captured there."""
        taker = self._ko_taker(position.black, position.white, ko, position.black_to_move)
        if taker is None:
            raise GameError(f"ko={self.move_name(ko)}: no single stone was captured there just now")
        if self.ko == "basic":
            return replace(position, passes=0, ko=ko)
        captured, capturing = 1 << ko, 1 << taker
        if position.black_to_move:
            before = Past(position.black | captured, position.white & ~capturing)
        else:
            before = Past(position.black & ~capturing, position.white | captured)
        if self.ko == "ssk":
            before = before._replace(tag=int(not position.black_to_move))
            # Retaking recreates the other side's turn: White took, so White was to move.
        return replace(position, passes=0, ko=NO_KO, past=position.past | {before})

    def as_past(self, position: GoPosition) -> Past:
        """What a history would say of this position."""
        tag = 0
        if self.ko == "ssk":
            tag = int(position.black_to_move)
        elif self.ko == "basic":
            tag = position.black_to_move | position.passes << 1 | (position.ko + 1) << 2
        return Past(position.black, position.white, tag)

    def is_ko(self, black: Bitboard, white: Bitboard, ko: Point, black_to_move: int) -> bool:
        """Whether the side to move may not retake there: one stone was just taken."""
        return self.ko == "basic" and (
            self._ko_taker(black, white, ko, bool(black_to_move)) is not None
        )

    # -- inside -----------------------------------------------------------------------

    def _next(
        self, position: GoPosition, black: Bitboard, white: Bitboard, ko: Point, *, passed: bool
    ) -> GoPosition:
        passes = position.passes + 1 if passed else 0
        side = not position.black_to_move
        if passes == 2:
            return GoPosition(black, white, side, passes, prisoners=position.prisoners)
        past = position.past
        now = self.as_past(position)
        if self._can_come_back(now):
            past |= {now}
        if self.ko == "basic" and self.cycle == "passes" and passed:
            step = 1 if position.black_to_move else -1
            past = frozenset(p._replace(balance=p.balance + step) for p in past)
        child = GoPosition(black, white, side, passes, ko, past, position.prisoners)
        own = self.as_past(child)
        if self.ko == "psk":  # the board that lies there needs no mention
            return replace(child, past=past - {own})
        if self.ko == "basic":
            repeated = frozenset(p for p in past if p[:3] == own[:3])
            if repeated:  # the game is over, and only this cycle counts
                return replace(child, past=repeated)
        return child

    def _can_come_back(self, past: Past) -> bool:
        """Whether any play could lead to this board again.

        Without suicide a stone that is put stays, so no move empties the board, and
        under ``ssk`` the side that moved has a stone on it. Of everything else it is
        not known that it cannot, so everything else is kept.
        """
        if self.suicide == "allowed":
            return True
        if self.ko == "ssk":
            return (past.white if past.tag else past.black) != 0
        return past.black | past.white != 0

    def _repeats(self, position: GoPosition, child: GoPosition) -> bool:
        return self.as_past(child) in position.past

    def _cycle(self, position: GoPosition) -> int | None:
        """What Black scores if this situation has come back; `None` if it has not."""
        if self.ko != "basic":
            return None
        now = self.as_past(position)
        for past in position.past:
            if past[:3] == now[:3]:
                if self.cycle == "draw" or past.balance == 0:
                    return 0
                whole = len(self.board.points)
                return (whole if past.balance > 0 else -whole) - self.komi
        return None

    def _why(self, position: GoPosition, point: Point) -> str:
        if (position.black | position.white) >> point & 1:
            return "there is a stone already"
        if point == position.ko:
            return "it retakes the ko at once"
        own, opponent = position.own | 1 << point, position.opponent
        opponent &= ~self.board.without_liberties(opponent, own)
        lost = self.board.without_liberties(own, opponent)
        if lost and (self.suicide == "forbidden" or lost == 1 << point):
            return "it is suicide"
        return "it recreates an earlier position"

    def _ko_taker(
        self, black: Bitboard, white: Bitboard, ko: Point, black_to_move: bool
    ) -> Point | None:
        """The lone stone that took the ko, whose only liberty is the ko point."""
        if ko not in self.board.points or (black | white) >> ko & 1:
            return None
        own, opponent = (black, white) if black_to_move else (white, black)
        around = self.board.neighbours(1 << ko)
        if around & ~opponent:
            return None
        for chain in self.board.components(opponent):
            liberties = self.board.neighbours(chain) & ~own
            if chain & around and liberties == 1 << ko and chain.bit_count() == 1:
                return chain.bit_length() - 1
        return None

    def _image(self, position: GoPosition, image: Image) -> GoPosition:
        def moved(past: Past) -> Past:
            tag = past.tag
            if self.ko == "basic" and tag >> 2:
                tag = tag & 3 | (image[(tag >> 2) - 1] + 1) << 2
            return Past(permute(past.black, image), permute(past.white, image), tag, past.balance)

        return GoPosition(
            permute(position.black, image),
            permute(position.white, image),
            position.black_to_move,
            position.passes,
            image[position.ko] if position.ko != NO_KO else NO_KO,
            frozenset(map(moved, position.past)),
            position.prisoners,
        )
