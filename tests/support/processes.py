"""Several processes run the tests: `-n`. One collects them, and is forked.

Otherwise every process would import all packages and collect all tests, seconds of a processor
each. A process gets whole files, so that it shares what a file's tests share, and two tests ahead;
the rest can still be dealt to others, so that all of them end at the same time.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import traceback
import warnings
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any

import pytest

#: The test that runs and the one after it, for which fixtures stay.
AHEAD = 2
#: About how long a test takes, by the folder below tests/ in which it is; the slowest first.
SECONDS = {"chaos": 10.0, "acceptance": 3.0, "integration": 1.0, "unit": 0.1}
LEVELS = list(SECONDS)


def pytest_addoption(parser: pytest.Parser) -> None:
    # As pytest does with its own short options, which has reserved all of them.
    parser.getgroup("processes")._addoption(
        "-n", dest="processes", default="0", metavar="NUMBER",
        help="processes that run tests: a number; auto: as suits tests that wait;"
             " logical: as suits tests that compute",
    )  # fmt: skip


def wanted(config: pytest.Config) -> int:
    """How many processes: one where there is nothing to share, or somebody looks into it.

    What waits for processes and databases leaves room for what computes: with two processes a
    core nobody computed in a seventh of a run (record 0046).
    """
    if config.option.usepdb or config.option.collectonly:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    named = {"auto": 3 * cores, "logical": 3 * cores // 2}
    number: str = config.option.processes
    return named.get(number) or int(number)


def level(item: pytest.Item) -> str:
    return item.path.relative_to(item.config.rootpath / "tests").parts[0]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LEVELS.index(level(item)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    processes = wanted(session.config)
    if processes < 2 or session.testsfailed:
        return None  # as pytest does it
    Run(session, processes).run()
    return True


class Deal:
    """Which process runs which test.

    All but two begin with files whose tests mostly wait, for databases and other processes, beside
    two that compute.
    """

    def __init__(self, items: list[pytest.Item], processes: int) -> None:
        self._seconds = [SECONDS[level(item)] for item in items]
        self._hands: list[deque[int]] = [deque() for _ in range(processes)]
        self._waiting: deque[list[int]] = deque()
        self._computing: deque[list[int]] = deque()
        for _, numbers in groupby(range(len(items)), key=lambda number: items[number].path):
            file = list(numbers)
            computes = level(items[file[0]]) == LEVELS[-1]
            (self._computing if computes else self._waiting).append(file)

    def next(self, process: int) -> int | None:
        """The number of the next test, None if there is no more."""
        hand = self._hands[process]
        if not hand:
            hand.extend(self._file(process) or self._others_half())
        return hand.popleft() if hand else None

    def take_back(self, process: int, numbers: Iterable[int]) -> None:
        """These it was given and has not run."""
        self._hands[process].extendleft(reversed(list(numbers)))

    def _file(self, process: int) -> list[int]:
        first, second = self._waiting, self._computing
        if process >= max(1, len(self._hands) - 2):
            first, second = second, first
        return (first or second or deque([[]])).popleft()

    def _others_half(self) -> Iterable[int]:
        longest = max(self._hands, key=lambda hand: sum(map(self._seconds.__getitem__, hand)))
        return reversed([longest.pop() for _ in range((len(longest) + 1) // 2)])


@dataclass
class _Process:
    """One that runs tests, seen from the one that deals them."""

    number: int
    pid: int
    connection: Connection
    #: What it runs, and what comes next.
    given: deque[int] = field(default_factory=deque)


class Run:
    """All tests of a session, in `processes` processes."""

    def __init__(self, session: pytest.Session, processes: int) -> None:
        self._session, self._config = session, session.config
        self._deal = Deal(session.items, processes)
        self._processes: dict[Connection, _Process] = {}
        self._count = processes

    def run(self) -> None:
        _prepare(self._config)
        try:
            for number in range(self._count):
                self._start(number)
            while self._processes:
                for connection in wait(list(self._processes)):
                    self._hear(self._processes[connection])  # type: ignore[index]
                if self._session.shouldfail:
                    raise self._session.Failed(self._session.shouldfail)
                if self._session.shouldstop:
                    raise self._session.Interrupted(self._session.shouldstop)
        finally:
            self._interrupt()

    def _start(self, number: int) -> None:
        assert threading.active_count() == 1, "threads do not survive a fork"
        ours, theirs = Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            # Those that compute for numpy end before a fork and begin anew after it.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            ours.close()
            for connection in self._processes:
                connection.close()
            _work(self._session, theirs)
        theirs.close()
        process = _Process(number, pid, ours)
        self._processes[ours] = process
        for _ in range(AHEAD):
            self._give(process)

    def _give(self, process: _Process) -> None:
        number = self._deal.next(process.number)
        if number is not None:
            process.given.append(number)
        with suppress(ConnectionError):  # it has nothing to do any more, and is gone
            process.connection.send(number)

    def _hear(self, process: _Process) -> None:
        told = None
        with suppress(EOFError, ConnectionError):
            told = process.connection.recv()
        if told is None:
            self._bury(process)
            return
        if isinstance(told, str):
            sys.stderr.write(told)  # what went wrong outside of a test
            return
        if isinstance(told, warnings.WarningMessage):
            self._config.hook.pytest_warning_recorded.call_historic(kwargs={
                "warning_message": told, "when": "runtest", "location": None,
                "nodeid": self._item(process).nodeid if process.given else "",
            })  # fmt: skip
            return
        self._report(self._item(process), told)
        process.given.popleft()
        self._give(process)

    def _item(self, process: _Process) -> pytest.Item:
        return self._session.items[process.given[0]]

    def _report(self, item: pytest.Item, reports: list[dict[str, Any]]) -> None:
        hook = self._config.hook
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for data in reports:
            report = hook.pytest_report_from_serializable(config=self._config, data=data)
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _bury(self, process: _Process) -> None:
        """One has ended: as it should, or in the middle of a test, which then has failed."""
        del self._processes[process.connection]
        process.connection.close()
        _, status = os.waitpid(process.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if not process.given:
            self._session.testsfailed += code != 0  # what it said is told
            return
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        item = self._session.items[process.given.popleft()]
        report = pytest.TestReport(
            item.nodeid, item.location, {}, "failed", f"the process of this test ended: {how}",
            "call",
        )  # fmt: skip
        self._config.hook.pytest_runtest_logreport(report=report)
        self._deal.take_back(process.number, process.given)
        self._start(process.number)

    def _interrupt(self) -> None:
        for process in self._processes.values():
            process.connection.close()
            os.kill(process.pid, signal.SIGINT)
        for process in self._processes.values():
            os.waitpid(process.pid, 0)


def _prepare(config: pytest.Config) -> None:
    """Make what is shared by all processes, and nothing that each must have for itself."""
    config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.showfspath = False  # files take turns
    capture: Any = config.pluginmanager.get_plugin("capturemanager")
    capture.stop_global_capturing()  # into files, which processes would share


# -- in the processes that run tests --------------------------------------------------------------


class _Reports:
    """Told to the process that deals, all of one test at once."""

    _registered = False

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self._config, self._connection = config, connection
        self._collected: list[dict[str, Any]] = []
        config.pluginmanager.register(self)
        self._registered = True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._collected.append(
            self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        )

    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        if self._registered:  # else it was recorded before
            warning_message.source = None
            self._connection.send(warning_message)

    def tell(self) -> None:
        self._connection.send(self._collected)
        self._collected = []


def _work(session: pytest.Session, connection: Connection) -> None:
    """Run what is dealt, then end."""
    code = 1
    try:
        config = session.config
        config.pluginmanager.unregister(name="terminalreporter")
        capture: Any = config.pluginmanager.get_plugin("capturemanager")
        capture.start_global_capturing()
        capture.suspend_global_capture()
        reports = _Reports(config, connection)
        try:
            _run_tests(session, connection, reports)
        finally:
            capture.stop_global_capturing()
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        code = 0
    except (EOFError, ConnectionError, KeyboardInterrupt):
        pass  # the run ends before its time, and whoever deals has said why
    except BaseException:
        with suppress(OSError):
            connection.send(traceback.format_exc())
    finally:
        os._exit(code)  # to take modules apart would copy what processes share


def _run_tests(session: pytest.Session, connection: Connection, reports: _Reports) -> None:
    try:
        number = connection.recv()
        while number is not None:
            following = connection.recv()
            session.config.hook.pytest_runtest_protocol(
                item=session.items[number],
                nextitem=None if following is None else session.items[following],
            )
            reports.tell()
            number = following
    except BaseException:
        # The run ends before its time: what it started still ends in good order.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        session._setupstate.teardown_exact(None)
        raise
