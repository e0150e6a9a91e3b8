"""Backup and restore of a database, by PostgreSQL's own pg_dump and pg_restore."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from zermelo import ZermeloError
from zermelo.server.database import connect_once, schema_version, without_password
from zermelo.server.embedded.programs import programs


class DumpError(ZermeloError):
    """A backup could not be written or read; the message is PostgreSQL's."""

    exit_code = 3


def back_up_database(url: str, target: Path) -> int:
    """Write a consistent copy of a live database into a file; its size in bytes.

    The file appears under its name only when it is complete, and is its owner's alone.
    """
    if target.exists():
        raise DumpError(f"{target} exists already; choose another name")
    new = target.with_name(target.name + ".new")
    try:
        # A new file whatever was there: who could open that one would read the backup.
        new.unlink(missing_ok=True)
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise DumpError(f"cannot write {new}: {error.strerror}") from error
    _run(url, "pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={new}")
    new.rename(target)
    return target.stat().st_size


def restore_database(url: str, source: Path) -> None:
    """Fill an empty database from a backup, all of it or nothing."""
    if not source.is_file():
        raise DumpError(f"there is no backup {source}")
    with connect_once(url) as connection:
        if schema_version(connection):
            raise DumpError("the database is not empty; restore into a new one")
    _run(url, "pg_restore", "--no-owner", "--no-privileges", "--exit-on-error",
         "--single-transaction", str(source))


def _run(url: str, program: str, *arguments: str) -> None:
    """Run a program on this database; a password goes by the environment, which is ours alone."""
    public, password = without_password(url)
    done = subprocess.run(  # noqa: S603 - our own program, arguments not through a shell
        [str(programs() / program), f"--dbname={public}", *arguments],
        env=os.environ | ({"PGPASSWORD": password} if password else {}),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise DumpError(f"{program} failed: {lines[0]}")
