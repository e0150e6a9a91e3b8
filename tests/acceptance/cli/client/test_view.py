"""What people see and answer in a real terminal: the live view, the four questions."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import termios
import tomllib
from pathlib import Path

import pexpect
import pytest
from pexpect.fdpexpect import fdspawn

from tests.support.client_process import client, hard_question, searching, stop
from tests.support.command import ZERMELO
from tests.support.coordinator import Queue, running_coordinator, wait_until
from zermelo.client.folder import ClientFolder
from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection

FULL_SCREEN, NORMAL_SCREEN = "\x1b[?1049h", "\x1b[?1049l"


class Terminal:
    """A command in a terminal of its own.

    Not with pexpect's own fork, which a process with a coordinator in it does not survive.
    """

    def __init__(self, *arguments: str) -> None:
        ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self._process = subprocess.Popen(
            [*ZERMELO, "client", *arguments], stdin=theirs, stdout=theirs, stderr=theirs,
            env={**os.environ, "TERM": "xterm-256color"}, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self._screen = fdspawn(ours, encoding="utf-8", timeout=120)
        self.all = ""

    def shows(self, *texts: str) -> None:
        for text in texts:
            self._screen.expect_exact(text)
            self.all += self._screen.before + text

    def type(self, text: str) -> None:
        self._screen.send(text)

    def ends(self) -> int:
        self._screen.expect(pexpect.EOF)
        self.all += self._screen.before
        self._screen.close()
        return self._process.wait(120)


@pytest.fixture
def long_search(connection: Connection, queue: Queue) -> None:
    hard_question(connection, queue)


@pytest.mark.usefixtures("long_search")
def test_the_live_view_fills_the_screen_and_gives_it_back(
    coordinator: str, tmp_path: Path
) -> None:
    folder = str(tmp_path)
    with client(coordinator, tmp_path, "--workers", "1") as process:
        wait_until(lambda: searching(tmp_path))
        view = Terminal("status", "--watch", "--data-dir", folder)
        view.shows(FULL_SCREEN, "working", "a b c d e f g h", "at least +1?", "nodes/s")
        # It follows what happens.
        assert Terminal("pause", "--data-dir", folder).ends() == 0
        view.shows("paused", "you paused it")
        view.type("q")
        view.shows(NORMAL_SCREEN)
        assert view.ends() == 0
        # A daemon that ends takes the view along, with a sentence.
        view = Terminal("status", "--watch", "--data-dir", folder)
        view.shows(FULL_SCREEN, "paused")
        stop(process)
        view.shows(NORMAL_SCREEN, "no client runs in")
        assert view.ends() == 6


def test_four_questions_make_a_configuration_that_works(
    database: str, campaign: Campaign, queue: Queue, tmp_path: Path
) -> None:
    queue.add(1, node_budget=10**9)
    folder = str(tmp_path)
    with running_coordinator(database, require_token=True) as address:
        asked = Terminal("configure", "--data-dir", folder)
        for question, answer in (
            ("Server", "no address"), ("is not HOST:PORT", address), ("Your name", "Ernst"),
            ("Cores", "1"), ("Memory", "2"), ("knows you as Ernst", ""),
            ("Print a file", "systemd-user"),
        ):  # fmt: skip
            asked.shows(question)
            if answer:
                asked.type(f"{answer}\n")
        asked.shows("ExecStart=")
        assert asked.ends() == 0
        found = tomllib.loads(ClientFolder(tmp_path).config.read_text())
        assert (found["server"], found["name"]) == (address, "Ernst")
        assert found["token"]
        assert (found["idle"]["cores"], found["idle"]["memory_mb"]) == (1, 2)
        # The client needs nothing else, and doctor agrees.
        run = Terminal("run", "--once", "--data-dir", folder, "--priority", "normal")
        assert run.ends() == 0, run.all
        assert len(queue.results()) == 1
        doctor = Terminal("doctor", "--data-dir", folder)
        doctor.shows("everything is well")
        assert doctor.ends() == 0
        assert found["token"] not in doctor.all
