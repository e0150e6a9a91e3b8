"""Backup and restore of a database, by PostgreSQL's own pg_dump and pg_restore."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from zermelo import ZermeloError
from zermelo.server.database import connect_once, schema_version, without_password
from zermelo.server.embedded.errors import NoPostgresError
from zermelo.server.embedded.programs import programs
from zermelo.sql import query


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
    try:
        _run(url, "pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={new}")
        new.rename(target)
    finally:
        new.unlink(missing_ok=True)
    return target.stat().st_size


def restore_database(url: str, source: Path) -> None:
    """Fill an empty database from a backup, all of it or nothing."""
    if not source.is_file():
        raise DumpError(f"there is no backup {source}")
    with connect_once(url) as connection:
        if schema_version(connection):
            raise DumpError("the database is not empty; restore into a new one")
        settings = {name for (name,) in connection.execute(query("setting_names"))}
    _run(url, "psql", "--no-psqlrc", "--quiet", "--output=/dev/null", "--set=ON_ERROR_STOP=1",
         feed=lambda target: _write_script(source, settings, target))


def _write_script(source: Path, settings: Collection[str], target: IO[bytes]) -> None:
    """The commands that restore a backup, in one transaction, which a damaged one never commits.

    pg_restore begins with all the settings that its own version has. An older server refuses
    those that are new, so only those in `settings` are written.
    """
    command = [_program("pg_restore"), "--no-owner", "--no-privileges", "--file=-", str(source)]
    with _started(command, stdout=subprocess.PIPE) as process, _pipe(process.stdout) as script:
        target.write(b"BEGIN;\n")
        for line in script:
            words = line.decode("utf-8", "replace").split()
            if words[:1] != ["SET"] or words[1] in settings:
                target.write(line)
            if words[:1] == ["CREATE"]:  # the settings stand before
                break
        shutil.copyfileobj(script, target)
    target.write(b"COMMIT;\n")


def _run(
    url: str, program: str, *arguments: str, feed: Callable[[IO[bytes]], None] | None = None
) -> None:
    """Run a program on this database; a password goes by the environment, which is ours alone."""
    public, password = without_password(url)
    command = [_program(program), f"--dbname={public}", *arguments]
    env = os.environ | ({"PGPASSWORD": password} if password else {})
    with (
        _started(command, stdin=subprocess.PIPE, env=env) as process,
        suppress(BrokenPipeError),  # it ended early, and says why
        _pipe(process.stdin) as stdin,
    ):
        if feed is not None:
            feed(stdin)


@contextmanager
def _started(command: list[str], **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A program that must have succeeded when the block ends; `DumpError` says why it did not."""
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(command, stderr=said, **how) as process,  # noqa: S603 - no shell
    ):
        yield process
        if process.wait():
            said.seek(0)
            lines = said.read().decode("utf-8", "replace").strip().splitlines() or ["no message"]
            raise DumpError(f"{Path(command[0]).name} failed: {lines[0]}")


def _pipe(end: IO[bytes] | None) -> IO[bytes]:
    """Our end of a pipe that was asked for."""
    if end is None:
        raise ValueError("no pipe was asked for")
    return end


def _program(name: str) -> str:
    """One of PostgreSQL's programs: the wheel's, which serve all versions, or the machine's."""
    try:
        return str(programs() / name)
    except NoPostgresError:
        if found := shutil.which(name):
            return found
        raise
