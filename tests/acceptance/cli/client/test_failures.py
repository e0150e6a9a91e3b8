"""What can go wrong between a client and its server, and the sentence for each of it."""

from __future__ import annotations

import json
import re
import shlex
import socket
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
import pytest

from tests.support.client_process import (
    RUN,
    client,
    command,
    known_speeds,
    start_client,
    value,
)
from tests.support.command import ZERMELO, zermelo
from tests.support.coordinator import Queue, running_coordinator, wait_until
from tests.support.preloaded import Command
from zermelo.client.folder import ClientFolder
from zermelo.client.logs import NAME
from zermelo.proto import service
from zermelo.proto.remote import UnreachableError
from zermelo.server.campaigns import Campaign
from zermelo.server.coordinator.main import run
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.database import Connection
from zermelo.server.ports import free_port
from zermelo.server.trust import certificates


def ended(process: subprocess.Popen[str], code: int) -> str:
    """What a client that could not go on said."""
    _, errors = process.communicate(timeout=120)
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    return errors


def says(process: subprocess.Popen[str], *words: str) -> None:
    """Wait for a line with these words from a client that goes on trying."""
    assert process.stderr is not None
    for line in process.stderr:
        if all(word in line for word in words):
            return
    raise AssertionError(f"never said {words}")


@contextmanager
def with_tls(
    database: str, folder: Path, *hosts: str, issued_days_ago: int = 0, days: int = 2,
) -> Iterator[tuple[str, Path]]:  # fmt: skip
    """A coordinator with a certificate: where it is, and what to trust."""
    names = hosts or ("localhost", "127.0.0.1")
    with pytest.MonkeyPatch.context() as patch:

        class Past(datetime):
            @classmethod
            def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
                return datetime.now(UTC) - timedelta(days=issued_days_ago)

        patch.setattr(certificates, "datetime", Past)
        certificates.make_certificates(folder, names, days)
    port = free_port()
    settings = CoordinatorSettings(
        f"127.0.0.1:{port}", require_token=False, certificate=folder / "server.pem",
        key=folder / "server-key.pem",
    )  # fmt: skip
    stop = threading.Event()
    thread = threading.Thread(target=run, args=(database, stop, settings))
    thread.start()
    try:
        wait_until(lambda: listens(port))
        yield settings.listen, folder / "ca.pem"
    finally:
        stop.set()
        thread.join()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


# -- accounts -----------------------------------------------------------------------------


def test_without_a_token_the_client_opens_an_account_once(
    database: str, queue: Queue, campaign: Campaign, connection: Connection, tmp_path: Path
) -> None:
    queue.add(2, node_budget=10**9)
    with running_coordinator(database, require_token=True) as address:
        for _ in range(2):
            process = start_client(address, tmp_path, "--once")
            errors = ended(process, 0)
    assert "account" not in errors
    token = ClientFolder(tmp_path).token
    assert token.stat().st_mode & 0o077 == 0
    assert len(queue.results()) == 2
    owners = "SELECT count(DISTINCT user_id) FROM hosts"
    assert value(connection, owners) == 1


def test_a_wrong_token_ends_the_client_with_a_remedy(
    database: str, campaign: Campaign, tmp_path: Path
) -> None:
    with running_coordinator(database, require_token=True) as address:
        errors = ended(start_client(address, tmp_path, "--token", "nonsense"), 6)
        assert "does not accept this token" in errors
        assert "zermelo client configure --token" in errors
        # Whoever did not see the client end reads there why.
        log = json.loads((ClientFolder(tmp_path).logs / NAME).read_text().splitlines()[-1])
        assert log["level"] == "error"
        assert "does not accept this token" in log["message"]
        told = command("doctor", "--server", address, "--token", "x", "--data-dir", str(tmp_path))
        assert told.returncode == 1
        assert "does not accept this token" in " ".join(told.stdout.split())


def test_a_name_that_is_taken(database: str, campaign: Campaign, tmp_path: Path) -> None:
    with running_coordinator(database, require_token=True) as address:
        for folder, works in (("a", True), ("b", False)):
            done = command(
                "configure", "--server", address, "--name", "Ada", "--json",
                "--data-dir", str(tmp_path / folder),
            )  # fmt: skip
            assert (f'"works": {str(works).lower()}') in done.stdout, done.stderr
        assert "already" in done.stdout


# -- encryption ---------------------------------------------------------------------------


def test_an_encrypted_connection(
    database: str, queue: Queue, campaign: Campaign, tmp_path: Path
) -> None:
    queue.add(1, node_budget=10**9)
    with with_tls(database, tmp_path / "tls") as (address, ca):
        process = start_client(address, tmp_path, "--ca-file", str(ca), "--once")
        ended(process, 0)
    assert len(queue.results()) == 1


def test_certificates_are_found_from_every_folder_once_configured(
    database: str, queue: Queue, campaign: Campaign, tmp_path: Path
) -> None:
    queue.add(1, node_budget=10**9)
    folder = tmp_path / "data"
    with with_tls(database, tmp_path / "tls") as (address, ca):
        done = zermelo(
            "client", "configure", "--server", address, "--ca-file", ca.name,
            "--data-dir", folder, "--json", cwd=ca.parent,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["works"], done.stdout
        ca.unlink()
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        known_speeds(folder)
        done = zermelo(
            *RUN, "--data-dir", folder, "--once", "--quit-seconds", "0", cwd=elsewhere
        )
        assert done.returncode == 0, done.stderr
    assert len(queue.results()) == 1


def test_a_command_tells_a_wrong_authority_in_one_line(
    database: str, campaign: Campaign, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    certificates.make_certificates(other, ["127.0.0.1"], 10)
    with with_tls(database, tmp_path / "tls") as (address, _):
        # From nothing: gRPC's own lines depend on when it is loaded.
        done = subprocess.run(
            [*ZERMELO, "client", "account", "--server", address, "--token-file", "-",
             "--ca-file", other / "ca.pem", "--data-dir", tmp_path],
            input="token\n", capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
    assert done.returncode == UnreachableError.exit_code, done.stderr
    (line,) = done.stderr.splitlines()
    assert "certificate" in line.partition(";")[0]


def test_what_configure_prints_works_from_every_folder(
    coordinator: str, queue: Queue, tmp_path: Path
) -> None:
    queue.add(1, node_budget=10**9)
    folder, here = tmp_path / "my data", tmp_path / "here"
    here.mkdir()
    done = zermelo(
        "client", "configure", "--server", coordinator, "--data-dir", "../my data",
        "--service", "systemd-system", cwd=here,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # systemd ignores a path that is not normal, and then the client may not write there.
    assert f'ReadWritePaths="{folder}/client"\n' in done.stdout
    assert f' client run --data-dir "{folder}"\n' in done.stdout
    hint = re.search("`zermelo (client run .*?)`", done.stdout)
    assert hint
    known_speeds(folder)
    ran = zermelo(*shlex.split(hint[1]), "--once", "--quit-seconds", "0", cwd="/")
    assert ran.returncode == 0, ran.stderr
    assert len(queue.results()) == 1


def test_configure_refuses_certificates_that_are_none(tmp_path: Path) -> None:
    done = command("configure", "--server", "127.0.0.1:9", "--ca-file", str(tmp_path / "none.pem"),
                   "--data-dir", str(tmp_path), "--json")  # fmt: skip
    assert done.returncode == 6
    assert "cannot read ca_file" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("hosts", "age", "trust", "words"),
    [
        ((), 30, True, ("has expired", "clock")),
        (("example.org",), 0, True, ("is not for 127.0.0.1", "check the name")),
        ((), 0, False, ("not signed by anybody this computer trusts", "ca_file")),
        ((), -30, True, ("is not valid yet", "set the clock")),
    ],
)
def test_certificates_that_prove_nothing(
    database: str, campaign: Campaign, tmp_path: Path, hosts: tuple[str, ...], age: int,
    trust: bool, words: tuple[str, ...],
) -> None:  # fmt: skip
    with with_tls(database, tmp_path / "tls", *hosts, issued_days_ago=age) as (address, ca):
        options = ("--ca-file", str(ca)) if trust else ("--tls", "on")
        with client(address, tmp_path, *options) as process:
            says(process, *words)
            assert process.poll() is None  # it goes on trying: servers are mended


def test_tls_where_the_server_has_none(coordinator: str, tmp_path: Path) -> None:
    with client(coordinator, tmp_path, "--tls", "on") as process:
        says(process, "does not speak TLS", 'tls = "off"')


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_ca_file_that_is_none(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "ca.pem"
    if content:
        path.write_text(content)
    errors = ended(start_client("127.0.0.1:9", tmp_path, "--ca-file", str(path)), 6)
    assert "ca_file" in errors


# -- the other side -----------------------------------------------------------------------


def test_nothing_listens(tmp_path: Path) -> None:
    with client(f"127.0.0.1:{free_port()}", tmp_path) as process:
        says(process, "nothing listens on port")


def test_a_server_that_is_too_new(
    coordinator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "OLDEST_PROTOCOL_VERSION", 99)
    errors = ended(start_client(coordinator, tmp_path), 6)
    assert "no longer serves this client" in errors
    assert "pip install --upgrade zermelo" in errors


def test_a_server_that_is_too_old(
    coordinator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "PROTOCOL_VERSION", 0)
    monkeypatch.setattr(service, "OLDEST_PROTOCOL_VERSION", 0)
    errors = ended(start_client(coordinator, tmp_path), 6)
    assert "is too old for this client" in errors


def test_a_server_that_is_no_coordinator(tmp_path: Path) -> None:
    server = grpc.server(ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        errors = ended(start_client(f"127.0.0.1:{port}", tmp_path), 6)
    finally:
        server.stop(None).wait()
    assert "no coordinator at all" in errors


# -- this side ----------------------------------------------------------------------------


def test_a_damaged_configuration_names_line_and_key(tmp_path: Path) -> None:
    folder = ClientFolder(tmp_path)
    folder.make()
    folder.config.write_text('server = "127.0.0.1:9"\n[idle]\ncores = "all"\n')
    errors = ended(start_client("127.0.0.1:9", tmp_path), 2)
    assert f"{folder.config}, line 3: idle.cores cannot be used" in errors


def test_no_server(tmp_path: Path) -> None:
    process = Command(*RUN, "--data-dir", tmp_path, stderr=subprocess.PIPE, text=True)
    assert "zermelo client configure" in ended(process, 2)


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "client").write_text("in the way")
    errors = ended(start_client("127.0.0.1:9", tmp_path, measured=False), 2)
    assert "a file is in the way; choose another --data-dir" in errors
