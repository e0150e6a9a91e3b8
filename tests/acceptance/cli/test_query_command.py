"""Researchers at the command line and in Python while a project starts, runs and stops."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command import zermelo
from tests.support.databases import copy_folder, open_folder
from tests.support.preloaded import Command
from zermelo.server.ports import free_port

READER = """
import sys, time, zermelo
with zermelo.open(data_dir=sys.argv[1]) as database:
    campaign = database.campaign("reversi:4x4")
    print("reading", flush=True)
    while True:
        campaign.standing()
        campaign.position()
        time.sleep(0.01)
"""


@pytest.fixture(scope="module")
def solved(used_cluster: Path) -> Iterator[tuple[str, list[str]]]:
    """The data directory of a finished campaign, and the line that `solve` printed."""
    with open_folder() as folder:
        copy_folder(used_cluster, folder)
        data = str(folder)
        done = zermelo("solve", "reversi:4x4", "--workers", "1", "--data-dir", data, "--json")
        assert done.returncode == 0, done.stderr
        yield data, json.loads(done.stdout)["line"]


def test_query_line_tells_what_solve_printed(solved: tuple[str, list[str]]) -> None:
    data, line = solved
    told = json.loads(zermelo("query", "line", "reversi:4x4", "--data-dir", data, "--json").stdout)
    assert len(line) >= 8
    assert [step["move"] for step in told["line"]] == line
    assert {step["source"] for step in told["line"]} <= {"tree", "engine"}


def test_which_workunits_there_are(solved: tuple[str, list[str]]) -> None:
    data, _ = solved
    there = ["--data-dir", data]
    listed = json.loads(zermelo("query", "workunit", "reversi:4x4", *there, "--json").stdout)
    numbers = [one["workunit"] for one in listed["workunits"]]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers
    one = zermelo("query", "workunit", "reversi:4x4", str(numbers[0]), *there)
    assert "is the score at least" in one.stdout
    none = zermelo("query", "workunit", "reversi:4x4", "99999", *there)
    assert none.returncode == 2
    assert f"it has {len(numbers)} workunits" in none.stderr
    assert len(none.stderr.splitlines()) == 1


def test_readers_when_the_services_stop(solved: tuple[str, list[str]]) -> None:
    data, _ = solved
    services = Command(
        "serve", "all", "--data-dir", data, "--listen", f"127.0.0.1:{free_port()}",
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert services.stderr is not None
    assert services.stderr.readline()
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, data], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert reader.stdout is not None
    assert reader.stdout.readline() == "reading\n"
    services.send_signal(signal.SIGTERM)
    services.communicate(timeout=120)
    assert services.returncode == 0
    try:
        _, errors = reader.communicate(timeout=60)
    finally:
        reader.kill()
    assert errors.splitlines()[-1].startswith(
        "zermelo.server.database.DatabaseError: the database went away: "
    )
    assert errors.splitlines()[-1].endswith("; ask again when it runs")
    assert "psycopg" not in errors
