"""Trying a server over real TLS, also where nobody has time to say goodbye."""

from __future__ import annotations

import asyncio
import multiprocessing
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import grpc
import pytest

from tests.support.coordinator import running_coordinator
from zermelo.client import probe
from zermelo.client.connection import Caller
from zermelo.client.probe import find_out
from zermelo.client.refusals import NoAnswerError
from zermelo.client.settings import ServerAddress
from zermelo.client.trial import try_server
from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection
from zermelo.server.ports import free_port
from zermelo.server.trust.certificates import make_certificates

BUSY_LOOPS = 6
TRIALS = 50


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    folder = tmp_path / "tls"
    make_certificates(folder, ["localhost"], 10)
    return folder


def _spin() -> None:
    while True:
        pass


@contextmanager
def busy_machine() -> Iterator[None]:
    context = multiprocessing.get_context("spawn")
    loops = [context.Process(target=_spin, daemon=True) for _ in range(BUSY_LOOPS)]
    for loop in loops:
        loop.start()
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.join()


@contextmanager
def silent_server(certificates: Path, protocol: str = "h2") -> Iterator[int]:
    """The port of a server that encrypts and then says nothing, not even goodbye."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "server.pem", certificates / "server-key.pem")
    context.set_alpn_protocols([protocol])
    listening = socket.create_server(("127.0.0.1", 0))
    connections: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            connection.settimeout(10)
            try:
                connections.append(context.wrap_socket(connection, server_side=True))
            except OSError:  # it only looked whether somebody listens
                connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()
        for connection in connections:
            connection.close()


def test_nobody_waits_for_a_server_to_say_goodbye(certificates: Path) -> None:
    with silent_server(certificates) as port:
        address = ServerAddress(f"localhost:{port}", ca_file=certificates / "ca.pem")

        async def tried() -> str:
            # The orderly end of TLS would take asyncio's 30 seconds here.
            return await asyncio.wait_for(find_out(address), 20)

        assert asyncio.run(tried()) == ""


def test_a_server_that_stands_still_is_no_reason_to_give_encryption_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(probe, "STEP_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listening:  # connects, and never says a word
        port = listening.getsockname()[1]
        found = asyncio.run(find_out(ServerAddress(f"localhost:{port}", tls="on")))
    assert "takes too long" in found
    assert "tls" not in found


def test_a_proxy_without_its_coordinator_is_no_reason_to_give_encryption_up() -> None:
    """As Docker's does for published ports: it accepts, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def hang_up() -> None:
            with suppress(OSError):
                while True:
                    listening.accept()[0].close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        port = listening.getsockname()[1]
        found = asyncio.run(find_out(ServerAddress(f"localhost:{port}", tls="on")))
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()
    assert f"ends the connection on port {port}" in found
    assert "tls" not in found


def test_who_forgets_to_encrypt_is_told(
    database: str, campaign: Campaign, certificates: Path
) -> None:
    listen = f"localhost:{free_port()}"
    authority = (certificates / "ca.pem").read_bytes()
    channel = grpc.secure_channel(listen, grpc.ssl_channel_credentials(authority))
    with running_coordinator(
        database, listen, channel, certificate=certificates / "server.pem",
        key=certificates / "server-key.pem",
    ):  # fmt: skip
        trial = try_server(ServerAddress(listen))
    assert not trial.works
    assert "wants encrypted connections" in trial.sentence
    assert "--ca-file" in trial.sentence


def test_pages_are_no_coordinator(certificates: Path) -> None:
    with silent_server(certificates, protocol="http/1.1") as port:
        trial = try_server(ServerAddress(f"localhost:{port}", ca_file=certificates / "ca.pem"))
    assert f"no coordinator listens on port {port} of localhost" in trial.sentence


def test_a_server_that_is_only_slow_is_called_slow(
    database: str, campaign: Campaign, connection: Connection
) -> None:
    async def asked(address: str) -> None:
        caller = Caller(ServerAddress(address, "token"))
        try:
            await caller.standing(seconds=0.5)
        finally:
            await caller.close()

    with running_coordinator(database, require_token=True) as address, connection.transaction():
        connection.execute("LOCK TABLE users IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(NoAnswerError, match="takes too long to answer"):
            asyncio.run(asked(address))


@pytest.mark.long
def test_a_busy_machine_is_tried_over_tls_each_time(
    database: str, campaign: Campaign, certificates: Path
) -> None:
    listen = f"localhost:{free_port()}"
    authority = (certificates / "ca.pem").read_bytes()
    channel = grpc.secure_channel(listen, grpc.ssl_channel_credentials(authority))
    with running_coordinator(
        database, listen, channel, certificate=certificates / "server.pem",
        key=certificates / "server-key.pem",
    ), busy_machine():  # fmt: skip
        address = ServerAddress(listen, ca_file=certificates / "ca.pem")
        trials = [try_server(address) for _ in range(TRIALS)]
        wrong_token = try_server(ServerAddress(listen, "wrong", certificates / "ca.pem"))
    assert [trial.sentence for trial in trials if not trial.works] == []
    assert not wrong_token.works
    assert "token" in wrong_token.sentence
