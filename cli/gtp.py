"""`zermelo gtp`: the Go engine behind the Go Text Protocol, version 2, on standard input."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

import click

from zermelo import ZermeloError, __version__
from zermelo.cli.options import node_budget_option, option
from zermelo.engine.go import GoEngine, best_reply
from zermelo.engine.interface import EngineError
from zermelo.games import GameError, open_game
from zermelo.games.go import NO_KO, PASS, Go, GoPosition
from zermelo.games.go_sgf import MAX_MOVES, read_sgf_file
from zermelo.games.go_text import point_from_name

#: Characters of a line that are read; a longer one is refused.
MAX_LINE = 4096
_COLOURS = {"b": True, "black": True, "w": False, "white": False}


class GtpError(ZermeloError):
    """A command that cannot be carried out; the text goes to the controller."""


class GtpSession:
    """One controller's game: a position, what came before, and an engine to move."""

    def __init__(self, game: Go, *, hash_mb: int, node_budget: int) -> None:
        self._hash_mb, self._node_budget = hash_mb, node_budget
        self._commands: dict[str, Callable[[list[str]], str]] = {
            "protocol_version": lambda _: "2",
            "name": lambda _: "Zermelo",
            "version": lambda _: __version__,
            "known_command": lambda words: str(_only(words) in self._commands).lower(),
            "list_commands": lambda _: "\n".join(sorted(self._commands)),
            "quit": self._quit,
            "boardsize": self._boardsize,
            "clear_board": self._clear_board,
            "komi": self._komi,
            "play": self._play,
            "genmove": self._genmove,
            "undo": self._undo,
            "loadsgf": self._loadsgf,
            "showboard": lambda _: "\n" + self.game.draw(self.position),
            "final_score": self._final_score,
            "zermelo-value": self._value,
        }
        self.finished = False
        self._start(game)

    def answer(self, line: str) -> str | None:
        """The response to one line, or `None` if it holds no command."""
        words = _clean(line).split()
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

    def _start(self, game: Go) -> None:
        self.game = game
        self.engine = GoEngine(game, hash_mb=self._hash_mb)
        self._clear_board([])

    def _quit(self, words: list[str]) -> str:
        self.finished = True
        return ""

    def _clear_board(self, words: list[str]) -> str:
        self.position = self.game.initial()
        self._before: list[GoPosition] = []
        return ""

    def _boardsize(self, words: list[str]) -> str:
        size = _only(words)
        if (size, size) != (str(self.game.rows), str(self.game.cols)):
            try:
                self._start(self._with(f"{size}x{size}", self.game.komi))
            except GameError:
                raise GtpError("unacceptable size") from None
        return self._clear_board([])

    def _komi(self, words: list[str]) -> str:
        try:
            komi = float(_only(words))
        except ValueError:
            raise GtpError("komi not a float") from None
        if not komi.is_integer():
            raise GtpError("komi must be a whole number")
        if komi != self.game.komi:
            position, before = self.position, self._before
            self._start(self._with(f"{self.game.rows}x{self.game.cols}", int(komi)))
            self.position, self._before = position, before
        return ""

    def _play(self, words: list[str]) -> str:
        if len(words) != 2:
            raise GtpError("syntax error: play COLOUR VERTEX")
        position = self._turned_to(_colour(words[0]))
        vertex = words[1].lower()
        try:
            move = PASS if vertex == "pass" else point_from_name(self.game, vertex)
            self._advance(position, self.game.play(position, move))
        except GameError:
            raise GtpError("illegal move") from None
        return ""

    def _genmove(self, words: list[str]) -> str:
        position = self._turned_to(_colour(_only(words)))
        if self.game.is_final(position):
            return "pass"
        report = self.engine.solve(position, node_budget=self._node_budget)
        move = best_reply(self.engine, position, report)
        self._advance(position, self.game.play(position, move))
        return self.game.move_name(move).upper() if move != PASS else "pass"

    def _undo(self, words: list[str]) -> str:
        if not self._before:
            raise GtpError("cannot undo")
        self.position = self._before.pop()
        return ""

    def _loadsgf(self, words: list[str]) -> str:
        try:
            position = read_sgf_file(self.game, Path(_only(words[:1])))
        except (OSError, ValueError) as error:
            if isinstance(error, GameError):
                raise
            raise GtpError("cannot load file") from None
        self.position, self._before = position, []
        return ""

    def _final_score(self, words: list[str]) -> str:
        position = self.position
        if self.game.is_final(position):
            score = self.game.score(position)
            score = score if position.black_to_move else -score
        else:
            score = self.game.counted_difference(position) - self.game.komi
        return f"{'B' if score > 0 else 'W'}+{abs(score)}" if score else "0"

    def _value(self, words: list[str]) -> str:
        """Not part of GTP: the proved score of the position for the side to move."""
        report = self.engine.solve(self.position, node_budget=self._node_budget)
        lo, hi = report.bounds.lo, report.bounds.hi
        return str(lo) if lo == hi else f"{lo}..{hi}"

    # -- inside -------------------------------------------------------------------------

    def _with(self, size: str, komi: int) -> Go:
        options = [item for item in self.game.spec.split(",")[1:] if not item.startswith("komi=")]
        return Go.from_spec(",".join([f"go:{size}", *options, f"komi={komi}"]))

    def _turned_to(self, black: bool) -> GoPosition:
        """GTP lets a colour move twice: the other then simply did not get its turn."""
        if self.position.black_to_move == black:
            return self.position
        return replace(self.position, black_to_move=black, passes=0, ko=NO_KO)

    def _advance(self, position: GoPosition, child: GoPosition) -> None:
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


def _clean(line: str) -> str:
    """A command line without comment and control characters, tabs as spaces."""
    text = line.partition("#")[0].replace("\t", " ")
    return "".join(sign for sign in text if sign.isprintable())


def _only(words: list[str]) -> str:
    if len(words) != 1:
        raise GtpError("syntax error: one argument expected")
    return words[0]


def _colour(word: str) -> bool:
    if word.lower() not in _COLOURS:
        raise GtpError("invalid colour")
    return _COLOURS[word.lower()]


@click.command()
@click.argument("spec")
@option("--hash-mb", type=click.IntRange(1), default=256, help="Size of the table.")
@node_budget_option(type=click.IntRange(1), default=20_000_000,
                    help="Nodes to think about a move.")
def gtp(spec: str, hash_mb: int, node_budget: int) -> None:
    """Let a Go interface talk to the engine: GTP version 2 on standard input and output.

    SPEC names the game, such as go:5x5.
    """
    if open_game(spec).name != Go.name:
        raise GameError(f"{spec}: GTP is for Go; write go:5x5")
    session = GtpSession(Go.from_spec(spec), hash_mb=hash_mb, node_budget=node_budget)
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    run_session(session, limited_lines(sys.stdin), sys.stdout)
