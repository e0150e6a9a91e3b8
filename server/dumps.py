"""Backup and restore of a database, by PostgreSQL's own pg_dump and pg_restore."""

from __future__ import annotations

import subprocess
from pathlib import Path

from zermelo import ZermeloError
from zermelo.server.database import connect_once, schema_version
from zermelo.server.embedded.programs import programs


class DumpError(ZermeloError):
    """A backup could not be written or read; the message is PostgreSQL's."""

    exit_code = 3


def back_up_database(url: str, target: Path) -> int:
    """Write a consistent copy of a live database into a file; its size in bytes.

    The file appears under its name only when it is complete.
    """
    if target.exists():
        raise DumpError(f"{target} exists already; choose another name")
    new = target.with_name(target.name + ".new")
    _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={new}",
         f"--dbname={url}")
    new.rename(target)
    return target.stat().st_size


def restore_database(url: str, source: Path) -> None:
    """Fill an empty database from a backup, all of it or nothing."""
    if not source.is_file():
        raise DumpError(f"there is no backup {source}")
    with connect_once(url) as connection:
        if schema_version(connection):
            raise DumpError("the database is not empty; restore into a new one")
    _run("pg_restore", "--no-owner", "--no-privileges", "--exit-on-error",
         "--single-transaction", f"--dbname={url}", str(source))


def _run(program: str, *arguments: str) -> None:
    done = subprocess.run(  # noqa: S603 - our own program, arguments not through a shell
        [str(programs() / program), *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise DumpError(f"{program} failed: {lines[0]}")
