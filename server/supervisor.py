"""Child processes that are started again when they die, and never outlive their parent.

Children are forked from a parent that has loaded what they share and holds no thread and no
connection, so a start costs milliseconds. A child that ends with a message for the user
(`ZermeloError`) has found something that starting it again would not mend: the parent
raises that message. Any other death is an accident.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from zermelo import ZermeloError
from zermelo.logs import PLAIN, LogStyle
from zermelo.retry import Backoff
from zermelo.server.processes import die_with_parent
from zermelo.server.stop_event import StopEvent

log = logging.getLogger(__name__)

PR_SET_NAME = 15

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0
#: A child that lived this long had no trouble starting.
SETTLED_SECONDS = 10.0
#: After more accidents in a row than this, starting again is no use.
MOST_ACCIDENTS = 12
#: A service that is told to stop ends what it is doing, if that takes no longer than this. Else
#: it ends in the middle: the database rolls back what was not committed, and whoever comes next
#: does it again.
FINISH_SECONDS = 1.0
#: Whoever is still there after this long is killed: on a busy machine the second between this and
#: the three that all of it may take is needed by PostgreSQL.
KILL_SECONDS = 1.4
#: The same for whoever is stopped first: a client saves what it has searched.
FIRST_KILL_SECONDS = 2.5
CHECK_SECONDS = 0.5
LONGEST_MESSAGE = 4000


class ServiceError(ZermeloError):
    """A service ended and cannot be started again; the message is its own."""

    def __init__(self, name: str, message: str, exit_code: int) -> None:
        super().__init__(f"{name}: {message}")
        self.exit_code = exit_code


class Child:
    """One supervised process."""

    def __init__(
        self, name: str, main: Callable[[], None], log_file: Path | None, log_style: LogStyle
    ) -> None:
        """The log goes to the file, or where the parent's goes."""
        self.name = name
        self._main = main
        self._log_file, self._log_style = log_file, log_style
        self.pid: int | None = None
        self.restarts = 0
        self._backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        self._started_at = 0.0
        self._not_before = 0.0
        self._message = -1

    def start(self) -> None:
        """Fork the process."""
        read_end, write_end = os.pipe()
        parent = os.getpid()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            os.close(read_end)
            self._live(parent, write_end)
        os.close(write_end)
        self._message, self.pid = read_end, pid
        self._started_at = time.monotonic()

    def check(self) -> None:
        """Notice a death; start again when it is time. `ServiceError` if that is no use."""
        if self.pid is None:
            if time.monotonic() >= self._not_before:
                self.restarts += 1
                self.start()
            return
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            return
        self.pid = None
        message = self._last_words()
        code = os.waitstatus_to_exitcode(status)
        if message:
            raise ServiceError(self.name, message, code if code > 0 else 1)
        if time.monotonic() - self._started_at > SETTLED_SECONDS:
            self._backoff.reset()
        pause = self._backoff.next()
        if self._backoff.failures > MOST_ACCIDENTS:
            raise ServiceError(self.name, f"died {self._backoff.failures} times in a row", 1)
        self._not_before = time.monotonic() + pause
        how = f"signal {-code}" if code < 0 else f"code {code}"
        log.warning("%s died with %s; starting it again in %.1f s", self.name, how, pause)

    def signal(self, number: int) -> None:
        if self.pid is not None:
            os.kill(self.pid, number)

    def gone(self) -> bool:
        """Whether the process has ended, after it was told to."""
        if self.pid is not None and os.waitpid(self.pid, os.WNOHANG)[0]:
            self.pid = None
            self._last_words()
        return self.pid is None

    def _last_words(self) -> str:
        with os.fdopen(self._message, "rb") as pipe:
            return pipe.read(LONGEST_MESSAGE).decode("utf-8", "replace")

    def _live(self, parent: int, message: int) -> NoReturn:
        """The life of the child, from the fork to its exit."""
        code = 70
        try:
            # A Ctrl-C in the terminal is for the parent, which stops us in good order. And
            # Linux shares the processor among sessions: a service next to a busy sibling
            # in its own would wait for it.
            os.setsid()
            _name_process(f"zermelo {self.name}")
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            die_with_parent(signal.SIGTERM)
            if os.getppid() != parent:
                os._exit(code)
            _write_to(self._log_file)
            self._log_style.start(self.name)
            self._main()
            code = 0
        except ZermeloError as error:
            os.write(message, str(error).encode()[:LONGEST_MESSAGE])
            log.error("%s: %s", self.name, error)
            code = error.exit_code
        except BaseException:
            log.critical("%s fails", self.name, exc_info=True)
        finally:
            sys.stderr.flush()
            os._exit(code)


class Supervisor:
    """Keeps a list of children alive. Call `check` now and then, `stop` at the end."""

    def __init__(self, log_file: Path | None = None, log_style: LogStyle = PLAIN) -> None:
        self._log_file, self._log_style = log_file, log_style
        self.children: list[Child] = []

    def start(self, name: str, main: Callable[[], None]) -> None:
        child = Child(name, main, self._log_file, self._log_style)
        child.start()
        self.children.append(child)

    def check(self) -> None:
        for child in self.children:
            child.check()

    @property
    def restarts(self) -> int:
        return sum(child.restarts for child in self.children)

    def stop(self, first: str = "") -> None:
        """Stop everything; before the others the one that needs them to end well."""
        _stop([child for child in self.children if child.name == first], FIRST_KILL_SECONDS)
        _stop([child for child in self.children if child.name != first], KILL_SECONDS)
        self.children = []

    def run(self, also: Callable[[], None] = lambda: None) -> None:
        """Keep the children alive until SIGTERM or SIGINT, then stop them.

        `also` is called now and then for what else must be kept alive.
        """
        asked = {signal.SIGTERM, signal.SIGINT}
        waited = asked | {signal.SIGCHLD}
        signal.pthread_sigmask(signal.SIG_BLOCK, waited)
        try:
            while True:
                also()
                self.check()
                arrived = signal.sigtimedwait(waited, CHECK_SECONDS)
                if arrived is not None and arrived.si_signo in asked:
                    return
        finally:
            self.stop()


def _stop(children: list[Child], seconds: float) -> None:
    for child in children:
        child.signal(signal.SIGTERM)
    if _wait_until(lambda: all(child.gone() for child in children), seconds):
        return
    left = [child for child in children if not child.gone()]
    for child in left:
        log.warning("%s does not stop; killing it", child.name)
        child.signal(signal.SIGKILL)
    _wait_until(lambda: all(child.gone() for child in left), seconds)


def run_until_signalled(run: Callable[[threading.Event], None]) -> None:
    """Run a service and set its stop event when SIGTERM or SIGINT arrives.

    A thread waits for the signals: a handler could interrupt the very lines of the event
    that it wants to set. Also where nobody is left to kill it, a service ends soon.
    """
    signals = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    stop, stopped = StopEvent(), threading.Event()

    def wait() -> None:
        signal.sigwait(signals)
        stop.set()
        if not stopped.wait(FINISH_SECONDS):
            log.info("stops in the middle of its work, which will be done again")
            sys.stderr.flush()
            os._exit(0)

    threading.Thread(target=wait, daemon=True, name="signals").start()
    try:
        run(stop)
    finally:
        stopped.set()


def leave() -> NoReturn:
    """End this process well and at once, after everything is closed: taking the interpreter apart
    takes seconds on a busy machine."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _name_process(name: str) -> None:
    """Show this name in `ps` and `top`, as far as its 15 characters allow (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode())


def _write_to(log_file: Path | None) -> None:
    """Let what this process says go to a file, if one is named."""
    if log_file is not None:
        handle = os.open(log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        os.close(handle)


def _wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True
