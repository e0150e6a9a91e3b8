"""Processes that start within milliseconds: one that has loaded Zermelo forks them.

Half of the processor time of a test of the command line is the start of Python and its imports. A
forked command is a process of its own all the same: with its own streams, environment, folder,
signals, limits and exit code. tests/acceptance/install and the examples start theirs from nothing.
"""

from __future__ import annotations

import array
import atexit
import gc
import json
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

STATUS = struct.Struct("i")
MOST_BYTES = 1 << 20
#: What commands import when they are called.
MODULES = (
    "zermelo.cli.client.configure", "zermelo.cli.client.control", "zermelo.cli.client.run",
    "zermelo.cli.client.status", "zermelo.cli.engine.solve", "zermelo.cli.proof",
    "zermelo.cli.query", "zermelo.cli.serve", "zermelo.cli.solve", "zermelo.client.daemon",
    "zermelo.engine.reversi", "zermelo.server.coordinator.main", "zermelo.server.embedded",
    "zermelo.server.launcher",
)  # fmt: skip


class Forked(subprocess.Popen[Any]):
    """A process that calls a function, "module:name", with values that JSON can tell.

    `most_bytes` limits its address space.
    """

    def __init__(
        self, function: str, *values: Any, arguments: Sequence[str] = ("forked",),
        most_bytes: int | None = None, **options: Any,
    ) -> None:  # fmt: skip
        self._call = {"function": function, "values": values, "most_bytes": most_bytes}
        super().__init__(list(arguments), **options)

    def _execute_child(  # type: ignore[override]
        self, args: Any, executable: Any, preexec_fn: Any, close_fds: Any, pass_fds: Any,
        cwd: Any, env: Any, startupinfo: Any, creationflags: Any, shell: Any,
        p2cread: int, p2cwrite: int, c2pread: int, c2pwrite: int, errread: int, errwrite: int,
        restore_signals: Any, gid: Any, gids: Any, uid: Any, umask: Any,
        start_new_session: bool, *_: Any,
    ) -> None:  # fmt: skip
        assert preexec_fn is None
        assert not pass_fds
        streams = [p2cread, c2pwrite, errwrite]
        self._status, theirs = os.pipe()
        try:
            self.pid = _forker().fork(
                [own if stream == -1 else stream for own, stream in enumerate(streams)] + [theirs],
                arguments=args, folder=os.fspath(cwd or os.getcwd()),
                environment=dict(os.environ if env is None else env),
                session=start_new_session, **self._call,
            )
        finally:
            os.close(theirs)
            self._close_pipe_fds(  # type: ignore[attr-defined]
                p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite
            )
        self._child_created = True

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        return self._told(0)

    def _wait(self, timeout: float | None) -> int:
        code = self._told(timeout)
        if code is None:
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return code

    def _told(self, seconds: float | None) -> int | None:
        """The exit code, if the forker tells it within this time."""
        if self.returncode is None and select.select([self._status], [], [], seconds)[0]:
            told = os.read(self._status, STATUS.size)
            os.close(self._status)
            # Nothing but an end of the forker itself leaves the pipe empty.
            self.returncode = os.waitstatus_to_exitcode(STATUS.unpack(told)[0]) if told else 255
        return self.returncode


class Command(Forked):
    """`zermelo` with these arguments."""

    def __init__(self, *arguments: object, **options: Any) -> None:
        super().__init__(
            "zermelo.cli:main", arguments=["zermelo", *map(str, arguments)], **options
        )


class _Forker:
    """The process that forks, seen from the tests."""

    def __init__(self) -> None:
        self._asking = threading.Lock()
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST_BYTES)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                cwd=Path(__file__).parents[2],
                # Commands silence gRPC before they load it; these begin with it loaded.
                env={**os.environ, "GRPC_VERBOSITY": "NONE"},
            )  # fmt: skip

    def close(self) -> None:
        self._ours.close()
        self._process.wait(60)

    def fork(self, descriptors: list[int], **request: Any) -> int:
        """The process id of a new process."""
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))
        with self._asking:
            self._ours.sendmsg([json.dumps(request).encode()], [rights])
            pid = self._ours.recv(STATUS.size)
        assert pid, "the process that forks has died"
        return int(STATUS.unpack(pid)[0])


_forker_is_started = threading.Lock()


def _forker() -> _Forker:
    with _forker_is_started:  # tests start clients from several threads
        return _the_forker()


@cache
def _the_forker() -> _Forker:
    forker = _Forker()
    atexit.register(forker.close)
    return forker


# -- in the process that forks ------------------------------------------------------------------


def serve(requests: socket.socket) -> dict[str, Any] | None:
    """Fork a process for each request; what it is to do in such a process, None at the end.

    At the end of the tests whatever they left running ends, too.
    """
    rights = socket.CMSG_SPACE(4 * STATUS.size)
    statuses: dict[int, int] = {}
    woken, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready, _, _ = select.select([requests, woken], [], [])
        if woken in ready:
            os.read(woken, MOST_BYTES)
            _report(statuses)
        if requests not in ready:
            continue
        data, ancillary, _, _ = requests.recvmsg(MOST_BYTES, rights)
        if not data:
            _report(statuses)
            for pid in statuses:
                os.kill(pid, signal.SIGKILL)
            return None
        received = array.array("i")
        received.frombytes(ancillary[0][2])
        *streams, status = received
        if (pid := os.fork()) == 0:
            signal.set_wakeup_fd(-1)
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
            requests.close()
            for descriptor in (*received, *statuses.values(), woken, waker):
                os.close(descriptor)
            return dict(json.loads(data))
        for stream in streams:
            os.close(stream)
        statuses[pid] = status
        requests.send(STATUS.pack(pid))


def _report(statuses: dict[int, int]) -> None:
    """Tell how those ended that have."""
    while statuses:
        pid, how = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        os.write(statuses[pid], STATUS.pack(how))
        os.close(statuses.pop(pid))


def become(request: dict[str, Any]) -> None:
    """Make this process what one is that was started as the request says."""
    if request["session"]:
        os.setsid()
    # SIGHUP, too, which `nohup` has all tests ignore.
    for number in (signal.SIGINT, signal.SIGCHLD, signal.SIGHUP):
        usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, usual)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.argv = request["arguments"]
    at_once = bool(os.environ.get("PYTHONUNBUFFERED"))
    for number, name, errors in ((0, "stdin", "strict"), (1, "stdout", "strict"),
                                 (2, "stderr", "backslashreplace")):  # fmt: skip
        stream = open(  # noqa: SIM115
            number, "w" if number else "r", errors=errors, closefd=False,
            buffering=1 if number == 2 or os.isatty(number) else -1,
        )
        if at_once and number:
            stream.reconfigure(write_through=True)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    if request["most_bytes"] is not None:
        resource.setrlimit(resource.RLIMIT_AS, (request["most_bytes"],) * 2)


def run() -> None:
    for module in MODULES:
        import_module(module)
    assert len(os.listdir("/proc/self/task")) == 1, "threads do not survive a fork"
    gc.freeze()  # its pages stay shared
    request = serve(socket.socket(fileno=int(sys.argv[1])))
    if request is not None:
        become(request)
        code: Any = 0
        try:
            resolve_name(request["function"])(*request["values"])
        except SystemExit as error:
            code = error.code or 0
            if not isinstance(code, int):
                raise
        end(code)


def end(code: int) -> None:
    """End as Python ends, but leave the memory as it is.

    To take every module apart would copy all pages that are shared with the forker: two thirds of
    the processor time of a short command.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except (OSError, ValueError):
        sys.exit(code)  # Python has its own way to say that nobody reads any more
    os._exit(code)


if __name__ == "__main__":
    run()
