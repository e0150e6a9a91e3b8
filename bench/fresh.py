"""A database of one's own for a measurement, gone when it ends."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from zermelo.server.database import ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running


class Fresh(NamedTuple):
    """An empty database, and a folder that lasts as long."""

    url: str
    folder: Path
    postgres: EmbeddedPostgres


@contextmanager
def fresh_database(purpose: str, within: Path | None = None) -> Iterator[Fresh]:
    """An empty database in a new folder, which is within the system's own unless told."""
    with tempfile.TemporaryDirectory(prefix=f"zermelo-{purpose}-", dir=within) as name:
        folder = Path(name)
        folder.chmod(0o711)  # PostgreSQL may run under another account
        postgres = EmbeddedPostgres(folder)
        with running(postgres) as url:
            ensure_schema(url)
            yield Fresh(url, folder, postgres)
