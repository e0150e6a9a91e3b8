"""Supervised processes: restarted after accidents, not after errors, gone with the parent."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.coordinator import wait_until
from zermelo import ZermeloError
from zermelo.cli.serve import DATABASE_STOP_SECONDS
from zermelo.server.supervisor import (
    FINISH_SECONDS,
    FIRST_PAUSE,
    KILL_SECONDS,
    ServiceError,
    Supervisor,
)

PROGRAM = """
import sys, time
from pathlib import Path
from zermelo import ZermeloError
from zermelo.server import supervisor as module
from zermelo.server.supervisor import Supervisor, run_until_signalled

folder = Path(sys.argv[1])

def steady(stop):
    (folder / f"steady-{__import__('os').getpid()}").touch()
    stop.wait()
    (folder / "stopped").touch()

def stubborn(stop):
    (folder / f"steady-{__import__('os').getpid()}").touch()
    time.sleep(3600)

def broken():
    raise ZermeloError("the flux is out of capacitors")

def crashing():
    (folder / f"crash-{time.monotonic_ns()}").touch()
    raise RuntimeError("an accident")

supervisor = Supervisor(folder / "log")
if "stubborn" in sys.argv:
    module.FINISH_SECONDS, module.KILL_SECONDS = 0.2, 60.0
    supervisor.start("stubborn", lambda: run_until_signalled(stubborn))
else:
    supervisor.start("steady", lambda: run_until_signalled(steady))
if "broken" in sys.argv:
    supervisor.start("broken", broken)
if "crashing" in sys.argv:
    supervisor.start("crashing", crashing)
supervisor.run()
"""


def start(folder: Path, *what: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), *what], stderr=subprocess.PIPE, text=True
    )


def steady_pids(folder: Path) -> set[int]:
    return {int(path.name.partition("-")[2]) for path in folder.glob("steady-*")}


def crashed_at(path: Path) -> float:
    return int(path.name.partition("-")[2]) / 1e9


def alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_a_killed_child_is_started_again_and_all_stop_in_good_order(tmp_path: Path) -> None:
    process = start(tmp_path)
    (first,) = wait_until(lambda: steady_pids(tmp_path))
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: len(steady_pids(tmp_path)) == 2)
    (second,) = steady_pids(tmp_path) - {first}
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert (tmp_path / "stopped").exists()
    assert not alive(second)


def test_children_end_with_a_killed_parent(tmp_path: Path) -> None:
    process = start(tmp_path)
    (child,) = wait_until(lambda: steady_pids(tmp_path))
    process.kill()
    process.communicate()
    wait_until(lambda: not alive(child))


def test_an_error_for_the_user_ends_everything(tmp_path: Path) -> None:
    process = start(tmp_path, "broken")
    _, errors = process.communicate(timeout=120)
    assert "broken: the flux is out of capacitors" in errors
    assert all(not alive(pid) for pid in steady_pids(tmp_path))


def test_accidents_are_retried_with_growing_pauses(tmp_path: Path) -> None:
    process = start(tmp_path, "crashing")
    crashes = wait_until(
        lambda: len(found := sorted(map(crashed_at, tmp_path.glob("crash-*")))) >= 4 and found
    )
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    for number, (before, after) in enumerate(itertools.pairwise(crashes)):
        assert after - before >= FIRST_PAUSE * 2**number
    assert "an accident" in (tmp_path / "log").read_text()


def test_a_service_error_has_the_exit_code_of_its_cause(tmp_path: Path) -> None:
    class PeculiarError(ZermeloError):
        exit_code = 42

    def fail() -> None:
        raise PeculiarError("peculiar")

    supervisor = Supervisor(tmp_path / "log")
    supervisor.start("service", fail)

    def check() -> ServiceError | None:
        try:
            supervisor.check()
        except ServiceError as error:
            return error
        return None

    error = wait_until(check)
    assert error.exit_code == 42
    assert str(error) == "service: peculiar"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_service_stops_on_a_signal(number: int) -> None:
    program = (
        "from zermelo.server.supervisor import run_until_signalled\n"
        "def work(stop):\n    print('up', flush=True); stop.wait(); print('down')\n"
        "run_until_signalled(work)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    process.send_signal(number)
    out, _ = process.communicate(timeout=120)
    assert (process.returncode, out) == (0, "down\n")


def test_a_service_that_does_not_stop_ends_also_when_nobody_is_left_to_kill_it(
    tmp_path: Path,
) -> None:
    process = start(tmp_path, "stubborn")
    (child,) = wait_until(lambda: steady_pids(tmp_path))
    process.kill()
    process.communicate(timeout=120)
    wait_until(lambda: not alive(child))


def test_all_services_and_their_database_end_within_three_seconds() -> None:
    # The rest is for a busy machine, on which every process hears of it late.
    assert FINISH_SECONDS < KILL_SECONDS
    assert KILL_SECONDS + DATABASE_STOP_SECONDS <= 2.5
