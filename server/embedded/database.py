"""The database of a data directory, run by us or joined where it runs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zermelo.server.embedded.directory import DataDirectory
from zermelo.server.embedded.errors import DataDirectoryInUseError, EmbeddedError
from zermelo.server.embedded.postgres import START_SECONDS, STOP_SECONDS, EmbeddedPostgres
from zermelo.server.embedded.postmaster import read_postmaster


class EmbeddedDatabase:
    """A data directory's database for one block: run by us, or joined where it runs."""

    def __init__(
        self, data_dir: Path, *, create: bool = False, stop_seconds: float = STOP_SECONDS
    ) -> None:
        """It is stopped within `stop_seconds`, also where the next start then takes longer."""
        self._directory = DataDirectory(data_dir)
        self._postgres = EmbeddedPostgres(self._directory.path)
        self._create, self._stop_seconds = create, stop_seconds
        self._ours = False
        self.url = ""

    def __enter__(self) -> EmbeddedDatabase:
        if not (self._create or self._postgres.cluster.exists()):
            raise EmbeddedError(
                f"there is no database in {self._directory.path}; start one with "
                "`zermelo solve` or `zermelo db init`, or name another --data-dir"
            )
        if url := self._other_run():
            self.url = url
            return self
        self._ours = True
        try:
            self._postgres.begin()
            self.url = self._postgres.wait_ready()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours:
            self._end()

    def keep_alive(self) -> None:
        """Start the server again if it is ours and died. Call it now and then."""
        if self._ours:
            self._postgres.keep_alive()

    def _other_run(self) -> str:
        """The URL of the database of another run; empty if there is none, and we hold the lock.

        Another run may be about to start its PostgreSQL, or to end.
        """
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                self._directory.lock()
            except DataDirectoryInUseError:
                postmaster = read_postmaster(self._postgres.cluster)
                if postmaster and postmaster.ready:
                    return postmaster.url
                if time.monotonic() > deadline:
                    raise EmbeddedError(
                        f"another run uses {self._directory.path}, but its PostgreSQL is not ready"
                    ) from None
                time.sleep(0.05)
            else:
                return ""

    def _end(self) -> None:
        self._postgres.stop(self._stop_seconds)
        self._directory.unlock()


@contextmanager
def embedded_database(data_dir: Path, *, create: bool = False) -> Iterator[str]:
    """The URL of a data directory's database: the running one, or one run for this block."""
    with EmbeddedDatabase(data_dir, create=create) as database:
        yield database.url
