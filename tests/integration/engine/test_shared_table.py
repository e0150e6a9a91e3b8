"""One table for engines of several processes, of which some are killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from zermelo.engine import SharedTable, Window, open_engine
from zermelo.games import open_game

QUESTION = Window.question(1)

ELSEWHERE = """
import sys
from zermelo.engine import SharedTable, Window, open_engine
from zermelo.games import open_game

engine = open_engine(open_game(sys.argv[2]), shared=SharedTable(int(sys.argv[1])))
print("ready", flush=True)
while True:
    answer = engine.solve(engine.game.initial(), Window.question(1))
    print(answer.nodes, flush=True)
    if len(sys.argv) > 3:
        engine.clear()
    else:
        break
"""


def start_elsewhere(table: SharedTable, spec: str, *more: str) -> subprocess.Popen[str]:
    """An engine in a process of its own, on the same table."""
    process = subprocess.Popen(
        [sys.executable, "-c", ELSEWHERE, str(table.descriptor), spec, *more],
        pass_fds=[table.descriptor],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.fixture
def table() -> Iterator[SharedTable]:
    table = SharedTable.create(8)
    yield table
    table.close()


def test_what_another_process_proved_helps(table: SharedTable) -> None:
    with start_elsewhere(table, "reversi:4x6") as process:
        assert process.stdout is not None
        nodes = process.stdout.readline()
    assert process.returncode == 0
    here = open_engine(open_game("reversi:4x6"), shared=table)
    assert here.solve(here.game.initial(), QUESTION).nodes < int(nodes) / 100


def test_a_process_killed_while_it_writes_harms_nobody(table: SharedTable) -> None:
    truth = open_engine(open_game("reversi:4x6"))
    start = truth.game.initial()
    value = truth.solve(start).bounds
    for _ in range(3):
        process = start_elsewhere(table, "reversi:4x6", "again and again")
        time.sleep(random.uniform(0.0, 0.05))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        survivor = open_engine(truth.game, shared=table)
        assert survivor.solve(start).bounds == value
