"""`zermelo games`: the games that were played."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zermelo.cli.options import database_options, json_option, open_connection, option
from zermelo.cli.output import print_facts, print_json, print_table, short_time
from zermelo.cli.plain_errors import CommandError
from zermelo.figures import signed

if TYPE_CHECKING:
    from zermelo.research.games_played import PlayedGame


@click.group()
def games() -> None:
    """List, show and export the games that were played."""


@games.command(name="list")
@option("--most", type=click.IntRange(1, 10_000), default=100, help="Games to list.")
@database_options
@json_option
def list_(most: int, data_dir: Path, database: str | None, as_json: bool) -> None:
    """The last games, the newest first."""
    from zermelo.research.games_played import list_games

    with open_connection(data_dir, database) as connection:
        found = list_games(connection, most)
    if as_json:
        print_json({"games": [game_object(game) for game in found]})
    elif not found:
        click.echo("no games yet; play one with `zermelo play SPEC`")
    else:
        print_table(
            "games", ["number", "game", "first", "second", "winner", "score", "time", "started"],
            [[str(game.id), game.short_spec, game.first, game.second, game.winner,
              signed(game.score), short_time(game.seconds), _when(game)] for game in found],
            words=5,
        )


@games.command()
@click.argument("number", type=click.IntRange(0, 2**63 - 1))
@option("--format", "form", type=click.Choice(["text", "sgf", "obf"]), default="text",
        help="text: all that is stored; sgf: Go and reversi; obf: every position, reversi.")
@option("--output", type=click.Path(dir_okay=False, path_type=Path), default=None,
        help="The file to write.  [default: standard output]")
@database_options
def export(
    number: int, form: str, output: Path | None, data_dir: Path, database: str | None
) -> None:
    """Write the game NUMBER as other programs read it."""
    from zermelo.research.game_files import FORMATS
    from zermelo.research.games_played import find_game

    with open_connection(data_dir, database) as connection:
        played = find_game(connection, number)
    text = FORMATS[form].write(played)
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"cannot write {str(output)!r}: {error.strerror}") from None
    click.echo(f"wrote {output}")


@games.command()
@click.argument("number", type=click.IntRange(0, 2**63 - 1))
@database_options
@json_option
def show(number: int, data_dir: Path, database: str | None, as_json: bool) -> None:
    """The game NUMBER: who, when, all moves, the final position."""
    from zermelo.research.games_played import find_game

    with open_connection(data_dir, database) as connection:
        played = find_game(connection, number)
    if as_json:
        print_json(game_object(played))
        return
    game = played.game
    click.echo(game.draw(game.parse(played.final)))
    click.echo()
    print_facts([
        ("game", game.short_spec),
        ("players", f"{played.first} (first) and {played.second}"),
        ("result", f"{played.winner}, {signed(played.score)} for the first player"),
        ("start", played.position or "the initial position"),
        ("moves", " ".join(played.moves)),
        ("when", f"{_when(played)}, {short_time(played.seconds)}"),
        *((name, text) for name, text in (
            ("person", played.person), ("machine", played.opponent), ("device", played.device),
            ("depth", f"{played.depth} plies" if played.depth else ""),
        ) if text),
    ])  # fmt: skip


def game_object(game: PlayedGame) -> dict[str, Any]:
    return {
        "number": game.id, "game": game.spec, "position": game.position, "first": game.first,
        "second": game.second, "winner": game.winner, "score": game.score, "moves": game.moves,
        "final": game.final, "started_at": game.started_at.isoformat(),
        "seconds": round(game.seconds, 3), "person": game.person, "opponent": game.opponent,
        "device": game.device, "depth": game.depth,
    }  # fmt: skip


def _when(game: PlayedGame) -> str:
    return f"{game.started_at.astimezone():%Y-%m-%d %H:%M}"
