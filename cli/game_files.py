"""Games that a user names on the command line: by spec, or by the file of a definition.

Only commands of the person at the machine read files; a spec that comes from elsewhere never
names one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zermelo.cli.plain_errors import CommandError
from zermelo.games import Game, open_game
from zermelo.games.definition.limits import MOST_TEXT_BYTES

if TYPE_CHECKING:
    from zermelo.games.definition.definition import Definition

SUFFIX = ".toml"


class _CampaignName(click.ParamType[str]):
    """The name of a campaign; the file of a definition means the one that solves that game."""

    name = "campaign"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        return value if split_file(value)[0] is None else open_local_game(value).short_spec


CAMPAIGN = _CampaignName()


def open_local_game(spec: str) -> Game[Any]:
    """The game of ``NAME:SIZE,...`` or of ``FILE.toml[:SIZE,...]``."""
    file, params = split_file(spec)
    if file is None:
        return open_game(spec)
    from zermelo.games.definition.library import remember  # most commands need no definitions

    definition = read_file(file)
    remember(definition)
    return open_game(f"{definition.name}@{definition.digest}:{params}")


def split_file(spec: str) -> tuple[Path | None, str]:
    """The file that a spec names, if it names one, and what is behind the colon."""
    head, _, params = spec.partition(f"{SUFFIX}:") if f"{SUFFIX}:" in spec else (
        spec.removesuffix(SUFFIX), "", ""
    )
    return (Path(head + SUFFIX), params) if head != spec else (None, "")


def read_file(path: Path) -> Definition:
    from zermelo.games.definition.definition import read_definition

    try:
        with path.open("rb") as file:
            data = file.read(MOST_TEXT_BYTES + 1)
        return read_definition(data.decode(), str(path))
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{path}: this is no text in UTF-8") from None
