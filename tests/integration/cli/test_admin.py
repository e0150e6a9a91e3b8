"""`zermelo admin` through both doors: the database at hand, and a coordinator far away."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from click.testing import CliRunner

from tests.support.coordinator import running_coordinator
from tests.support.harness import Solve
from zermelo import ZermeloError
from zermelo.cli import zermelo
from zermelo.proto.remote import RefusedError, UnreachableError
from zermelo.server.campaigns import create_campaign, find_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection
from zermelo.server.ports import free_port
from zermelo.server.trust import accounts
from zermelo.server.trust.accounts import Role
from zermelo.server.trust.certificates import make_certificates

SPEC = "reversi:4x4"
LOOKING = (
    ("users",), ("hosts",), ("host", "1"), ("workunit", "1"), ("campaigns",), ("audit",),
    ("alarms",), ("alarms", "--all"), ("project",),
    ("audit", "--subject", "user otto"),
)  # fmt: skip


def admin(*arguments: str, door: tuple[str, ...]) -> Any:
    run = CliRunner().invoke(zermelo, ["admin", *arguments, *door, "--json"])
    if run.exception and not isinstance(run.exception, SystemExit):
        raise run.exception
    assert run.exit_code == 0, run.output
    return json.loads(run.stdout)


@pytest.fixture
def solve(connection: Connection) -> Solve:
    """A campaign in which two hosts have answered something."""
    campaign = create_campaign(connection, SPEC, node_budget=40, replication="none")
    solve = Solve(connection, campaign, clients=2, users=True)
    for _ in range(6):
        solve.step()
    return solve


@pytest.fixture
def token(connection: Connection) -> str:
    return accounts.open_account(connection, "otto", Role.OPERATOR, actor="test")


@pytest.fixture
def door(database: str, solve: Solve, token: str) -> Iterator[tuple[str, ...]]:
    with running_coordinator(database, require_token=True) as address:
        yield "--server", address, "--token", token


def test_both_doors_show_the_same(database: str, door: tuple[str, ...]) -> None:
    for command in LOOKING:
        near = admin(*command, door=("--database", database))
        assert near
        assert admin(*command, door=door) == near


def test_credit_says_that_it_is_in_millions(database: str, solve: Solve) -> None:
    for command in (["credit", "--by", "user"], ["hosts"], ["host", str(solve.hosts[0].id)]):
        run = CliRunner().invoke(zermelo, ["admin", *command, "--database", database])
        assert "credit (M nodes)" in run.stdout, command


def test_speed_is_in_whole_nodes_a_second(
    database: str, connection: Connection, solve: Solve
) -> None:
    host = solve.hosts[0].id
    connection.execute(
        "UPDATE hosts SET speed = 12345678, searched_seconds = 9 WHERE id = %s", (host,)
    )
    run = CliRunner().invoke(zermelo, ["admin", "host", str(host), "--database", database])
    assert re.search(r"^speed \(nodes/s\) +12,345,67\d$", run.stdout, re.MULTILINE), run.stdout


def test_who_is_not_banned_gets_no_word_of_a_lifted_ban(
    door: tuple[str, ...], solve: Solve
) -> None:
    host = solve.hosts[0].id
    user = next(row["user"] for row in admin("hosts", door=door)["hosts"] if row["id"] == host)
    for command in (("unban-host", str(host)), ("unban-user", user)):
        with pytest.raises(ZermeloError, match="is not banned"):
            admin(*command, door=door)
    admin("ban-user", user, "--yes", door=door)
    with pytest.raises(ZermeloError, match=f"host {host} is not banned"):
        admin("unban-host", str(host), door=door)
    assert {line["action"] for line in admin("audit", door=door)["audit"]}.isdisjoint({"unban"})


def test_what_an_operator_does_from_afar_is_done_and_recorded(
    door: tuple[str, ...], solve: Solve
) -> None:
    connection, host = solve.connection, solve.hosts[0].id
    user = next(row["user"] for row in admin("hosts", door=door)["hosts"] if row["id"] == host)
    (asked,) = connection.execute(
        "SELECT min(workunit) FROM results WHERE state = 'assimilated'"
    ).fetchone()  # type: ignore[misc]

    token = admin("open-account", "ada", "--team", "engines", door=door)["token"]
    assert admin("renew-token", "ada", door=door)["token"] != token
    assert admin("revoke", "ada", door=door) == {"revoked": 1}
    assert admin("set-role", "ada", "researcher", door=door)["role"] == "researcher"
    assert admin("ask-again", str(asked), "--reason", "looks odd", door=door)["answers"] == 1
    assert admin("ban-host", str(host), "--reason", "hot", "--yes", door=door)["doubted"] >= 0
    assert admin("host", str(host), door=door)["banned_at"]
    admin("unban-host", str(host), door=door)
    assert admin("host", str(host), door=door)["banned_at"] is None
    admin("ban-user", user, "--yes", door=door)
    assert {u["name"]: u["banned_at"] for u in admin("users", door=door)["users"]}[user]
    admin("unban-user", user, door=door)
    for action, state in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")):
        assert admin(action, SPEC, door=door)["state"] == state
        assert find_campaign(connection, SPEC).state == state

    lines = [
        (line["action"], line["subject"], line["detail"])
        for line in reversed(admin("audit", door=door)["audit"])
        if line["actor"] == "otto" and line["action"] != "convict"
    ]
    assert lines == [
        ("open account", "user ada", "as volunteer"),
        ("renew token", "user ada", ""),
        ("revoke tokens", "user ada", "tokens: 1"),
        ("set role", "user ada", "researcher"),
        ("ask again", f"workunit {asked}", "looks odd"),
        ("ban", f"host {host}", "hot"),
        ("unban", f"host {host}", ""),
        ("ban", f"user {user}", ""),
        ("unban", f"user {user}", ""),
        ("pause", f"campaign {SPEC}", ""),
        ("resume", f"campaign {SPEC}", ""),
        ("cancel", f"campaign {SPEC}", ""),
    ]
    assert check_database(connection) == []


#: What is wrong, and what both ways to the database say about it.
MISTAKES = (
    (("ban-user", "nobody"), "no user 'nobody'"),
    (("ban-host", "99", "--yes"), "no host 99"),
    (("ban-host", "1"), "nothing was done; give --yes"),
    (("settle", "7", "--reason", "seen"), "no alarm 7"),
    (("settle", "7"), "say with --reason"),
    (("project", "--web-url", "javascript:alert(1)"), "no address of pages"),
    (("project", "--notice", "two\nlines"), "one line of printable text"),
    (("delete-account", "nobody", "--yes"), "no user 'nobody'"),
    (("host", "99"), "no host 99"),
    (("workunit", "4711"), "no workunit 4711"),
    (("pause", "chess"), "no campaign 'chess'"),
    (("open-account", "otto"), "there is a user 'otto' already"),
    (("open-account", "x" * 41), "name has 41 bytes"),
    (("pause", SPEC, "--reason", "red \x1b[31m"), "one line of printable text"),
)


def test_mistakes_are_told_alike_at_both_doors(database: str, door: tuple[str, ...]) -> None:
    for command, complaint in MISTAKES:
        for way in (door, ("--database", database)):
            with pytest.raises(ZermeloError, match=complaint) as caught:
                admin(*command, door=way)
            assert "\n" not in str(caught.value), command


@pytest.mark.parametrize("said", ["", "n\n"])
def test_without_a_yes_nothing_is_done(database: str, connection: Connection, said: str) -> None:
    accounts.open_account(connection, "vera", Role.VOLUNTEER, actor="test")
    command = ["admin", "delete-account", "vera", "--database", database]
    run = CliRunner().invoke(zermelo, command, input=said)
    assert str(run.exception) == "nothing was done; with --yes there is no question"
    assert accounts.user_id(connection, "vera")


def test_who_is_no_operator_gets_one_clear_line(
    door: tuple[str, ...], database: str, connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    volunteer = accounts.open_account(connection, "vera", Role.VOLUNTEER, actor="test")
    with pytest.raises(RefusedError, match="not for the role volunteer"):
        admin("users", door=(*door[:3], volunteer))
    with pytest.raises(RefusedError, match="unknown or was revoked"):
        admin("users", door=(*door[:3], "nonsense"))
    with pytest.raises(ZermeloError, match="give --token"):
        admin("users", door=door[:2])
    with pytest.raises(ZermeloError, match="exclude each other"):
        admin("users", door=(*door, "--database", database))
    # What is typed stands above the environment.
    monkeypatch.setenv("ZERMELO_DATABASE", "postgresql://nobody@nowhere.invalid/x")
    assert admin("users", door=door)
    monkeypatch.setenv("ZERMELO_REMOTE_SERVER", f"127.0.0.1:{free_port()}")
    assert admin("users", door=("--database", database))
    with pytest.raises(ZermeloError, match="are both set; give --server or --database"):
        admin("users", door=())
    with pytest.raises(UnreachableError, match="cannot reach"):
        admin("users", door=("--server", f"127.0.0.1:{free_port()}", "--token", "x"))


def test_operators_with_certificates_of_their_own(
    database: str, solve: Solve, token: str, tmp_path: Path
) -> None:
    for name in ("tls", "other"):
        make_certificates(tmp_path / name, ["localhost", "127.0.0.1"], 10, operator="otto")
    tls, other = tmp_path / "tls", tmp_path / "other"
    everybody, operators = (f"127.0.0.1:{free_port()}" for _ in range(2))
    channel = grpc.secure_channel(
        everybody, grpc.ssl_channel_credentials((tls / "ca.pem").read_bytes())
    )
    trust = ("--token", token, "--ca-file", str(tls / "ca.pem"))

    def certificate(folder: Path) -> tuple[str, ...]:
        return (
            "--certificate", str(folder / "otto.pem"), "--key", str(folder / "otto-key.pem"),
        )  # fmt: skip

    with running_coordinator(
        database, listen=everybody, operator_listen=operators, require_token=True,
        certificate=tls / "server.pem", key=tls / "server-key.pem", client_ca=tls / "ca.pem",
        channel=channel,
    ):  # fmt: skip
        found = admin("users", door=("--server", operators, *trust, *certificate(tls)))
        assert "otto" in {user["name"] for user in found["users"]}
        with pytest.raises(RefusedError, match="certificate of their own"):
            admin("users", door=("--server", everybody, *trust))
        for way in (trust, (*trust, *certificate(other))):
            with pytest.raises(UnreachableError, match="check the address and, with TLS"):
                admin("users", door=("--server", operators, *way))
        mine, others = certificate(tls), certificate(other)
        with pytest.raises(ZermeloError, match="go together"):
            admin("users", door=("--server", operators, *trust, *mine[:2]))
        with pytest.raises(ZermeloError, match="is not the key of the certificate"):
            admin("users", door=("--server", operators, *trust, *mine[:2], *others[2:]))
        with pytest.raises(ZermeloError, match="holds no certificates to trust"):
            admin("users", door=("--server", operators, *trust[:2], "--ca-file", mine[3]))
