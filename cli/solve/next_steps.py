"""What to try after the demonstration: commands that work as they are printed."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import click

from zermelo.parts import is_installed


def next_steps(campaign: str, spec: str, data_dir: Path) -> list[tuple[str, str]]:
    """Commands on what was just proved, and what each is for."""
    program, where = _program(), f"--data-dir {shlex.quote(str(data_dir))}"
    name, game = shlex.quote(campaign), shlex.quote(spec)
    proof = shlex.quote(f"{spec.partition(',')[0].replace(':', '-')}.proof")
    pages = [(f"{program} web {where}", "open the pages again")] if is_installed("web") else []
    return [
        *pages,
        (f"{program} play {game} --campaign {name} {where}", "play against the proof"),
        (f"{program} query position {name} {where}", "what each first move is worth"),
        (f"{program} proof export {name} --output {proof} {where}", "write the proof to a file"),
        (f"{program} proof verify {proof}", "check it with an independent program"),
        (f"{program} solve go:4x4", "solve another game; Ctrl-C, same command: goes on"),
    ]


def print_next_steps(campaign: str, spec: str, data_dir: Path) -> None:
    click.echo("\nWhat to try next:")
    for command, purpose in next_steps(campaign, spec, data_dir):
        click.echo(f"  # {purpose}\n  {command}")


def _program() -> str:
    """How the user can call this program again from the same folder."""
    called = Path(sys.argv[0])
    found = shutil.which("zermelo")
    if called.name != "zermelo" or (found and Path(found).resolve() == called.resolve()):
        return "zermelo"
    return shlex.quote(str(called))
