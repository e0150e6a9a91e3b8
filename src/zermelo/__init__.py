"""Zermelo: volunteer computing for weak solutions of two-player games."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from zermelo.research.api import Database

__version__ = "0.1.0"


class ZermeloError(Exception):
    """The root of all errors whose message is meant for the user.

    The command line prints the message as one line and ends with `exit_code`.
    """

    exit_code = 1


def open(url: str | None = None, *, data_dir: str | Path | None = None) -> Database:
    """Open a database of campaigns to ask questions; docs/research.md says which.

    `url` names a PostgreSQL; without one it is the embedded one of `data_dir`.
    """
    from zermelo.research.api import open_database

    return open_database(url, data_dir=data_dir)
