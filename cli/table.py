"""A game at the terminal: people, programs and the board between them.

Everything goes to standard error, so that standard output is left to the result.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from zermelo.cli.output import short_time
from zermelo.games import GameError, Move
from zermelo.games.interface import PASS_NAME
from zermelo.games.picture import TouchKind
from zermelo.games.picture_text import draw_picture
from zermelo.games.telling import count_pieces, must_pass, side_signs

if TYPE_CHECKING:
    from zermelo.players import Player
    from zermelo.research.games_played import GameInPlay

HELP = (
    "a move such as d3 or pass; hint; undo; moves (show or hide them); board; suspend (to go on"
    " later); quit"
)
#: Programs that think for longer than this are told with their time.
LONG_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Seat:
    """Who has a side: a program, or a person where that is None."""

    name: str
    program: Player | None = None


class Table:
    def __init__(
        self, in_play: GameInPlay, seats: tuple[Seat, Seat], *, show_moves: bool,
        open_hinter: Callable[[], Player],
    ) -> None:  # fmt: skip
        """Hints come from the player that `open_hinter` opens when the first one is asked for."""
        self.in_play, self._seats, self._show_moves = in_play, seats, show_moves
        self._open_hinter = open_hinter
        self._hinter: Player | None = None
        self._signs = side_signs(in_play.game)
        #: Whether the game was left to go on later.
        self.suspended = False

    def play(self) -> bool:
        """Whether the game was played to its end."""
        for seat in self._seats:
            if seat.program is not None:
                seat.program.begin()
        while not self.in_play.over:
            seat = self._mover
            if must_pass(self.in_play.game, self.in_play.position):
                self._try(PASS_NAME)
                say(f"{seat.name} cannot move and passes")
            elif seat.program is not None:
                self._think(seat, seat.program)
            elif not self._persons_turn(seat):
                return False
        self._draw()
        say(self.in_play.game.why_over(self.in_play.position, self.in_play.moves))
        return True

    @property
    def _mover(self) -> Seat:
        return self._seats[not self.in_play.first_to_move]

    @property
    def _watching(self) -> bool:
        return all(seat.program is not None for seat in self._seats)

    def _think(self, seat: Seat, program: Player) -> None:
        if self._watching:
            self._draw()
        self.in_play.play(self._chosen(seat.name, program))

    def _chosen(self, name: str, program: Player) -> Move:
        """The move that a program finds, told while it thinks."""
        click.echo(f"{name} is thinking ... ", nl=False, err=True)
        began = time.perf_counter()
        try:
            move = program.choose(self.in_play.position)
        except BaseException:
            click.echo(err=True)
            raise
        seconds = time.perf_counter() - began
        took = f" ({short_time(seconds)})" if seconds > LONG_SECONDS else ""
        click.echo(f"{self.in_play.game.move_name(move)}{took}", err=True)
        return move

    def _persons_turn(self, seat: Seat) -> bool:
        """One move of the person; False if the person leaves."""
        self._draw()
        sign = self._signs[not self.in_play.first_to_move]
        while True:
            try:
                text = ask(f"{seat.name} ({sign}): ").strip().lower()
            except EOFError:
                return False
            if text in ("quit", "exit", "q"):
                return False
            if text == "suspend":
                self.suspended = True
                return False
            if text in ("help", "?"):
                say(HELP)
            elif text == "hint":
                self._hinter = self._hinter or self._open_hinter()
                self._chosen("hint: the engine", self._hinter)
            elif text == "undo":
                self._undo()
                return True
            elif text in ("moves", "board"):
                self._show_moves ^= text == "moves"
                self._draw()
            elif text and self._try(text):
                return True

    def _try(self, text: str) -> bool:
        game, position = self.in_play.game, self.in_play.position
        try:
            self.in_play.play(game.find_move(position, text))
        except GameError as error:
            say(f"{error}; help lists what else you can type")
            return False
        return True

    def _undo(self) -> None:
        """Back to the last choice of a person; replies and forced passes go with it."""
        taken: list[Move] = []
        while (move := self.in_play.undo()) is not None:
            taken.append(move)
            chosen = not must_pass(self.in_play.game, self.in_play.position)
            if self._mover.program is None and chosen:
                return
        say("there is nothing to take back")
        for move in reversed(taken):
            self.in_play.play(move)

    def _draw(self) -> None:
        game, position = self.in_play.game, self.in_play.position
        picture = game.picture(position)
        board = draw_picture(picture, self._last_points(len(picture.points)))
        counts = count_pieces(picture)
        sides = "   ".join(
            f"{sign} {seat.name}" + (f" {count}" if any(counts) else "")
            for sign, seat, count in zip(self._signs, self._seats, counts, strict=True)
        )
        click.echo(f"\n{board}", err=True)
        say(sides)
        if self._show_moves and self._mover.program is None and not self.in_play.over:
            say(f"moves: {' '.join(game.line_names(game.moves(position)))}")

    def _last_points(self, points: int) -> tuple[int, ...]:
        """Where the last move was made; nothing where the board does not show it."""
        last = self.in_play.last
        if last is None:
            return ()
        touch = self.in_play.game.touch(*last)
        on_board = touch.kind is not TouchKind.BUTTON and max(touch.points) < points
        return touch.points if on_board else ()


def say(text: str) -> None:
    """A text for people, broken between words where the terminal is narrow."""
    width = max(20, shutil.get_terminal_size().columns - 1)
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    click.echo("\n".join(lines), err=True)


def ask(prompt: str) -> str:
    """A line of the person; the terminal's own editing knows the prompt where there is one."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        import readline  # noqa: F401 - editing and history for input()

        return input(prompt)
    click.echo(prompt, nl=False, err=True)
    try:
        return input()
    finally:
        click.echo(err=True)  # nobody pressed the key that ends the line
