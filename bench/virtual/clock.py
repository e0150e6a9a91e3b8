"""A clock of one's own for the rules that are written in SQL.

The statements of the services say `now()`. On a connection of which `VirtualClock` has taken hold
that name means a function of the simulation, before PostgreSQL's own, and so do the defaults of
columns. So quotas, deadlines and back-off are those of the services, in virtual time.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from psycopg import sql

from zermelo.server.database import Connection

#: When virtual time begins; any moment will do.
BEGINNING = datetime(2030, 1, 1, tzinfo=UTC)

_CLOCK = """
CREATE SCHEMA virtual;
CREATE FUNCTION virtual.now() RETURNS timestamptz LANGUAGE sql STABLE
    AS $$ SELECT pg_catalog.current_setting('virtual.now')::timestamptz $$;
"""
_DEFAULTS = """
SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = 'public' AND column_default = 'now()'
"""


class VirtualClock:
    """Time on one connection; it stands still until it is set."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        columns = connection.execute(_DEFAULTS).fetchall()
        connection.execute(_CLOCK)
        for table, column in columns:
            connection.execute(
                sql.SQL("ALTER TABLE {} ALTER COLUMN {} SET DEFAULT virtual.now()").format(
                    sql.Identifier(table), sql.Identifier(column)
                )
            )
        self.set(0.0)
        # What stands before pg_catalog is found first.
        connection.execute("SET search_path = virtual, pg_catalog, public")

    def set(self, seconds: float) -> None:
        """It is this many seconds after the beginning."""
        now = BEGINNING + timedelta(seconds=seconds)
        self._connection.execute(
            "SELECT set_config('virtual.now', %s, false)", (now.isoformat(),)
        )
