"""A PostgreSQL of our own in a data directory, for everyone who does not run one.

The data directory belongs to one run at a time, which holds the lock and is the parent
of the server; other commands may connect to it meanwhile. The server dies with its
parent, and every way to die is one that PostgreSQL recovers from by itself.
"""

from zermelo.server.embedded.database import EmbeddedDatabase, embedded_database
from zermelo.server.embedded.directory import DataDirectory, default_data_dir
from zermelo.server.embedded.errors import (
    DataDirectoryInUseError,
    DiskFullError,
    EmbeddedError,
    NoPostgresError,
)
from zermelo.server.embedded.postgres import EmbeddedPostgres, running, url_beside

__all__ = [
    "DataDirectory",
    "DataDirectoryInUseError",
    "DiskFullError",
    "EmbeddedDatabase",
    "EmbeddedError",
    "EmbeddedPostgres",
    "NoPostgresError",
    "default_data_dir",
    "embedded_database",
    "running",
    "url_beside",
]
