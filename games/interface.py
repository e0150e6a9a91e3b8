"""What Zermelo needs to know about a game.

A `Game` is an immutable set of rules; a *position* is an immutable value that only
its game understands. Everything outside `games/` and the compiled engines talks to
a game through this interface, so a new game is one class and one registration
(docs/adding-a-game.md).

Three conventions hold everywhere:

* A **score** is an integer from the view of the side to move.
* A **key** is the 16-byte encoding of a position. Equal keys (and equal histories,
  for games where the past matters) mean equal values.
* **Canonical** means: the representative of all symmetric positions, the one with
  the smallest key.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from zermelo import ZermeloError
from zermelo.games.picture import Picture, Touch, TouchKind
from zermelo.games.picture_text import draw_picture

P = TypeVar("P")
Move = int
Score = int
Key = bytes

KEY_BYTES = 16
#: What a pass is called, where a game has one.
PASS_NAME = "pass"  # noqa: S105 - no password


class GameError(ZermeloError, ValueError):
    """Something a user wrote about a game is wrong; the message says what and why."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is proved about a score: ``lo <= score <= hi``."""

    lo: int
    hi: int

    def __post_init__(self) -> None:
        if self.lo > self.hi:
            raise ValueError(f"contradictory bounds: {self.lo} > {self.hi}")

    @property
    def exact(self) -> bool:
        return self.lo == self.hi

    def __neg__(self) -> Bounds:
        return Bounds(-self.hi, -self.lo)

    def __and__(self, other: Bounds) -> Bounds:
        return Bounds(max(self.lo, other.lo), min(self.hi, other.hi))

    def answers(self, threshold: int) -> bool | None:
        """Is the score at least `threshold`? `None` while these bounds cannot tell."""
        if self.lo >= threshold:
            return True
        return False if self.hi < threshold else None


class Game(ABC, Generic[P]):
    """The rules of one game with all its parameters fixed."""

    #: What stands in front of the colon of a spec.
    name: str
    #: Whether the value of a position can depend on how it was reached.
    path_dependent: bool = False

    #: The complete spec, every parameter written out; `open_game(game.spec) == game`.
    spec: str
    #: The spec as a user would write it, parameters at their default left out.
    short_spec: str
    #: The largest score that can occur; the smallest is its negative.
    max_score: int

    #: What the game is, in a line.
    title: str = "rules from an installed package"
    #: Whether one player moves alone, and the other only passes.
    solo: bool = False
    #: Whether moves turn pieces over, so that pages can show the turning and its directions.
    turns_pieces: bool = False

    @property
    def definition_text(self) -> str | None:
        """The text that the rules are made from; None for rules in Python."""
        return None

    @property
    def is_definition(self) -> bool:
        """Whether the rules are data that another machine may not have."""
        return self.definition_text is not None

    @property
    def family(self) -> str:
        """The name by which its engine, trainer and checker are registered.

        Games that are served by one engine for all of them share a family.
        """
        return self.name

    # -- rules ---------------------------------------------------------------------

    @abstractmethod
    def initial(self) -> P:
        """The position a game starts from."""

    @abstractmethod
    def moves(self, position: P) -> list[Move]:
        """Legal moves in ascending order; empty exactly when the game is over.

        A forced pass is a move like any other.
        """

    @abstractmethod
    def play(self, position: P, move: Move) -> P:
        """The position after a legal move; `GameError` for an illegal one."""

    @abstractmethod
    def score(self, position: P) -> Score:
        """The exact score of a final position, for the side to move."""

    def is_final(self, position: P) -> bool:
        return not self.moves(position)

    def is_legal(self, position: P, move: Move) -> bool:
        return move in self.moves(position)

    @property
    def score_range(self) -> Bounds:
        """The bounds that the rules alone give every position."""
        return Bounds(-self.max_score, self.max_score)

    # -- hints: never part of a proof --------------------------------------------------

    @property
    def target_seconds(self) -> float:
        """How long a workunit should take unless somebody says otherwise."""
        return 2.0

    @abstractmethod
    def evaluate(self, position: P) -> Score:
        """A cheap guess of the score, for the side to move."""

    @abstractmethod
    def plies_left(self, position: P) -> int:
        """A cheap guess of how many moves the game can still last."""

    # -- identity ---------------------------------------------------------------------

    @abstractmethod
    def encode(self, position: P) -> Key:
        """The position in `KEY_BYTES` bytes, without its history."""

    @abstractmethod
    def decode(self, key: Key, history: bytes = b"") -> P:
        """The position with this key; `GameError` if there is none."""

    def history(self, position: P) -> bytes:
        """Everything beyond the key that the value depends on; empty for most games."""
        return b""

    @abstractmethod
    def symmetries(self, position: P) -> list[P]:
        """All positions that the board's symmetries make of this one, itself first."""

    def symmetry_names(self) -> tuple[str, ...]:
        """The symmetries as certificates name them; none where the rules are known without."""
        return ()

    def canonical(self, position: P) -> P:
        return min(self.symmetries(position), key=lambda p: (self.encode(p), self.history(p)))

    # -- text -------------------------------------------------------------------------

    @abstractmethod
    def parse(self, text: str) -> P:
        """A position from text as people write it; `GameError` says what is wrong."""

    @abstractmethod
    def format(self, position: P) -> str:
        """The position on one line, as `parse` reads it."""

    @abstractmethod
    def side_to_move(self, position: P) -> str:
        """The side to move as `picture` and `format` write it."""

    def read_record(self, data: bytes) -> P:
        """The position at the end of a game record, as other programs write it."""
        raise GameError(f"{self.short_spec}: there is no format of game records for {self.name}")

    @abstractmethod
    def move_name(self, move: Move) -> str:
        """The move as people write it, such as ``d3`` or ``pass``."""

    def find_move(self, position: P, name: str) -> Move:
        """The legal move with this name."""
        for move in self.moves(position):
            if self.move_name(move) == name.strip().lower():
                return move
        legal = " ".join(map(self.move_name, self.moves(position))) or "none, the game is over"
        raise GameError(f"illegal move {name!r}; legal moves: {legal}")

    def line_names(self, line: Sequence[Move]) -> list[str]:
        return [self.move_name(move) for move in line]

    # -- for people who play ------------------------------------------------------------

    def rules(self) -> list[str]:
        """The rules in sentences."""
        return []

    def why_over(self, final: P, moves: Sequence[str]) -> str:
        """Why a game with these moves is over in its final position."""
        if list(moves[-2:]) == [PASS_NAME, PASS_NAME]:
            return "Both sides passed."
        return "The rules end the game here."

    def captures(self, position: P, move: Move) -> list[tuple[int, int]]:
        """The runs that a move turns over: from which point of the picture to which."""
        return []

    # -- pictures ---------------------------------------------------------------------

    @abstractmethod
    def picture(self, position: P) -> Picture:
        """The board with its pieces, as terminals and pages show it."""

    def touch(self, position: P, move: Move) -> Touch:
        """How a person makes a legal move on the picture of the position."""
        name = self.move_name(move)
        for at, point in enumerate(self.picture(position).points):
            if point.name == name:
                return Touch(TouchKind.PLACE, (at,))
        return Touch(TouchKind.BUTTON)

    def draw(self, position: P) -> str:
        """The position as a board of several lines, for people."""
        return draw_picture(self.picture(position))

    # -- equality: a game is its spec -----------------------------------------------------

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and self.spec == other.spec

    def __hash__(self) -> int:
        return hash(self.spec)

    def __repr__(self) -> str:
        return f"<game {self.spec}>"
