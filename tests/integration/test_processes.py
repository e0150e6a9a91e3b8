"""`-n`: what several forked processes run is told as if one had run it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.support.places import REPOSITORY

TESTS = """
import os, signal, warnings
from pathlib import Path
import pytest

@pytest.fixture(scope="session")
def place():
    yield Path("ended")
    with open("ended", "a") as file:
        file.write(f"{os.getpid()}\\n")

@pytest.mark.parametrize("number", range(20))
def test_runs_once(number, place):
    with open("ran", "a") as file:
        file.write(f"{number} {os.getpid()}\\n")

def test_fails():
    os.system("echo from a child")
    print("from the test")
    assert 1 == 2

def test_is_skipped():
    pytest.skip("for a reason")

def test_warns():
    warnings.warn("heed this")
"""
DEATHS = """
import os, signal

def test_dies():
    os.kill(os.getpid(), signal.SIGKILL)

def test_goes_away():
    os._exit(3)

def test_after_it():
    pass
"""


def run(folder: Path, *options: str, **files: str) -> tuple[int, str]:
    """The exit code and what is told of tests in these files."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    for name, text in files.items():
        path = folder / "tests" / "unit" / f"test_{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:xdist", "-p", "no:cacheprovider",
         "-p", "tests.support.processes", "-n3", *options],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTEST_ADDOPTS": ""},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_every_test_runs_once_and_all_of_it_is_told(tmp_path: Path) -> None:
    code, told = run(tmp_path, first=TESTS, deaths=DEATHS)
    assert code == 1
    assert "3 failed, 22 passed, 1 skipped, 1 warning" in told
    assert re.search(r"Captured stdout call -+\nfrom a child\nfrom the test\n", told)
    for fact in ("assert 1 == 2", "for a reason", "heed this",
                 "the process of this test ended: SIGKILL",
                 "the process of this test ended: exit code 3"):  # fmt: skip
        assert fact in told, told
    ran = [line.split() for line in (tmp_path / "ran").read_text().splitlines()]
    assert sorted(int(number) for number, _ in ran) == list(range(20))
    # Whoever used what a session shares has ended it.
    assert set((tmp_path / "ended").read_text().split()) == {process for _, process in ran}


def test_a_run_stops_where_it_is_told_to(tmp_path: Path) -> None:
    code, told = run(tmp_path, "--exitfirst", deaths=DEATHS)
    assert code == 1
    assert "stopping after 1 failures" in told
    assert "Traceback" not in told
