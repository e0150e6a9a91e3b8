"""`zermelo db`: the database itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from psycopg.errors import InsufficientPrivilege

from zermelo.cli.options import (
    database_options,
    json_option,
    open_connection,
    open_database,
    option,
)
from zermelo.retry import first_line
from zermelo.server.check import CHECKS, check_database
from zermelo.server.database import (
    DatabaseError,
    check_schema,
    clear_rights,
    connect_once,
    connect_within,
    init_schema,
    migrate_schema,
    schema_version,
)
from zermelo.sql import query

VIOLATED = 5


@click.group()
def db() -> None:
    """Create, upgrade, check, back up and restore the database."""


@db.command()
@database_options
@json_option
def init(data_dir: Path, database: str | None, as_json: bool) -> None:
    """Create everything in an empty database; an up-to-date one is left alone."""
    with (
        open_database(data_dir, database, create=True) as url, connect_once(url) as connection,
        clear_rights(),
    ):  # fmt: skip
        created = init_schema(connection)
        if not created:
            check_schema(connection)
        version = schema_version(connection)
    if as_json:
        click.echo(json.dumps({"created": created, "version": version}))
    else:
        done = "created" if created else "was there already"
        click.echo(f"schema version {version} {done}")


@db.command()
@option("--init", "also_empty", is_flag=True,
        help="Create everything in an empty database, too: for scripts that start a project.")
@option("--wait", "wait_seconds", type=click.FloatRange(0, 3600), default=0.0, metavar="SECONDS",
        help="How long to wait for a database that is away.")
@database_options
@json_option
def migrate(
    data_dir: Path, database: str | None, also_empty: bool, wait_seconds: float, as_json: bool
) -> None:
    """Bring an older database to the schema of this program, also while services run."""
    with (
        open_database(data_dir, database, create=also_empty) as url,
        connect_within(url, wait_seconds) as connection,
        clear_rights(),
    ):
        if also_empty:
            init_schema(connection)
        if schema_version(connection) == 0:
            raise DatabaseError("the database is empty; run `zermelo db init`")
        applied = migrate_schema(connection)
        check_schema(connection)
        version = schema_version(connection)
    if as_json:
        click.echo(json.dumps({"applied": applied, "version": version}))
    else:
        for name in applied:
            click.echo(f"applied {name}")
        click.echo(f"schema version {version}")


@db.command()
@database_options
@json_option
def check(data_dir: Path, database: str | None, as_json: bool) -> None:
    """Test the invariants on a live database and name every violation.

    Ends with exit code 5 if there is any.
    """
    with (
        open_database(data_dir, database) as url, connect_once(url) as connection, clear_rights()
    ):  # fmt: skip
        check_schema(connection)
        violations = check_database(connection)
    if as_json:
        found = [violation._asdict() for violation in violations]
        click.echo(json.dumps({"ok": not found, "checks": len(CHECKS) + 1, "violations": found}))
    else:
        for violation in violations:
            click.echo(str(violation))
        click.echo(f"{len(CHECKS) + 1} checks, {len(violations)} violations")
    if violations:
        sys.exit(VIOLATED)


@db.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@database_options
@json_option
def backup(file: Path, data_dir: Path, database: str | None, as_json: bool) -> None:
    """Write a consistent copy of the live database into FILE."""
    from zermelo.server.dumps import back_up_database

    with open_database(data_dir, database) as url:
        size = back_up_database(url, file)
    if as_json:
        click.echo(json.dumps({"file": str(file), "bytes": size}))
    else:
        click.echo(f"{file}: {size:,} bytes")


@db.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@database_options
@json_option
def restore(file: Path, data_dir: Path, database: str | None, as_json: bool) -> None:
    """Fill an empty database from the backup FILE, then check it.

    Ends with exit code 5 if the check finds a violation.
    """
    from zermelo.server.dumps import restore_database

    with open_database(data_dir, database, create=True) as url:
        restore_database(url, file)
        with connect_once(url) as connection:
            migrate_schema(connection)
            connection.execute(query("renumber_leases"))
            version = schema_version(connection)
            violations = check_database(connection)
    if as_json:
        click.echo(json.dumps({"version": version, "violations": len(violations)}))
    else:
        click.echo(f"restored, schema version {version}, {len(violations)} violations")
    if violations:
        sys.exit(VIOLATED)


@db.command()
@database_options
@json_option
def renumber(data_dir: Path, database: str | None, as_json: bool) -> None:
    """Use new lease numbers after PostgreSQL recovered to an earlier time.

    Clients may hold leases that this database has never heard of; their results must not
    be taken for those of other leases. `restore` does this by itself.
    """
    with open_connection(data_dir, database) as connection:
        connection.execute(query("renumber_leases"))
    done = "leases have new numbers from now on"
    click.echo(json.dumps({"renumbered": True}) if as_json else done)


@db.command()
@database_options
@json_option
def roles(data_dir: Path, database: str | None, as_json: bool) -> None:
    """Make the roles zermelo_service, zermelo_research and zermelo_web, or grant what is new."""
    with open_database(data_dir, database) as url, connect_once(url) as connection:
        try:
            check_schema(connection)
            # Who does not own the tables grants nothing, and PostgreSQL only warns.
            owns = connection.execute(query("owns_tables")).fetchone()
            if owns is None or not owns[0]:
                raise _missing_rights("it does not own the tables")
            with connection.transaction():
                connection.execute(query("create_roles"))
        except InsufficientPrivilege as error:
            raise _missing_rights(first_line(error)) from error
    made = ["zermelo_service", "zermelo_research", "zermelo_web"]
    done = f"roles {', '.join(made)} are up to date"
    click.echo(json.dumps({"roles": made}) if as_json else done)


def _missing_rights(why: str) -> DatabaseError:
    return DatabaseError(
        f"this login may not make or grant roles ({why}); use one that owns the database and has"
        " CREATEROLE, or let a superuser run it: docs/operating.md says how"
    )
