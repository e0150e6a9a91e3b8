"""Reaching PostgreSQL: connections that wait for it, and its schema.

A service calls `connect` and gets a connection however long the database takes to
come up; a command calls `connect_once` and gets a clear line when it is not there.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from zermelo import ZermeloError
from zermelo.retry import LONGEST_PAUSE, Backoff, Outage, Retry, Stopped, first_line
from zermelo.server.vocabulary import SCHEMA_LOCK
from zermelo.sql import Migration, migrations, query, schema

log = logging.getLogger(__name__)
# What psycopg warns of when it closes a lost connection is told already, by our own error.
logging.getLogger("psycopg").setLevel(logging.ERROR)

T = TypeVar("T")
Connection = psycopg.Connection[Any]

OLDEST_SERVER = 150000
ENCODING = "UTF8"
_CONNECT_SECONDS = 5
#: How long to leave the rows to the transaction that won them.
FIRST_YIELD, LONGEST_YIELD = 0.005, 0.1
#: How long a migration waits for a table at a time, how often, and for how long it lets the others
#: go first.
LONGEST_WAIT_MS, MOST_TURNS = 1000, 40
FIRST_TURN, LONGEST_TURN = 0.2, 2.0
#: A statement that comes a second time comes often: to plan it anew takes longer than to run it.
PREPARE_AFTER = 1
#: What PostgreSQL or its library says where trying again is no use. Connections that fail have no
#: error code. A server that speaks another language is taken for one that is away.
_NO_USE = (
    "password authentication failed", "no password supplied", "no pg_hba.conf entry",
    "certificate verify failed", "does not support SSL", "server does not match host name",
)  # fmt: skip
_UNKNOWN = re.compile(r'(role|database) ".*" does not exist')

#: The database of this process, as far as it is away.
DATABASE = Outage("the database", log)


class DatabaseError(ZermeloError):
    """The database cannot be used as it is; the message says what to do."""

    exit_code = 3


class DatabaseAwayError(DatabaseError):
    """The database cannot be reached; it may be back in a moment."""


def connect_once(url: str) -> Connection:
    """A connection in autocommit mode, or `DatabaseError`."""
    try:
        connection = psycopg.connect(
            url, autocommit=True, connect_timeout=_CONNECT_SECONDS, application_name="zermelo",
            prepare_threshold=PREPARE_AFTER,
        )
    except (psycopg.ProgrammingError, UnicodeError) as error:  # which a host "a..b" is, too
        raise DatabaseError(
            f"cannot read the URL of the database: {first_line(error)};"
            " it looks like postgresql://user@host/name"
        ) from error
    except psycopg.Error as error:
        said = first_line(error)
        healing = not (any(words in said for words in _NO_USE) or _UNKNOWN.search(said))
        kind = DatabaseAwayError if healing else DatabaseError
        raise kind(f"cannot reach the database: {said}") from error
    if connection.info.server_version < OLDEST_SERVER:
        version = connection.info.server_version // 10000
        connection.close()
        raise DatabaseError(f"PostgreSQL {version} is too old; 15 or newer is needed")
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != ENCODING:
        connection.close()
        raise DatabaseError(
            f"the database has the encoding {encoding}, and names need {ENCODING}; make it with"
            f" `createdb --template template0 --encoding {ENCODING}`"
        )
    return connection


def connect_within(url: str, seconds: float) -> Connection:
    """A connection as soon as there is one; `DatabaseAwayError` if there is none for so long."""
    deadline, backoff = time.monotonic() + seconds, Backoff()
    while True:
        try:
            return connect_once(url)
        except DatabaseAwayError:
            if time.monotonic() > deadline:
                raise
            time.sleep(backoff.next())


def without_password(url: str) -> tuple[str, str]:
    """A URL or connection string without its password, and the password; empty without one."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise DatabaseError(f"cannot read the URL of the database: {first_line(error)}") from None
    password = str(parts.pop("password", None) or "")
    public = {name: str(value) for name, value in parts.items() if value is not None}
    return (make_conninfo("", **public), password) if password else (url, "")


def connect(url: str, stop: threading.Event) -> Connection:
    """A connection to a database with the current schema, waiting until there is one.

    A replica is waited for, too: it is promoted when the database that it follows is lost. Raises
    `Stopped` when `stop` is set first, `DatabaseError` where waiting is no use: a wrong URL,
    password or schema.
    """
    retry = Retry(
        "waiting for the database", DatabaseAwayError, psycopg.OperationalError, log=log,
        outage=DATABASE,
    )  # fmt: skip

    began = DATABASE.clock()

    def attempt() -> Connection:
        nonlocal began
        began = DATABASE.clock()
        connection = connect_once(url)
        try:  # the database may go away here, too
            if connection.execute(query("is_replica")).fetchone() == (True,):
                raise DatabaseAwayError("it is a replica, which can only be read")
            check_schema(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    connection = retry.call(attempt, stop)
    DATABASE.ended(began)
    return connection


def wait_for(url: str, stop: threading.Event) -> bool:
    """Wait until the database can be used; False when `stop` is set first."""
    try:
        connect(url, stop).close()
    except Stopped:
        return False
    return True


def serve(
    name: str, url: str, stop: threading.Event, work: Callable[[Connection], None]
) -> None:
    """Run the `work` of a service on a connection until it returns, again after every loss of
    the database.

    Its transactions are not waited for: whatever a crash of the database undoes, `work`
    finds undone and does again. Its statements are planned once.
    """
    retry = Retry("lost the database", psycopg.OperationalError, log=log, outage=DATABASE)

    def attempt() -> None:
        with connect(url, stop) as connection:
            began = time.monotonic()
            try:
                connection.execute(query("name_session"), (f"zermelo {name}",))
                connection.execute(query("commit_lazily"))
                connection.execute(query("plan_by_index"))
                work(connection)
            except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction) as error:
                raise _not_allowed(error) from error
            except psycopg.OperationalError:
                if time.monotonic() - began > LONGEST_PAUSE:
                    retry.reset()  # it had worked: this is a new failure
                raise

    with suppress(Stopped):
        retry.call(attempt, stop)


def schema_version(connection: Connection) -> int:
    """The version of the database's schema; 0 when it has none."""
    row = connection.execute(query("schema_exists")).fetchone()
    if row is None or not row[0]:
        return 0
    row = connection.execute(query("schema_version")).fetchone()
    return int(row[0]) if row else 0


def check_schema(connection: Connection) -> None:
    """`DatabaseError` unless this program can work with the database's schema."""
    found, wanted = schema_version(connection), migrations()[-1].version
    if found == 0:
        raise DatabaseError("the database is empty; run `zermelo db init`")
    if found < wanted:
        raise DatabaseError(
            f"the database has schema version {found}, this program needs {wanted};"
            " run `zermelo db migrate`"
        )
    if found > wanted and not _serves(connection, wanted):
        raise DatabaseError(
            f"the database has schema version {found}, newer than this program's {wanted};"
            " install a newer zermelo"
        )


def _serves(connection: Connection, version: int) -> bool:
    """Whether programs of a former version may go on, as all migrations since then say."""
    row = connection.execute(query("schema_serves"), (version,)).fetchone()
    return row is not None and row[0] is not None and int(row[0]) <= version


def init_schema(connection: Connection) -> bool:
    """Create the schema in an empty database; False when there is one already."""
    with connection.transaction():
        connection.execute(query("lock_transaction"), (SCHEMA_LOCK,))
        if schema_version(connection):
            return False
        connection.execute(schema())
        _record(connection, migrations())
    return True


def migrate_schema(connection: Connection) -> list[str]:
    """Apply the missing migrations, all or none; the names of those applied.

    Services may run meanwhile. A table that somebody uses for long is waited for in short
    turns, so that nobody waits long behind us.
    """

    def attempt() -> list[Migration]:
        with connection.transaction():
            connection.execute(query("lock_transaction"), (SCHEMA_LOCK,))
            connection.execute(query("limit_waiting"), (f"{LONGEST_WAIT_MS}ms",))
            found = schema_version(connection)
            missing = [migration for migration in migrations() if migration.version > found]
            for migration in missing:
                connection.execute(migration.script)
            _record(connection, missing)
        return missing

    retry = Retry(
        "a table is in use", errors.LockNotAvailable, log=log, attempts=MOST_TURNS,
        backoff=Backoff(FIRST_TURN, LONGEST_TURN),
    )  # fmt: skip
    try:
        return [migration.name for migration in retry.call(attempt)]
    except errors.LockNotAvailable as error:
        raise DatabaseError(
            f"cannot migrate: {first_line(error)}; somebody keeps it busy (pg_stat_activity)"
        ) from error


def _record(connection: Connection, applied: Sequence[Migration]) -> None:
    for migration in applied:
        connection.execute(
            query("record_migration"), (migration.version, migration.name, migration.serves)
        )


def ensure_schema(url: str) -> None:
    """Bring the database to the current schema, whether it is empty, old or current."""
    with connect_once(url) as connection:
        if not init_schema(connection):
            migrate_schema(connection)
            check_schema(connection)


def in_transaction(connection: Connection, work: Callable[[], T], attempts: int = 5) -> T:
    """Run `work` in a transaction, again when it lost against a concurrent one."""

    def attempt() -> T:
        with connection.transaction():
            return work()

    retry = Retry(
        "lost against another transaction", errors.DeadlockDetected, errors.SerializationFailure,
        log=log, attempts=attempts, backoff=Backoff(FIRST_YIELD, LONGEST_YIELD),
    )  # fmt: skip
    return retry.call(attempt)


@contextmanager
def clear_errors() -> Iterator[None]:
    """For readers: a database that goes away is a `DatabaseError`, not an error of psycopg.

    A cancelled statement stays what it is; whoever set the limit knows what it means.
    """
    try:
        yield
    except errors.QueryCanceled:
        raise
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise DatabaseError(
            f"the database went away: {first_line(error)}; ask again when it runs"
        ) from None


def is_outage(error: Exception) -> bool:
    """Whether this failed for want of the database."""
    of_database = isinstance(error, DatabaseError | psycopg.OperationalError)
    return of_database and not isinstance(error, errors.QueryCanceled)  # by our own limits


@contextmanager
def telling_outages() -> Iterator[None]:
    """For what needs the database, and shows by its success or failure whether it is there."""
    began = DATABASE.clock()
    try:
        yield
    except (DatabaseError, psycopg.OperationalError) as error:
        if is_outage(error):
            DATABASE.began(first_line(error), began)
        raise
    DATABASE.ended(began)


@contextmanager
def clear_rights() -> Iterator[None]:
    """What a login may not do, or nobody on a replica, is a `DatabaseError`."""
    try:
        yield
    except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction) as error:
        raise _not_allowed(error) from error


def _not_allowed(error: psycopg.Error) -> DatabaseError:
    return DatabaseError(
        f"this login may not do that here: {first_line(error)}; docs/operating.md says which role"
        " may do what, and a replica can only be read"
    )
