"""`zermelo web` and `zermelo serve all --web` as processes."""

from __future__ import annotations

import json
import signal
import ssl
import subprocess
import sys
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.support.command import zermelo
from tests.support.coordinator import wait_until
from tests.support.preloaded import Command
from zermelo.server.database import Connection
from zermelo.server.ports import free_port
from zermelo.server.trust import accounts
from zermelo.server.trust.accounts import Role
from zermelo.server.trust.certificates import make_certificates

MISSING = 7


def answer(port: int, path: str) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    except OSError:
        return 0, ""
    finally:
        connection.close()


@pytest.mark.parametrize("command", [["web", "--listen"], ["serve", "all", "--web"]], ids=" ".join)
def test_the_pages_are_served_until_the_end(solved_database: str, command: list[str]) -> None:
    port, coordinator = free_port(), free_port()
    more = ["--listen", f"127.0.0.1:{coordinator}"] if command[0] == "serve" else []
    process = Command(
        *command, f"127.0.0.1:{port}", *more, "--database", solved_database,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        wait_until(lambda: process.poll() is not None or answer(port, "/healthz")[0], 120)
        assert answer(port, "/healthz") == (200, "ok\n")
        assert "reversi:4x4" in answer(port, "/")[1]
    finally:
        process.send_signal(signal.SIGTERM)
        printed, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    if command[0] == "web":
        assert printed == f"the pages are at http://127.0.0.1:{port}/ (Ctrl-C stops)\n"


def test_a_log_for_programs_has_nothing_else(solved_database: str) -> None:
    port = free_port()
    process = Command(
        "web", "--listen", f"127.0.0.1:{port}", "--database", solved_database,
        "--log-format", "json", "--log-level", "info",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        wait_until(lambda: process.poll() is not None or answer(port, "/healthz")[0], 120)
    finally:
        process.send_signal(signal.SIGTERM)
        printed, errors = process.communicate(timeout=60)
    assert (process.returncode, printed) == (0, "")
    told = [json.loads(line) for line in errors.splitlines()]
    assert f"the pages are at http://127.0.0.1:{port}/" in {line["message"] for line in told}
    assert {line["service"] for line in told} == {"web"}


def test_the_pages_wait_for_a_database_that_is_away() -> None:
    port, nowhere = free_port(), free_port()
    process = Command(
        "web", "--listen", f"127.0.0.1:{port}",
        "--database", f"postgresql://zermelo@127.0.0.1:{nowhere}/zermelo",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        wait_until(lambda: process.poll() is not None or answer(port, "/healthz")[0], 120)
        status, page = answer(port, "/")
        assert (status, "The database does not answer" in page) == (503, True)
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert str(nowhere) in errors.splitlines()[0]


def test_visitors_sign_in_at_a_coordinator_of_ones_own_authority(
    database: str, connection: Connection, tmp_path: Path
) -> None:
    token = accounts.open_account(connection, "otto", Role.OPERATOR, actor="test")
    tls = tmp_path / "tls"
    make_certificates(tls, ["localhost"], 10)
    pages, listen = (f"localhost:{free_port()}" for _ in range(2))
    process = Command(
        "serve", "all", "--listen", listen, "--web", pages, "--database", database,
        "--certificate", tls / "server.pem", "--key", tls / "server-key.pem",
        "--web-server", listen, "--web-ca-file", tls / "ca.pem",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    trusted = ssl.create_default_context(cafile=str(tls / "ca.pem"))

    def sign_in() -> tuple[int, str | None]:
        """Status and where to go next; nothing before pages and coordinator are there."""
        connection = HTTPSConnection(pages, timeout=60, context=trusted)
        try:
            connection.request("POST", "/login", urlencode({"token": token}), {
                "Content-Type": "application/x-www-form-urlencoded", "Origin": f"https://{pages}",
            })  # fmt: skip
            reply = connection.getresponse()
            return reply.status, reply.getheader("Location")
        except OSError:
            return 0, None
        finally:
            connection.close()

    try:
        wait_until(lambda: process.poll() is not None or sign_in() == (303, "/me"), 120)
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors


def test_mistakes_are_one_line(solved_database: str) -> None:
    for listen, says in (
        ("0.0.0.0:8080", "no loopback address"), ("nowhere", "write HOST:PORT"),
    ):
        done = zermelo("web", "--listen", listen, "--database", solved_database)
        assert done.returncode == 2
        assert says in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_missing_part_is_named() -> None:
    code = "import sys; sys.modules['starlette'] = None; from zermelo.cli import main; main()"
    for command in (["web"], ["solve", "reversi:4x4", "--web", "127.0.0.1:1"],
                    ["serve", "all", "--web", "127.0.0.1:1"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *command], capture_output=True, text=True, check=False,
            timeout=120,
        )  # fmt: skip
        assert done.returncode == MISSING, done.stderr
        assert "pip install 'zermelo[web]'" in done.stderr
