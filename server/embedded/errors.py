"""What can go wrong with a PostgreSQL of our own."""

from __future__ import annotations

from zermelo import ZermeloError
from zermelo.parts import MissingPartError


class EmbeddedError(ZermeloError):
    """The embedded PostgreSQL cannot run; the message says why and what to do."""

    exit_code = 4


class DataDirectoryInUseError(EmbeddedError):
    """Another run holds the lock of the data directory."""


class DiskFullError(EmbeddedError):
    """There is too little space left to go on safely."""


class NoPostgresError(EmbeddedError):
    """The wheel with PostgreSQL's programs is not installed."""

    exit_code = MissingPartError.exit_code
