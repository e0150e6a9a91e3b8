"""`zermelo game`: the games that Zermelo knows, and definitions of new ones."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import click

from zermelo.cli.game_files import SUFFIX, open_local_game, split_file
from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_facts, print_json, print_table
from zermelo.cli.plain_errors import CommandError
from zermelo.games import Game, open_game
from zermelo.games.catalogue import COMPILED, SHOWN_SIZE, listed_games
from zermelo.games.definition.game import DefinedGame

#: Lines of play that `check` counts at most.
MOST_LINES = 20_000
DEEPEST = 6


@click.group()
def game() -> None:
    """List, show, write and check games."""


@game.command(name="list")
@json_option
def list_(as_json: bool) -> None:
    """All games, each with a line."""
    listed = listed_games()
    if as_json:
        print_json({"games": [
            {"name": each.name, "spec": each.pattern, "title": each.title,
             "definition": each.definition}
            for each in listed
        ]})
        return
    rows = [[each.pattern, each.title] for each in listed]
    print_table("games", ["spec", "what it is"], rows, words=2)


@game.command()
@click.argument("file", type=click.Path(path_type=Path))
@option("--force", is_flag=True, help="Replace the file if there is one.")
def new(file: Path, force: bool) -> None:
    """Write a commented definition to start from into FILE."""
    if file.suffix != SUFFIX:
        raise CommandError(f"{file}: a definition is called something{SUFFIX}")
    text = _shipped("template.toml")
    try:
        with file.open("w" if force else "x", encoding="utf-8") as target:
            target.write(text)
    except FileExistsError:
        raise CommandError(f"{file} exists; --force replaces it") from None
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror or error}") from None
    click.echo(f"wrote {file}; check it with `zermelo game check {file}`")


@game.command()
def schema() -> None:
    """Print the JSON schema of definitions, by which editors complete and check them."""
    click.echo(_shipped("schema.json"), nl=False)


@game.command()
@click.argument("spec")
@json_option
def check(spec: str, as_json: bool) -> None:
    """Check the definition SPEC: a file such as mygame.toml, or a game of the library.

    FILE.toml:SIZE,option=value checks it with other parameters than the default ones.

    Exit codes: 0 everything is right, 2 something is wrong.
    """
    defined = _defined(open_local_game(spec))
    compiled = defined.compiled
    tables = compiled.tables
    used = {instance.rule for _, _, instance in tables.every()}
    unused = [name for at, name in enumerate(tables.rules) if at not in used]
    counts = _perft(defined)
    facts: dict[str, Any] = {
        "game": defined.short_spec,
        "spec": defined.spec,
        "state_bits": compiled.state_bits,
        "moves": len(tables.moves),
        "cases": sum(1 for _ in tables.every()),
        "work": compiled.work,
        "symmetries": len(compiled.symmetries),
        "ends": str(compiled.measure),
        "max_score": compiled.max_score,
        "perft": counts,
        "unused_rules": unused,
    }
    if as_json:
        print_json(facts | {"start": defined.format(defined.initial())})
        return
    exchanged = sum(each.exchange for each in compiled.symmetries)
    print_facts([
        ("game", defined.short_spec),
        ("digest", defined.definition.digest),
        ("state", f"{compiled.state_bits} bits"),
        ("moves", f"{facts['moves']} ground moves in {facts['cases']} cases; at most"
                  f" {compiled.work} operations a position"),
        ("symmetries", f"{facts['symmetries']} proved, {exchanged} of them exchange the sides"),
        ("ends", f"proved: {compiled.measure}"),
        ("scores", f"{-compiled.max_score} to {compiled.max_score}"),
        ("perft", " ".join(map(str, counts))),
    ])
    for name in unused:
        click.secho(f"warning: the rule {name!r} can never be used", fg="yellow", err=True)
    click.echo("\n" + defined.draw(defined.initial()))


@game.command()
@click.argument("spec")
@option("--text", is_flag=True, help="Print the definition alone.")
@json_option
def show(spec: str, text: bool, as_json: bool) -> None:
    """The game SPEC: its rules in words, its start, its definition."""
    known = _named(spec)
    definition = known.definition_text
    if text:
        if definition is None:
            raise CommandError(f"{known.short_spec} has no definition: its rules are code")
        sys.stdout.write(definition)
        return
    if as_json:
        print_json({
            "game": known.spec, "title": known.title, "rules": known.rules(),
            "start": known.format(known.initial()), "definition": definition,
        })
        return
    print_facts([("game", known.short_spec), ("title", known.title)])
    click.echo()
    for sentence in known.rules():
        click.echo(f"- {sentence}")
    click.echo(f"\n{known.draw(known.initial())}")
    if definition is not None:
        click.echo(f"\n{definition.rstrip()}")


def _shipped(name: str) -> str:
    return (files("zermelo.games") / "definition" / name).read_text(encoding="utf-8")


def _named(spec: str) -> Game[Any]:
    """A game by spec or file; a name of the library alone means its default parameters."""
    if split_file(spec)[0] is None and ":" not in spec and spec in COMPILED:
        return open_game(f"{spec}:{SHOWN_SIZE}")
    return open_local_game(spec)


def _defined(found: Game[Any]) -> DefinedGame:
    if not isinstance(found, DefinedGame):
        raise CommandError(f"{found.short_spec} has no definition to check: its rules are code")
    return found


def _perft(defined: DefinedGame) -> list[int]:
    """Lines of play by depth, as far as that is quick."""
    counts: list[int] = []
    level = [defined.initial()]
    for _ in range(DEEPEST):
        after = []
        for position in level:
            moves = defined.moves(position)
            after += [defined.play(position, move) for move in moves] or [position]
            if len(after) > MOST_LINES:
                return counts
        level = after
        counts.append(len(level))
    return counts
