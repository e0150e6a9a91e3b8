"""What operators do: look, ban, ask again, back up; and the record of it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any
from urllib.request import urlopen

import psycopg
import pytest
from click.testing import CliRunner
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.support.harness import Solve
from zermelo import ZermeloError
from zermelo.cli import zermelo
from zermelo.games import Bounds
from zermelo.server.campaigns import create_campaign, find_campaign
from zermelo.server.check import check_database
from zermelo.server.coordinator.metrics import CoordinatorMetrics
from zermelo.server.database import Connection, DatabaseError, connect_once, serve
from zermelo.server.dumps import DumpError
from zermelo.server.metrics import DatabaseCollector, serve_metrics

SPEC = "reversi:4x4"


def run(database: str, *arguments: str) -> Any:
    result = CliRunner().invoke(
        zermelo, [*arguments, "--json"], env={"ZERMELO_DATABASE": database}
    )
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


@pytest.fixture
def solve(connection: Connection) -> Solve:
    campaign = create_campaign(connection, SPEC, node_budget=40, replication="none")
    solve = Solve(connection, campaign, clients=2, users=True)
    for _ in range(8):
        solve.step()
    return solve


def test_accounts_by_command(database: str) -> None:
    token = run(database, "admin", "open-account", "otto", "--role", "operator")["token"]
    assert len(token) >= 43
    (user,) = run(database, "admin", "users")["users"]
    assert (user["name"], user["role"], user["tokens"]) == ("otto", "operator", 1)
    assert run(database, "admin", "renew-token", "otto")["token"] != token
    assert run(database, "admin", "revoke", "otto") == {"revoked": 1}
    run(database, "admin", "set-role", "otto", "researcher")
    with pytest.raises(ZermeloError, match="there is a user"):
        run(database, "admin", "open-account", "otto")
    with pytest.raises(ZermeloError, match="no user 'nobody'"):
        run(database, "admin", "ban-user", "nobody", "--yes")
    done = [row["action"] for row in run(database, "admin", "audit")["audit"]]
    assert done == ["set role", "revoke tokens", "renew token", "open account"]


def test_a_ban_takes_out_what_the_host_said(database: str, solve: Solve) -> None:
    connection, host = solve.connection, solve.hosts[0]
    connection.execute("UPDATE results SET agreed_lo = lo, agreed_hi = hi")  # as if compared
    answers = connection.execute(
        "SELECT count(*) FROM results WHERE host = %s AND state = 'assimilated'", (host.id,)
    ).fetchone()
    assert answers is not None
    banned = run(database, "admin", "ban-host", str(host.id), "--actor", "otto",
                 "--reason", "overclocked", "--yes")
    assert banned["doubted"] == answers[0] > 0
    solve.assimilate()
    left = connection.execute(
        "SELECT count(*) FROM evidence JOIN results ON lease = result WHERE host = %s", (host.id,)
    ).fetchone()
    assert left == (0,)
    assert check_database(connection) == []
    shown = run(database, "admin", "host", str(host.id))
    assert shown["banned_at"] is not None
    lines = run(database, "admin", "audit", "--subject", f"host {host.id}")["audit"]
    assert ("otto", "ban", "overclocked") in {
        (line["actor"], line["action"], line["detail"]) for line in lines
    }
    run(database, "admin", "unban-host", str(host.id))
    assert run(database, "admin", "host", str(host.id))["banned_at"] is None
    assert solve.run() == Bounds(-8, -8)
    assert check_database(connection) == []


def test_a_workunit_can_be_asked_again(database: str, solve: Solve) -> None:
    row = solve.connection.execute(
        "SELECT workunit FROM results WHERE state = 'assimilated' AND answer <> 'exhausted' LIMIT 1"
    ).fetchone()
    assert row is not None
    history = run(database, "admin", "workunit", str(row[0]))["history"]
    assert [lease["lease_state"] for lease in history] == ["returned"]
    assert run(database, "admin", "ask-again", str(row[0]))["answers"] == 1
    assert check_database(solve.connection) == []
    assert solve.run() == Bounds(-8, -8)
    assert check_database(solve.connection) == []


def test_backup_and_restore(
    database: str, empty_database: str, solve: Solve, tmp_path: Path
) -> None:
    file = tmp_path / "zermelo.backup"
    assert run(database, "db", "backup", str(file))["bytes"] == file.stat().st_size > 0
    with pytest.raises(DumpError, match="exists already"):
        run(database, "db", "backup", str(file))
    restored = run(empty_database, "db", "restore", str(file))
    assert restored["violations"] == 0
    with pytest.raises(DumpError, match="not empty"):
        run(empty_database, "db", "restore", str(file))
    with connect_once(empty_database) as copy:
        for table in ("nodes", "evidence", "results", "workunits", "leases", "hosts", "audit"):
            statement = f"SELECT * FROM {table} ORDER BY 1, 2".encode()  # noqa: S608
            original = solve.connection.execute(statement).fetchall()
            assert copy.execute(statement).fetchall() == original
        # What the original hands out from now on, the copy never does.
        (block,), (original_block,) = (
            database.execute("SELECT reserved FROM lease_blocks").fetchall()[0]
            for database in (copy, solve.connection)
        )
        assert block > original_block + 1_000_000
        run(empty_database, "db", "renumber")
        assert copy.execute("SELECT reserved FROM lease_blocks").fetchall()[0][0] > block
        # The copy goes on where the original was, once the leases of the original's clients end.
        copy.execute("UPDATE leases SET deadline = now() WHERE state = 'open'")
        resumed = Solve(copy, find_campaign(copy, SPEC), users=True)
        resumed.coordinator.expire()
        assert resumed.run() == Bounds(-8, -8)
    damaged = tmp_path / "damaged"
    damaged.write_bytes(file.read_bytes()[:500])
    with connect_once(empty_database) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    with pytest.raises(DumpError, match="pg_restore failed"):
        run(empty_database, "db", "restore", str(damaged))


@pytest.fixture
def logins(database: str) -> Iterator[dict[str, str]]:
    """The URLs of real logins that have one of the roles each."""
    run(database, "db", "roles")
    run(database, "db", "roles")  # twice is harmless
    made = {}
    with connect_once(database) as connection:
        for role in ("zermelo_research", "zermelo_service"):
            login = f"login_{secrets.token_hex(8)}"
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'x' IN ROLE {}").format(
                sql.Identifier(login), sql.Identifier(role)
            ))
            made[role] = make_conninfo(database, user=login, password="x")  # noqa: S106
        yield made
        for url in made.values():
            connection.execute(sql.SQL("DROP ROLE {}").format(
                sql.Identifier(str(conninfo_to_dict(url)["user"]))
            ))


@pytest.mark.parametrize(("role", "allowed", "forbidden"), [
    (
        "zermelo_research",
        ("SELECT count(*) FROM nodes", "SELECT count(*) FROM credits", "SELECT name FROM hosts"),
        ("UPDATE nodes SET lo = hi", "DELETE FROM results", "SELECT * FROM tokens",
         "SELECT host_key_digest FROM hosts", "CREATE TABLE mine (x integer)", "TRUNCATE evidence",
         "INSERT INTO audit (actor, action, subject) VALUES ('a', 'b', 'c')",
         "UPDATE users SET role = 'operator'"),
    ),
    (
        "zermelo_service",
        ("INSERT INTO audit (actor, action, subject) VALUES ('a', 'b', 'c')",
         "UPDATE hosts SET streak = streak"),
        ("DELETE FROM audit", "UPDATE audit SET actor = 'nobody'", "TRUNCATE audit",
         "DROP TABLE nodes", "CREATE TABLE mine (x integer)", "CREATE ROLE more SUPERUSER"),
    ),
])
def test_roles_may_what_they_need_and_nothing_else(
    solve: Solve, logins: dict[str, str], role: str, allowed: tuple[str, ...],
    forbidden: tuple[str, ...],
) -> None:
    with connect_once(logins[role]) as connection:
        for statement in allowed:
            connection.execute(statement.encode())
        for statement in forbidden:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement.encode())


def test_roles_without_the_rights_to_make_them_is_one_line(
    database: str, connection: Connection, logins: dict[str, str]
) -> None:
    login = sql.Identifier(f"login_{secrets.token_hex(8)}")
    other = make_conninfo(database, user=login.as_string().strip('"'), password="x")  # noqa: S106

    def one_line(url: str, why: str) -> None:
        with pytest.raises(DatabaseError, match=why) as caught:
            run(url, "db", "roles")
        assert "has CREATEROLE, or let a superuser" in str(caught.value)
        assert "\n" not in str(caught.value)

    connection.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'x'").format(login))
    try:
        for url in logins.values():
            one_line(url, "does not own the tables")
        one_line(other, "permission denied")
        # The owner, who may not make roles that are missing.
        connection.execute(sql.SQL("ALTER TABLE campaigns OWNER TO {}").format(login))
        connection.execute(sql.SQL("GRANT SELECT ON schema_migrations TO {}").format(login))
        connection.execute("ALTER ROLE zermelo_service RENAME TO zermelo_hidden")
        one_line(other, "permission denied to create role")
    finally:
        connection.execute("ALTER ROLE zermelo_hidden RENAME TO zermelo_service")
        connection.execute(sql.SQL("DROP OWNED BY {} CASCADE").format(login))
        connection.execute(sql.SQL("DROP ROLE {}").format(login))


def test_what_a_login_may_not_do_is_one_line(
    solve: Solve, database: str, logins: dict[str, str]
) -> None:
    researcher = logins["zermelo_research"]
    replica = make_conninfo(database, options="-c default_transaction_read_only=on")
    for url, command in (
        (researcher, ("admin", "users")),
        (researcher, ("admin", "ban-host", str(solve.hosts[0].id), "--yes")),
        (researcher, ("campaign", "pause", SPEC)),
        (replica, ("campaign", "pause", SPEC)),
        (replica, ("admin", "ban-host", str(solve.hosts[0].id), "--yes")),
    ):
        with pytest.raises(DatabaseError, match="this login may not do that here: ") as caught:
            run(url, *command)
        assert "\n" not in str(caught.value)
    with pytest.raises(DatabaseError, match="permission denied for table results"):
        serve("generator", researcher, Event(),
              lambda connection: connection.execute("DELETE FROM results").close())


def test_researchers_ask_with_their_role(solve: Solve, logins: dict[str, str]) -> None:
    found = run(logins["zermelo_research"], "query", "position", SPEC)
    assert found


def test_the_services_need_no_more_than_their_role(database: str, connection: Connection) -> None:
    run(database, "db", "roles")
    campaign = create_campaign(connection, SPEC, replication="adaptive", node_budget=60)
    connection.execute("SET ROLE zermelo_service")
    assert Solve(connection, campaign, clients=4, users=True).run() == Bounds(-8, -8)


def test_metrics_tell_queues_and_trust(database: str, solve: Solve) -> None:
    from zermelo.server.ports import free_port

    metrics = CoordinatorMetrics()
    metrics.registry.register(DatabaseCollector(database))
    metrics.served("Hello", 0.01)
    listen = f"127.0.0.1:{free_port()}"
    serve_metrics(listen, metrics.registry)
    with urlopen(f"http://{listen}/metrics") as page:
        text = page.read().decode()
    for name in (
        'zermelo_workunits{campaign="reversi:4x4"', "zermelo_oldest_workunit_seconds",
        'zermelo_hosts{trust="new"} 2.0', "zermelo_disputes 0.0", "zermelo_call_seconds_bucket",
        'zermelo_nodes_total{campaign="reversi:4x4",kind="checking"}',
    ):  # fmt: skip
        assert name in text, name
