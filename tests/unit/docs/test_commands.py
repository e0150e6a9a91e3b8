"""Every command line in the documentation names a command and options that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from zermelo.cli import zermelo

REPOSITORY = Path(__file__).parents[3]
PAGES = [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")]
FENCE = re.compile(r"^( *)```sh\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(zermelo [^`]+)`")
OPTION = re.compile(r"--[a-z][a-z-]*")


def command_lines(page: Path) -> Iterator[str]:
    """Command lines of a page, without their comments."""
    text = page.read_text()
    for fence in FENCE.finditer(text):
        for line in fence[2].replace("\\\n", " ").splitlines():
            if line.strip().startswith("zermelo "):
                yield line.partition("#")[0].strip()
    yield from (match[1].replace("\n", " ") for match in INLINE.finditer(text))


def fault(line: str) -> str | None:
    """What is wrong with a command line; None if nothing is."""
    command: click.Command = zermelo
    context = click.Context(zermelo)
    words = line.split()[1:]
    while isinstance(command, click.Group) and words:
        if words[0].startswith("-"):
            break
        found = command.get_command(context, words[0])
        if found is None:
            return f"there is no command {words[0]!r}"
        command, words = found, words[1:]
    known = {"--help", "--version"}.union(*(param.opts for param in command.params)).union(
        *(param.secondary_opts for param in command.params)
    )
    for option in OPTION.findall(" ".join(words)):
        if option not in known:
            return f"there is no option {option}"
    return None


def test_there_are_command_lines_to_check() -> None:
    assert sum(len(list(command_lines(page))) for page in PAGES) > 50


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_page_exists(page: Path) -> None:
    faults = {line: wrong for line in command_lines(page) if (wrong := fault(line))}
    assert not faults


def test_a_wrong_command_is_found() -> None:
    assert fault("zermelo solve reversi:6x6 --nowhere") == "there is no option --nowhere"
    assert fault("zermelo admin nothing") == "there is no command 'nothing'"
