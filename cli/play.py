"""`zermelo play`: people and programs, in the terminal."""

from __future__ import annotations

import getpass
import json
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zermelo.cli.game_files import CAMPAIGN, open_local_game, split_file
from zermelo.cli.games import game_object
from zermelo.cli.options import (
    database_options,
    json_option,
    open_connection,
    open_storage,
    option,
)
from zermelo.cli.plain_errors import CommandError
from zermelo.cli.suite import find_position
from zermelo.cli.table import Seat, Table, say
from zermelo.figures import by
from zermelo.parts import install_command

if TYPE_CHECKING:
    from zermelo.research.games_played import GameInPlay, PlayedGame
    from zermelo.research.tree_queries import TreeQueries
    from zermelo.server.database import Connection

NOT_STORED = f"to store games: {install_command('server')}"
#: Whoever answers a hint.
HINTER = "engine:2000000"


@click.command()
@click.argument("spec")
@option("--campaign", type=CAMPAIGN, default=None,
        help="Let the opponent play from this campaign's proof.")
@option("--opponent", default=None, metavar="PLAYER", show_default="proof or engine",
        help="proof, engine, engine:NODES, minimax:N,EVALUATION, uct:N, greedy or random; with two"
             " people the other's name.")
@option("--side", type=click.Choice(["first", "second", "both", "neither"]), default="first",
        help="Your side; both: two people at this terminal, neither: watch.")
@option("--against", default=None, metavar="PLAYER", show_default="the opponent",
        help="With --side neither: who plays the first side.")
@option("--position", default=None, metavar="TEXT",
        help="Where to start: a position, or its name such as console-1-x or ffo40-44/2."
             "  [default: the initial position]")
@option("--moves", default="", metavar="MOVES",
        help="Moves already made, with commas between them, as 'suspend' prints them.")
@option("--hide-moves", is_flag=True, help="Do not show the legal moves.")
@option("--name", default=None, help="Your name.  [default: that of your account]")
@option("--store/--no-store", default=True, help="Store the finished game for `zermelo games`.")
@database_options
@json_option
def play(
    spec: str, campaign: str | None, opponent: str | None, side: str, against: str | None,
    position: str | None, moves: str, hide_moves: bool, name: str | None, store: bool,
    data_dir: Path, database: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Play the game SPEC against the program; finished games are stored.

    Type a move, or: hint, undo, moves, board, suspend, help, quit.
    """
    from zermelo.research.games_played import GameInPlay, store_game
    from zermelo.research.players import open_player

    game = open_local_game(spec)
    in_play = GameInPlay(game, None if position is None else find_position(game, position))
    _advance(in_play, list(filter(None, moves.split(","))))
    if in_play.over:
        raise CommandError("the game is over in that position; choose another")
    person = name or getpass.getuser()
    # The rules of a file may be gone when its game is looked at.
    stored = store and split_file(spec)[0] is None
    needs_database = stored or campaign is not None
    with (
        _open(data_dir, database, campaign) if needs_database else nullcontext((None, None))
    ) as (connection, queries):

        def seat(player: str) -> Seat:
            return Seat(player, open_player(player, game, queries=queries))

        other = opponent or ("proof" if campaign else "engine")
        if side == "both":
            seats = Seat(person), Seat(opponent or "guest")
        elif side == "neither":
            seats = seat(against or other), seat(other)
        else:
            pair = Seat(person), seat(other)
            seats = pair if side == "first" else (pair[1], pair[0])
        table = Table(in_play, seats, show_moves=not hide_moves,
                      open_hinter=lambda: open_player(HINTER, game))  # fmt: skip
        if not table.play():
            if table.suspended:  # one line, to be copied
                click.echo(f"go on with: {_command(in_play.moves)}", err=True)
            else:
                say("the game is not finished, so it is not stored")
            return
        played = _finished(in_play, seats)
        number = store_game(connection, played) if stored and connection is not None else None
    if as_json:
        click.echo(json.dumps(game_object(played) | {"number": number}))
        return
    place = "it is not stored"
    if stored:
        place = NOT_STORED if number is None else f"stored as game {number}"
    click.echo(f"{_result(played, person, game.max_score)}; {place}")


def _advance(in_play: GameInPlay, names: Sequence[str]) -> None:
    for name in names:
        in_play.play(in_play.game.find_move(in_play.position, name))


def _finished(in_play: GameInPlay, seats: tuple[Seat, Seat]) -> PlayedGame:
    from zermelo.players import depth_of

    people = [seat.name for seat in seats if seat.program is None]
    programs = [seat.name for seat in seats if seat.program is not None]
    opponent = programs[-1] if programs else ""
    return replace(
        in_play.finished(seats[0].name, seats[1].name), person=people[0] if people else "",
        opponent=opponent, device="terminal", depth=depth_of(opponent),
    )  # fmt: skip


def _command(moves: Sequence[str]) -> str:
    """What was typed, with the moves so far: a game is its command."""
    context = click.get_current_context()
    words = ["zermelo", "play", str(context.params["spec"])]
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if not isinstance(parameter, click.Option) or parameter.name == "moves":
            continue
        if value == parameter.get_default(context) or value is None:
            continue
        flag = parameter.opts[0] if value is not False else parameter.secondary_opts[0]
        words += [flag] if isinstance(value, bool) else [flag, str(value)]
    return shlex.join([*words, "--moves", ",".join(moves)])


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


def _result(played: PlayedGame, person: str, max_score: int) -> str:
    if not played.score:
        return "a draw"
    margin = by(abs(played.score), max_score)
    return f"you win{margin}" if played.winner == person else f"{played.winner} wins{margin}"
