"""A session of the Go Text Protocol, for every game: what is the same whatever is played."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TextIO

from zermelo import ZermeloError, __version__
from zermelo.engine import EngineError, open_engine
from zermelo.games import Game, GameError
from zermelo.players.looking import LookingPlayer
from zermelo.players.solving import FALLBACK_PLIES, solved_move

#: Characters of a line that are read; a longer one is refused.
MAX_LINE = 4096
MAX_MOVES = 1000
_FORCED = ["pass"]  # all moves of a side that must pass


class GtpError(ZermeloError):
    """A command that cannot be carried out; the text goes to the controller."""


class GtpSession:
    """One controller's game: a position, what came before, and an engine to move.

    Sides have the names of the game, or are ``first`` and ``second``, ``black`` and ``white``.
    Where a side moves again, the other side's forced pass may be left out.
    """

    #: Positions of some games have the sign # in them: only a word of its own begins a comment.
    comment = re.compile(r"^ *#.*| # .*", re.DOTALL)

    def __init__(self, game: Game[Any], *, hash_mb: int, node_budget: int) -> None:
        self._hash_mb, self._node_budget = hash_mb, node_budget
        self._commands = self.commands()
        self.finished = False
        self.start(game)

    def commands(self) -> dict[str, Callable[[list[str]], str]]:
        return {
            "protocol_version": lambda _: "2",
            "name": lambda _: "Zermelo",
            "version": lambda _: __version__,
            "known_command": lambda words: str(only(words) in self._commands).lower(),
            "list_commands": lambda _: "\n".join(sorted(self._commands)),
            "quit": self._quit,
            "clear_board": self.clear_board,
            "play": self.play,
            "genmove": self.genmove,
            "undo": self._undo,
            "showboard": lambda _: "\n" + self.game.draw(self.position),
            "final_score": self.final_score,
            "zermelo-game": lambda _: self.game.spec,
            "zermelo-moves": self._moves,
            "zermelo-position": self._position,
            "zermelo-value": self._value,
        }

    def start(self, game: Game[Any]) -> None:
        self.game = game
        self.engine = open_engine(game, hash_mb=self._hash_mb)
        self.clear_board([])

    def answer(self, line: str) -> str | None:
        """The response to one line, or `None` if it holds no command."""
        text = self.comment.sub("", line.replace("\t", " "))
        words = "".join(sign for sign in text if sign.isprintable()).split()
        if not words:
            return None
        number = words.pop(0) if words[0].isascii() and words[0].isdigit() else ""
        if not words:
            return f"?{number} missing command\n\n"
        command = self._commands.get(words[0])
        try:
            if command is None:
                raise GtpError("unknown command")
            return f"={number} {command(words[1:])}".rstrip(" ") + "\n\n"
        except (GtpError, GameError, EngineError) as error:
            return f"?{number} {error}\n\n"

    # -- commands -----------------------------------------------------------------------

    def _quit(self, words: list[str]) -> str:
        self.finished = True
        return ""

    def clear_board(self, words: list[str]) -> str:
        self._begin(self.game.initial())
        return ""

    def play(self, words: list[str]) -> str:
        if len(words) != 2:
            raise GtpError("syntax error: play SIDE MOVE")
        position = self._turned_to(words[0])
        try:
            move = self.game.find_move(position, words[1])
        except GameError:
            raise GtpError("illegal move") from None
        self.advance(self.game.play(position, move))
        return ""

    def genmove(self, words: list[str]) -> str:
        position = self._turned_to(only(words))
        if self.game.is_final(position):
            raise GtpError("the game is over")
        move = solved_move(self.engine, position, self._node_budget)
        if move is None:
            look = LookingPlayer(self.game, FALLBACK_PLIES, self.engine.guess, "gtp")
            move = look.choose(position)
        self.advance(self.game.play(position, move))
        return self.game.move_name(move)

    def _undo(self, words: list[str]) -> str:
        if not self._before:
            raise GtpError("cannot undo")
        self.position = self._before.pop()
        return ""

    def final_score(self, words: list[str]) -> str:
        if not self.game.is_final(self.position):
            raise GtpError("the game is not over")
        score = self.game.score(self.position)
        side = self.game.side_to_move(self.position)
        winner = side if score > 0 else self._other(side)
        return f"{winner}+{abs(score)}" if score else "0"

    # -- commands that are not part of GTP ------------------------------------------------

    def _moves(self, words: list[str]) -> str:
        return " ".join(self.game.line_names(self.game.moves(self.position)))

    def _position(self, words: list[str]) -> str:
        """Tell the position, or begin at another."""
        if words:
            self._begin(self.game.parse(" ".join(words)))
        return self.game.format(self.position)

    def _value(self, words: list[str]) -> str:
        """The proved score of the position for the side to move."""
        report = self.engine.solve(self.position, node_budget=self._node_budget)
        lo, hi = report.bounds.lo, report.bounds.hi
        return str(lo) if lo == hi else f"{lo}..{hi}"

    # -- inside -------------------------------------------------------------------------

    def _begin(self, position: Any) -> None:
        self.position = position
        self._before: list[Any] = []

    def _sides(self) -> tuple[str, str]:
        start = self.game.initial()
        moves = self.game.moves(start)
        first = self.game.side_to_move(start)
        return first, self.game.side_to_move(self.game.play(start, moves[0])) if moves else first

    def _other(self, side: str) -> str:
        first, second = self._sides()
        return second if side == first else first

    def _turned_to(self, word: str) -> Any:
        """The position with this side to move, after the other's forced pass if there is one."""
        for place, side in enumerate(self._sides()):
            if word.lower() in (side.lower(), ("first", "second")[place], ("b", "w")[place],
                                ("black", "white")[place]):
                break
        else:
            raise GtpError("invalid colour")
        if self.game.side_to_move(self.position) == side:
            return self.position
        moves = self.game.moves(self.position)
        if self.game.line_names(moves) != _FORCED:
            raise GtpError(f"it is the turn of {self.game.side_to_move(self.position)}")
        return self.game.play(self.position, moves[0])

    def advance(self, child: Any) -> None:
        if len(self._before) >= MAX_MOVES:
            raise GtpError(f"more than {MAX_MOVES} moves; clear the board")
        self._before.append(self.position)
        self.position = child


def limited_lines(stream: TextIO) -> Iterator[str]:
    """The lines of a stream; of one that is too long a command that does not exist."""
    while line := stream.readline(MAX_LINE + 1):
        whole = len(line) <= MAX_LINE
        while not line.endswith("\n") and (rest := stream.readline(MAX_LINE + 1)):
            line, whole = rest, False
        yield line if whole else "line-too-long"


def run_session(session: GtpSession, lines: Iterable[str], output: TextIO) -> None:
    for line in lines:
        response = session.answer(line)
        if response is not None:
            output.write(response)
            output.flush()
        if session.finished:
            return


def only(words: list[str]) -> str:
    if len(words) != 1:
        raise GtpError("syntax error: one argument expected")
    return words[0]
