"""What holds for every test: its fixtures, its examples, and what a run says at its end."""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter
from itertools import groupby, islice
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support.memory_files import use_memory
from zermelo.cext.cpu import instruction_sets

pytest_plugins = [
    "tests.support.coordinator", "tests.support.databases", "tests.support.engines",
    "tests.support.web",
]  # fmt: skip

use_memory()

# Clients search at the lowest priority unless told otherwise: beside tests that keep all cores busy
# they would wait for those to end.
os.environ.setdefault("ZERMELO_PRIORITY", "normal")

# A slow machine is no mistake, examples may share a folder or a database, and what must
# pass before a change lands tries the same examples each time.
settings.register_profile(
    "patient",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    derandomize="CI" in os.environ,
)
settings.load_profile("patient")

# What a shell starts in the background is deaf to Ctrl-C, and so would be all we start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

#: The slowest level first, so that what mostly waits runs beside what computes.
LEVELS = ("chaos", "acceptance", "integration", "unit")
#: About how long one takes that waits.
WEIGHTS = {"chaos": 10, "acceptance": 3, "integration": 1}
#: Seldom, as in a coordinator, which sets them for the process it runs in.
GARBAGE_THRESHOLDS = (20_000, 20, 50)
LEFT_OUT = pytest.StashKey[Counter[str]]()


def level(item: pytest.Item) -> str:
    """The folder below tests/ in which a test is."""
    return item.path.relative_to(item.config.rootpath / "tests").parts[0]


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """`-n auto`: what waits for processes and databases leaves room for what computes.

    With two processes a core nobody computed in a seventh of a run (record 0046).
    `-n logical`, for the unit tests: nearly all of these compute.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    return (3 if config.option.numprocesses == "logical" else 5) * cores // 2


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # what is collected stays: to look through it again and again takes a second
    config.stash[LEFT_OUT] = Counter()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LEVELS.index(level(item)))
    items[:] = dealt(items, getattr(config, "workerinput", {}).get("workercount", 1))


def dealt(items: list[pytest.Item], processes: int) -> list[pytest.Item]:
    """So that some processes begin with what waits, beside others that compute to the end.

    xdist gives each process an equal part, one after the other; who has none left takes from the
    ends of the others' parts, where the short tests are.
    """
    waiting = [item for item in items if level(item) != LEVELS[-1]]
    computing = iter(items[len(waiting) :])
    size = len(items) // processes
    order = []
    for part in _by_files(waiting, max(1, processes - 2)):
        order += part + list(islice(computing, max(0, size - len(part))))
    return [*order, *computing]


def _by_files(items: list[pytest.Item], parts: int) -> list[list[pytest.Item]]:
    """Parts that take about as long, each file in one of them."""
    found: list[list[pytest.Item]] = [[] for _ in range(parts)]
    whole, passed = sum(WEIGHTS[level(item)] for item in items), 0
    for _, file in groupby(items, key=lambda item: item.path):
        tests = list(file)
        found[parts * passed // whole] += tests
        passed += sum(WEIGHTS[level(item)] for item in tests)
    return found


def pytest_collection_finish() -> None:
    # The tests stay until the end: from now on garbage collections pass over them.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    gc.enable()


def pytest_deselected(items: list[pytest.Item]) -> None:
    for item in items:
        kind = "long" if item.get_closest_marker("long") else "other"
        item.config.stash[LEFT_OUT][kind] += 1


# -- with several processes, one of them tells the first what it left out ---------------------


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = dict(session.config.stash[LEFT_OUT])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    told = getattr(node, "workeroutput", {}).get("left_out", {})
    node.config.stash[LEFT_OUT] |= Counter(told)  # every process collects the same


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    write = terminalreporter.write_line
    for reason, count in sorted(Counter(
        report.longrepr[2].removeprefix("Skipped: ") for report in
        terminalreporter.stats.get("skipped", [])
    ).items()):  # fmt: skip
        write(f"skipped here: {count} x {reason}")
    for name in ("avx512", "avx2"):
        if name not in instruction_sets():
            write(f"skipped here: the engines built for {name}, which this processor does not have")
    left_out = config.stash[LEFT_OUT]
    if left_out["long"]:
        write(f"left out: {left_out['long']} long tests (chaos, many kills, fuzzing, large"
              " boards, every instruction set, all examples); `make test-long` runs them")
    if left_out["other"]:
        write(f"left out: {left_out['other']} other tests; `make test` runs them")
