"""What people see and answer in a real terminal: the live view, the four questions."""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import termios
import tomllib
from pathlib import Path

import pexpect
import pytest
from pexpect.fdpexpect import fdspawn

from tests.support.client_process import (
    client,
    hard_question,
    known_speeds,
    searching,
    stop,
    value,
)
from tests.support.coordinator import Queue, running_coordinator, wait_until
from tests.support.preloaded import Command
from zermelo.client.configuration import Configuration, write_configuration
from zermelo.client.control import ask
from zermelo.client.folder import ClientFolder
from zermelo.client.logs import NAME
from zermelo.client.preferences import Limits, Preferences
from zermelo.client.stopping import EXIT_STUCK
from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection

FULL_SCREEN, NORMAL_SCREEN = "\x1b[?1049h", "\x1b[?1049l"


class Terminal:
    """A command in a terminal of its own.

    Not with pexpect's own fork, which a process with a coordinator in it does not survive.
    """

    def __init__(self, *arguments: str) -> None:
        self._ours, theirs = os.openpty()
        self.resize(40, 100)
        self._process = Command(
            "client", *arguments, stdin=theirs, stdout=theirs, stderr=theirs,
            env={**os.environ, "TERM": "xterm-256color"}, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self._screen = fdspawn(self._ours, encoding="utf-8", timeout=120)
        self.all = ""

    def shows(self, *texts: str) -> None:
        for text in texts:
            self._screen.expect_exact(text)
            self.all += self._screen.before + text

    def resize(self, lines: int, columns: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def hang_up(self) -> None:
        """Close the terminal, as the end of an SSH connection does: both at once."""
        self._process.send_signal(signal.SIGSTOP)
        self._screen.close()
        self._process.send_signal(signal.SIGHUP)
        self._process.send_signal(signal.SIGCONT)
        # Python itself reports that it could not flush its output.
        assert self._process.wait(120) != EXIT_STUCK

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


@pytest.mark.usefixtures("long_search")
def test_a_client_on_a_terminal_shows_what_it_does(coordinator: str, tmp_path: Path) -> None:
    known_speeds(tmp_path)
    view = Terminal(
        "run", "--server", coordinator, "--data-dir", str(tmp_path), "--workers", "1",
        "--memory-mb", "4", "--priority", "normal", "--quit-seconds", "0", "--leave-seconds", "60",
    )  # fmt: skip
    view.shows("working for", "a b c d e f g h", "at least +1?", "nodes/s")
    assert Terminal("stop", "--data-dir", str(tmp_path)).ends() == 0
    assert view.ends() == 0, view.all
    assert FULL_SCREEN not in view.all


@pytest.mark.usefixtures("long_search")
def test_work_goes_on_below_a_terminal_of_any_width_until_it_is_closed(
    coordinator: str, connection: Connection, tmp_path: Path
) -> None:
    known_speeds(tmp_path)
    run = Terminal(
        "run", "--server", coordinator, "--data-dir", str(tmp_path), "--workers", "1",
        "--memory-mb", "4", "--priority", "normal", "--quit-seconds", "0", "--leave-seconds", "20",
    )  # fmt: skip
    run.shows("a b c d e f g h")
    run.resize(40, 24)  # narrower than a board
    run.shows("╭─ 1 reversi:7x8 search", "a b c d e f g h", "╯")
    run.hang_up()
    assert value(connection, "SELECT state::text FROM leases") == "abandoned"


@pytest.mark.usefixtures("long_search")
def test_limits_are_followed_when_their_file_changes(coordinator: str, tmp_path: Path) -> None:
    config = ClientFolder(tmp_path).config

    def prefer(cores: int) -> None:
        limits = Limits(cores=cores, memory_mb=4)
        write_configuration(config, Configuration(Preferences.always(limits)))

    def cores() -> tuple[int, int]:
        status = ask(ClientFolder(tmp_path).control, "status")
        return status["limits"]["cores"], len(status["workers"])

    prefer(1)
    with client(coordinator, tmp_path) as process:
        wait_until(lambda: searching(tmp_path))
        assert cores() == (1, 1)
        prefer(2)
        wait_until(lambda: cores() == (2, 2))
        config.write_text("cores = many")
        wait_until(lambda: "going on as before" in log_of(tmp_path))
        prefer(1)
        wait_until(lambda: cores() == (1, 2))
        stop(process)


def log_of(folder: Path) -> str:
    return (ClientFolder(folder).logs / NAME).read_text()


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
