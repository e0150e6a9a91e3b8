"""`zermelo gtp`: an engine behind the Go Text Protocol, version 2, on standard input."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path

import click

from zermelo.cli.game_files import open_local_game
from zermelo.cli.gtp_session import GtpError, GtpSession, limited_lines, only, run_session
from zermelo.cli.options import node_budget_option, option
from zermelo.engine.go import GoEngine, best_reply
from zermelo.games import GameError
from zermelo.games.go import NO_KO, PASS, Go, GoPosition
from zermelo.games.go_sgf import read_sgf_file
from zermelo.games.go_text import point_from_name

_COLOURS = {"b": True, "black": True, "w": False, "white": False}


class GoSession(GtpSession):
    """Go as its programs expect it: sizes, komi, records, and a colour may move twice."""

    game: Go
    engine: GoEngine
    position: GoPosition
    comment = re.compile(r"#.*", re.DOTALL)

    def commands(self) -> dict[str, Callable[[list[str]], str]]:
        return {
            **super().commands(),
            "boardsize": self._boardsize,
            "komi": self._komi,
            "loadsgf": self._loadsgf,
        }

    def _boardsize(self, words: list[str]) -> str:
        size = only(words)
        if (size, size) != (str(self.game.rows), str(self.game.cols)):
            try:
                self.start(self._with(f"{size}x{size}", self.game.komi))
            except GameError:
                raise GtpError("unacceptable size") from None
        return self.clear_board([])

    def _komi(self, words: list[str]) -> str:
        try:
            komi = float(only(words))
        except ValueError:
            raise GtpError("komi not a float") from None
        if not komi.is_integer():
            raise GtpError("komi must be a whole number")
        if komi != self.game.komi:
            position, before = self.position, self._before
            self.start(self._with(f"{self.game.rows}x{self.game.cols}", int(komi)))
            self.position, self._before = position, before
        return ""

    def play(self, words: list[str]) -> str:
        if len(words) != 2:
            raise GtpError("syntax error: play COLOUR VERTEX")
        position = self._turned_to(words[0])
        vertex = words[1].lower()
        try:
            move = PASS if vertex == "pass" else point_from_name(self.game, vertex)
            self.advance(self.game.play(position, move))
        except GameError:
            raise GtpError("illegal move") from None
        return ""

    def genmove(self, words: list[str]) -> str:
        position = self._turned_to(only(words))
        if self.game.is_final(position):
            return "pass"
        report = self.engine.solve(position, node_budget=self._node_budget)
        move = best_reply(self.engine, position, report)
        self.advance(self.game.play(position, move))
        return self.game.move_name(move).upper() if move != PASS else "pass"

    def _loadsgf(self, words: list[str]) -> str:
        try:
            position = read_sgf_file(self.game, Path(only(words[:1])))
        except (OSError, ValueError) as error:
            if isinstance(error, GameError):
                raise
            raise GtpError("cannot load file") from None
        self._begin(position)
        return ""

    def final_score(self, words: list[str]) -> str:
        position = self.position
        if self.game.is_final(position):
            score = self.game.score(position)
            score = score if position.black_to_move else -score
        else:
            score = self.game.counted_difference(position) - self.game.komi
        return f"{'B' if score > 0 else 'W'}+{abs(score)}" if score else "0"

    def _with(self, size: str, komi: int) -> Go:
        options = [item for item in self.game.spec.split(",")[1:] if not item.startswith("komi=")]
        return Go.from_spec(",".join([f"go:{size}", *options, f"komi={komi}"]))

    def _turned_to(self, word: str) -> GoPosition:
        """GTP lets a colour move twice: the other then simply did not get its turn."""
        if word.lower() not in _COLOURS:
            raise GtpError("invalid colour")
        black = _COLOURS[word.lower()]
        if self.position.black_to_move == black:
            return self.position
        return replace(self.position, black_to_move=black, passes=0, ko=NO_KO)


#: Who talks about a game, by its name; about all others `GtpSession`.
SESSIONS: dict[str, type[GtpSession]] = {"go": GoSession}


@click.command()
@click.argument("spec")
@option("--hash-mb", type=click.IntRange(1), default=256, help="Size of the table.")
@node_budget_option(type=click.IntRange(1), default=20_000_000,
                    help="Nodes to search for a move.")
def gtp(spec: str, hash_mb: int, node_budget: int) -> None:
    """Let another program talk to the engine: GTP version 2 on standard input and output.

    SPEC names the game, such as go:5x5 for a Go interface. Every other game has the same commands,
    with moves as `zermelo play` writes them; list_commands tells which.
    """
    game = open_local_game(spec)
    session = SESSIONS.get(game.name, GtpSession)(game, hash_mb=hash_mb, node_budget=node_budget)
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    run_session(session, limited_lines(sys.stdin), sys.stdout)
