"""What holds for every test: its fixtures, its examples, and what a run says at its end."""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

from tests.support.memory_files import use_memory
from zermelo.cext.cpu import instruction_sets

pytest_plugins = [
    "tests.support.coordinator", "tests.support.databases", "tests.support.engines",
    "tests.support.processes", "tests.support.web",
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

#: Seldom, as in a coordinator, which sets them for the process it runs in.
GARBAGE_THRESHOLDS = (20_000, 20, 50)
LEFT_OUT = pytest.StashKey[Counter[str]]()


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # what is collected stays: to look through it again and again takes a second
    config.stash[LEFT_OUT] = Counter()


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
