"""`zermelo web` and `zermelo serve all --web` as processes."""

from __future__ import annotations

import signal
import subprocess
import sys
from http.client import HTTPConnection

import pytest

from tests.support.command import zermelo
from tests.support.coordinator import wait_until
from tests.support.preloaded import Command
from zermelo.server.ports import free_port

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
