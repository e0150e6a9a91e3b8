"""`zermelo play`: a person against the program, in the terminal."""

from __future__ import annotations

import getpass
import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zermelo.cli.game_files import open_local_game
from zermelo.cli.games import game_object
from zermelo.cli.options import (
    database_options,
    json_option,
    open_connection,
    open_storage,
    option,
)
from zermelo.cli.plain_errors import CommandError
from zermelo.games import GameError
from zermelo.parts import install_command

if TYPE_CHECKING:
    from zermelo.players import Player
    from zermelo.research.games_played import GameInPlay, PlayedGame
    from zermelo.research.tree_queries import TreeQueries
    from zermelo.server.database import Connection

NOT_STORED = f"to store games: {install_command('server')}"
HELP = "a move such as d3 or pass; undo; moves (show or hide them); board; quit"


@click.command()
@click.argument("spec")
@option("--campaign", default=None, help="Let the opponent play from this campaign's proof.")
@option("--opponent", default=None, metavar="PLAYER", show_default="proof or engine",
        help="proof, engine, engine:NODES, minimax:N,EVALUATION, uct:N, greedy or random.")
@option("--side", type=click.Choice(["first", "second"]), default="first", help="Your side.")
@option("--position", default=None, metavar="TEXT",
        help="Where to start.  [default: the initial position]")
@option("--hide-moves", is_flag=True, help="Do not show the legal moves.")
@option("--name", default=None, help="Your name.  [default: that of your account]")
@database_options
@json_option
def play(
    spec: str, campaign: str | None, opponent: str | None, side: str, position: str | None,
    hide_moves: bool, name: str | None, data_dir: Path, database: str | None, as_json: bool,
) -> None:
    """Play the game SPEC against the program; finished games are stored.

    Type a move, or: undo, moves, board, help, quit.
    """
    from zermelo.research.games_played import GameInPlay, store_game
    from zermelo.research.players import open_player

    game = open_local_game(spec)
    start = None if position is None else game.parse(position)
    if start is not None and game.is_final(start):
        raise CommandError("the game is over in that position; choose another")
    person = name or getpass.getuser()
    unstored = game.is_definition and campaign is None
    with (
        nullcontext((None, None)) if unstored else _open(data_dir, database, campaign)
    ) as (connection, queries):
        program = open_player(
            opponent or ("proof" if campaign else "engine"), game, queries=queries
        )
        table = Table(GameInPlay(game, start), program, person_first=side == "first",
                      show_moves=not hide_moves)
        if not table.play():
            click.echo("the game was left; it is not stored", err=True)
            return
        players = (person, program.name) if side == "first" else (program.name, person)
        played = replace(
            table.in_play.finished(*players), person=person, opponent=program.name,
            device="terminal",
        )  # fmt: skip
        number = None
        if connection is not None and not game.is_definition:
            number = store_game(connection, played)
    if as_json:
        click.echo(json.dumps(game_object(played) | {"number": number}))
    else:
        place = f"stored as game {number}" if number is not None else NOT_STORED
        if game.is_definition:
            place = "games of definitions are not stored yet"
        click.echo(f"{_result(played, person)}; {place}")


class Table:
    """The person, the program and the board between them. Boards go to standard error, so
    that standard output is left to the result."""

    def __init__(
        self, in_play: GameInPlay, program: Player, *, person_first: bool, show_moves: bool
    ) -> None:
        self.in_play, self._program = in_play, program
        self._person_first, self._show_moves = person_first, show_moves

    def play(self) -> bool:
        """Whether the game was played to its end."""
        self._program.begin()
        while not self.in_play.over:
            if self.in_play.first_to_move != self._person_first:
                self._reply()
            elif self._must_pass():
                self._try("pass")
                _say("you pass")
            elif not self._persons_turn():
                return False
        self._draw()
        return True

    def _must_pass(self) -> bool:
        """In a definition a forced pass stands for the other side's moving again."""
        game, position = self.in_play.game, self.in_play.position
        return game.is_definition and game.line_names(game.moves(position)) == ["pass"]

    def _reply(self) -> None:
        move = self._program.choose(self.in_play.position)
        self.in_play.play(move)
        _say(f"{self._program.name} plays {self.in_play.game.move_name(move)}")

    def _persons_turn(self) -> bool:
        """One move of the person; False if the person leaves."""
        self._draw()
        while True:
            try:
                text = input().strip().lower()
            except EOFError:
                return False
            if text in ("quit", "exit", "q"):
                return False
            if text in ("help", "?"):
                _say(HELP)
            elif text == "undo":
                self._undo()
                self._draw()
            elif text == "moves":
                self._show_moves = not self._show_moves
                self._draw()
            elif text == "board":
                self._draw()
            elif text and self._try(text):
                return True

    def _try(self, text: str) -> bool:
        game, position = self.in_play.game, self.in_play.position
        try:
            self.in_play.play(game.find_move(position, text))
        except GameError as error:
            _say(f"{error}; or: {HELP}")
            return False
        return True

    def _undo(self) -> None:
        """Back to the person's last turn; the program's reply goes with it."""
        undone = self.in_play.undo()
        while undone and self.in_play.first_to_move != self._person_first:
            undone = self.in_play.undo()
        if not undone:
            _say("there is nothing to take back")
            if self.in_play.first_to_move != self._person_first:
                self._reply()

    def _draw(self) -> None:
        game, position = self.in_play.game, self.in_play.position
        _say(f"\n{game.draw(position)}")
        if self._show_moves and not self.in_play.over:
            _say(f"moves: {' '.join(game.line_names(game.moves(position)))}")


@contextmanager
def _open(
    data_dir: Path, database: str | None, campaign: str | None
) -> Iterator[tuple[Connection | None, TreeQueries | None]]:
    """Where the game will be stored, and the campaign to play from."""
    if campaign is None:
        with open_storage(data_dir, database) as connection:
            yield connection, None
        return
    with open_connection(data_dir, database) as connection:
        from zermelo.research.tree_queries import TreeQueries
        from zermelo.server.campaigns import find_campaign

        yield connection, TreeQueries(connection, find_campaign(connection, campaign))


def _say(text: str) -> None:
    click.echo(text, err=True)


def _result(played: PlayedGame, person: str) -> str:
    score = f"{abs(played.score):d}"
    if not played.score:
        return "a draw"
    return f"you win by {score}" if played.winner == person else f"{played.winner} wins by {score}"
