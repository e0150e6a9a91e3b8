"""The command as users run it: a process with exit codes, signals and a terminal."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import time

import psutil
import pytest

from tests.support.engine_command import start

#: A search that no machine finishes in a test.
ENDLESS = ("solve", "reversi:8x8", "--hash-mb", "1")


def wait_until_busy(process: subprocess.Popen[str], seconds: float = 0.5) -> None:
    """Wait until the command has computed for a while, however slow the machine is."""
    while psutil.Process(process.pid).cpu_times().user < seconds:
        assert process.poll() is None
        time.sleep(0.05)


def test_a_mistake_is_one_line_and_no_traceback() -> None:
    process = start("solve", "reversi:6x6", "--threads", "0")
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (2, "")
    assert err.startswith("zermelo: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c_reports_the_bounds_proved_so_far(threads: str) -> None:
    process = start(*ENDLESS, "--threads", threads, "--json")
    wait_until_busy(process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    answer = json.loads(out)
    assert process.returncode == 130
    assert answer["status"] == "aborted"
    assert answer["value"] is None
    assert answer["bounds"][0] <= 0 <= answer["bounds"][1]
    assert answer["nodes"] > 0
    assert err == ""  # progress is for terminals only


@pytest.mark.parametrize("args", [
    ["compare", "ffo40-44", "--algorithm", "minimax", "--node-budget", "1000000000000"],
    ["perft", "reversi:8x8", "20"],
])
def test_ctrl_c_ends_every_command(args: list[str]) -> None:
    process = start(*args)
    wait_until_busy(process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, "", "")


def test_progress_appears_on_a_terminal_after_two_seconds() -> None:
    controller, terminal = pty.openpty()
    process = start(*ENDLESS, stdout=subprocess.DEVNULL, stderr=terminal,
                    TERM="xterm", COLUMNS="120")
    os.close(terminal)
    shown, deadline = "", time.monotonic() + 120
    while "nodes" not in shown and time.monotonic() < deadline:
        shown += os.read(controller, 4096).decode()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    os.close(controller)
    assert "score unknown" in shown
