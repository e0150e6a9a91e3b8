"""The services for operators: one by one, all together, and their mistakes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import grpc
import pytest

from tests.support.client_process import start_client
from tests.support.coordinator import wait_until
from tests.support.effort import first_of, long
from tests.support.preloaded import Command
from zermelo.server.campaigns import campaign_summary, create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running
from zermelo.server.launcher import SERVICES
from zermelo.server.ports import free_port
from zermelo.server.trust.certificates import make_certificates
from zermelo.server.vocabulary import Lock
from zermelo.sql import query

SERVED = (Lock.GENERATOR, Lock.ASSIMILATOR)


def start(
    *arguments: str, environment: Mapping[str, str] = MappingProxyType({})
) -> subprocess.Popen[str]:
    return Command(
        *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | environment,
    )  # fmt: skip


def stop(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return errors


def test_separate_services_and_several_clients(
    database: str, connection: Connection, tmp_path: Path
) -> None:
    create_campaign(connection, "reversi:4x4", node_budget=15, replication="none")
    addresses = [f"127.0.0.1:{free_port()}" for _ in range(2)]
    processes = [
        start("serve", name, "--database", database)
        for name in ("generator", "validator", "assimilator", "assimilator", "generator")
    ]
    processes += [
        start("serve", "coordinator", "--database", database, "--listen", address,
              "--open-access")
        for address in addresses
    ]
    processes += [
        start_client(address, tmp_path / str(number), "--workers", "1")
        for number, address in enumerate(addresses)
    ]
    try:
        wait_until(lambda: campaign_summary(connection, "reversi:4x4").state == "finished")
        assert campaign_summary(connection, "reversi:4x4").value == -8
    finally:
        for process in reversed(processes):
            stop(process)


def test_all_services_in_one_command(
    database: str, connection: Connection, tmp_path: Path
) -> None:
    create_campaign(connection, "reversi:4x4", replication="none")
    address = f"127.0.0.1:{free_port()}"
    services = start(
        "serve", "all", "--database", database, "--listen", address, "--open-access"
    )
    client = start_client(address, tmp_path, "--workers", "1")
    wait_until(lambda: campaign_summary(connection, "reversi:4x4").state == "finished")
    stop(client)
    stop(services)


def test_a_taken_port(database: str) -> None:
    address = f"127.0.0.1:{free_port()}"
    first = start("serve", "coordinator", "--database", database, "--listen", address)
    with grpc.insecure_channel(address) as channel:
        grpc.channel_ready_future(channel).result(timeout=120)
    for service in ("coordinator", "all"):
        second = start("serve", service, "--database", database, "--listen", address)
        _, errors = second.communicate(timeout=120)
        assert second.returncode == 5
        assert f"cannot listen on {address}" in errors
        assert "Traceback" not in errors
    stop(first)


@pytest.mark.parametrize(
    "service", first_of(["coordinator", "generator", "validator", "assimilator"])
)
def test_a_database_without_a_schema(empty_database: str, service: str) -> None:
    process = start("serve", service, "--database", empty_database)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 3
    assert "zermelo db init" in errors.splitlines()[-1]


def test_a_database_with_a_foreign_schema(database: str, connection: Connection) -> None:
    connection.execute("INSERT INTO schema_migrations (version, name) VALUES (999, 'future')")
    process = start("serve", "coordinator", "--database", database)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 3
    assert "newer" in errors


def test_services_wait_for_a_database_that_is_away() -> None:
    process = start("serve", "validator", "--database", "postgresql://127.0.0.1:9/nothing")
    assert process.stderr is not None
    assert "the database is away: " in process.stderr.readline()
    stop(process)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://x", "cannot read the URL of the database"),
        ("postgresql://db..example.org/zermelo", "cannot read the URL of the database"),
        ("SERVER/nowhere?connect_timeout=5", 'database "nowhere" does not exist'),
        ("SERVER/postgres?user=nobody_we_know&password=x", "password authentication failed"),
    ],
)
def test_what_waiting_does_not_mend_ends_a_service(postgres: str, url: str, said: str) -> None:
    server, _, options = postgres.partition("/postgres?")
    options = "&".join(part for part in options.split("&") if "user" not in part.split("=")[0])
    wanted = url if "SERVER" not in url else f"{url.replace('SERVER', server)}&{options}"
    process = start("serve", "validator", environment={"ZERMELO_DATABASE": wanted})
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 3
    (line,) = errors.splitlines()
    assert said in line


def test_a_key_of_another_certificate(database: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        make_certificates(tmp_path / name, ["localhost"], 10)
    process = start(
        "serve", "coordinator", "--database", database,
        "--certificate", str(tmp_path / "one/server.pem"),
        "--key", str(tmp_path / "two/server-key.pem"),
    )  # fmt: skip
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "is not the key of the certificate" in errors.splitlines()[-1]


@pytest.mark.long
def test_an_outage_is_two_lines_of_each_service(open_path: Path) -> None:
    postgres = EmbeddedPostgres(open_path)
    with running(postgres) as url:
        ensure_schema(url)
        services = start(
            "serve", "all", "--listen", f"127.0.0.1:{free_port()}",
            environment={"ZERMELO_DATABASE": url},
        )  # fmt: skip
        assert services.stderr is not None
        lines = iter(services.stderr.readline, "")
        assert "listens" in next(lines)
        postgres.stop()
        assert all("the database is away: " in next(lines) for _ in SERVICES)
        time.sleep(3)
        postgres.begin()
        postgres.wait_ready()
        assert all("the database is back after " in next(lines) for _ in SERVICES)
        assert "away" not in stop(services)


def test_an_embedded_database_is_kept_alive(used_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    services = start("serve", "all", "--data-dir", str(used_path), "--listen", address)
    pid_file = used_path / "postgres" / "postmaster.pid"

    def ready() -> int:
        lines = pid_file.read_text().splitlines() if pid_file.exists() else []
        return int(lines[0]) if lines[7:] == ["ready   "] else 0

    first = wait_until(ready)
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: ready() not in (0, first))
    assert "PostgreSQL died" in stop(services)
    assert not pid_file.exists()


def lock_holder(connection: Connection, service: int) -> int:
    """The backend that serves the only campaign in this service; 0 if none does."""
    row = connection.execute(
        "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND objsubid = 2"
        " AND granted AND database = (SELECT oid FROM pg_database"
        " WHERE datname = current_database())",
        (service,),
    ).fetchone()
    return int(row[0]) if row else 0


def connected(connection: Connection) -> int:
    """How many services there are besides coordinators."""
    return sum(count for _, count in connection.execute(query("measured_services"), ([*SERVICES],)))


@long
def test_a_standby_takes_over_from_a_killed_service(
    database: str, connection: Connection, tmp_path: Path
) -> None:
    create_campaign(connection, "reversi:4x4", node_budget=15, replication="none")
    address = f"127.0.0.1:{free_port()}"
    first = [start("serve", name, "--database", database) for name in ("generator", "assimilator")]
    others = [start("serve", "validator", "--database", database)]
    others += [start("serve", "coordinator", "--database", database, "--listen", address)]
    try:
        client = start_client(address, tmp_path, "--workers", "1", "--max-workunits", "5")
        _, errors = client.communicate(timeout=120)
        assert client.returncode == 0, errors
        wait_until(lambda: campaign_summary(connection, "reversi:4x4").answered)
        leaders = {service: lock_holder(connection, service) for service in SERVED}
        assert all(leaders.values())
        before = connected(connection)
        others += [start("serve", name, "--database", database)
                   for name in ("generator", "assimilator")]  # fmt: skip
        wait_until(lambda: connected(connection) == before + 2)
        assert {s: lock_holder(connection, s) for s in leaders} == leaders
        for process in first:
            process.kill()
            process.communicate()
        others.append(start_client(address, tmp_path, "--workers", "1"))
        wait_until(lambda: campaign_summary(connection, "reversi:4x4").state == "finished")
        assert campaign_summary(connection, "reversi:4x4").value == -8
        # Nobody but the standbys can have finished it; a generator lets go of what is finished.
        assert all(lock_holder(connection, lock) != leader for lock, leader in leaders.items())
        assert lock_holder(connection, Lock.ASSIMILATOR)
        assert check_database(connection) == []
    finally:
        for process in first:
            process.kill()
        for process in reversed(others):
            stop(process)
