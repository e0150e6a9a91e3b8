"""One worker process: takes orders over a socket, searches in a thread, reports.

A process of its own, so that a crash costs one search and not the daemon, and so that it
can be stopped and continued as a whole. It ends when the daemon does.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import queue
import select
import signal
import socket
import sys
import threading
import time
import traceback
from pathlib import Path

from google.protobuf.message import Message

from zermelo.client.checkpoints import Checkpoints
from zermelo.client.definitions import DefinitionFolder
from zermelo.client.frames import receive_frame, send_frame
from zermelo.client.searcher import Dropped, Interruption, Searcher
from zermelo.engine import SharedTable
from zermelo.games.definition.sources import add_source
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto.worker_pb2 import FromWorker, ToWorker
from zermelo.texts import one_line

PROGRESS_SECONDS = 0.2
LONGEST_MESSAGE = 400
PR_SET_PDEATHSIG = 1


class Worker:
    def __init__(
        self, stream: socket.socket, searcher: Searcher, *, checkpoint_seconds: float
    ) -> None:
        self._stream = stream
        self._searcher = searcher
        self._checkpoint_seconds = checkpoint_seconds
        self._orders: queue.SimpleQueue[ToWorker] = queue.SimpleQueue()
        self._sending = threading.Lock()
        self._lock = threading.Lock()
        self._lease = 0
        self._saved_at = 0.0
        #: Told to drop before the search began.
        self._dropped: set[int] = set()

    def run(self) -> None:
        """Serve until the other end is gone."""
        threading.Thread(target=self._search, daemon=True).start()
        while True:
            ready, _, _ = select.select([self._stream], [], [], PROGRESS_SECONDS)
            if not ready:
                self._tick()
                continue
            order = receive_frame(self._stream, ToWorker)
            if order is None:
                return
            kind = order.WhichOneof("order")
            if kind == "drop":
                self._drop(order.drop)
            else:
                self._orders.put(order)
            del order  # which may be large, and the next one, too

    def _search(self) -> None:
        """Follow orders for ever. What goes wrong beyond a search ends the whole process:
        the daemon sees that, and starts another."""
        try:
            self._follow_orders()
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    def _follow_orders(self) -> None:
        while True:
            order = self._orders.get()
            if order.WhichOneof("order") == "prepare":
                game = order.prepare.game
                speed = self._searcher.measure(game, order.prepare.milliseconds / 1000)
                prepared = FromWorker.Prepared(game=game, speed=speed)
                self._send(FromWorker(prepared=prepared))
            else:
                self._solve(order.solve)
            del order

    def _solve(self, order: ToWorker.Solve) -> None:
        workunit = order.workunit
        lease = workunit.lease_id
        with self._lock:
            self._searcher.renew()
            self._lease = lease
            self._saved_at = time.monotonic()
            if lease in self._dropped:
                self._searcher.interrupt(Interruption.DROP)
            self._dropped.clear()
        try:
            outcome = self._searcher.solve(workunit, resume=order.resume)
        except Exception as error:
            failed = FromWorker.Failed(lease_id=lease, message=_describe(error))
            report = FromWorker(failed=failed)
        else:
            report = _report(lease, outcome)
        with self._lock:
            self._lease = 0
        self._send_notes()
        self._send(report)

    def _drop(self, order: ToWorker.Drop) -> None:
        with self._lock:
            if order.lease_id == self._lease:
                self._searcher.interrupt(Interruption.SAVE if order.save else Interruption.DROP)
            else:
                self._dropped.add(order.lease_id)

    def _tick(self) -> None:
        """Report progress, and do now and then what must be done while a search runs."""
        self._send_notes()
        with self._lock:
            if not self._lease:
                return
            now = time.monotonic()
            if now - self._saved_at >= self._checkpoint_seconds:
                self._saved_at = now
                self._searcher.interrupt(Interruption.CHECKPOINT)
            self._searcher.insist()
            nodes, permille = self._searcher.progress()
            progress = pb.LeaseProgress(lease_id=self._lease, nodes=nodes, done_permille=permille)
        self._send(FromWorker(progress=progress))

    def _send_notes(self) -> None:
        while self._searcher.notes:
            note = FromWorker.Note(message=self._searcher.notes.pop(0))
            self._send(FromWorker(note=note))

    def _send(self, message: Message) -> None:
        with self._sending, contextlib.suppress(ConnectionError):
            send_frame(self._stream, message)


def _describe(error: Exception) -> str:
    return one_line(f"{type(error).__name__}: {error}", LONGEST_MESSAGE)


def _report(lease: int, outcome: pb.Result | Dropped) -> FromWorker:
    if isinstance(outcome, Dropped):
        return FromWorker(
            dropped=FromWorker.Dropped(lease_id=lease, nodes=outcome.nodes, saved=outcome.saved)
        )
    return FromWorker(result=outcome)


def _die_with_parent() -> None:
    """Not to outlive the daemon, even while stopped.

    Elsewhere the kernel wakes the stopped process group that lost its parent, and hangs up.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main(arguments: list[str]) -> None:
    """``python -m zermelo.client.worker SOCKET TABLE HASH_MB SEARCHES DEFINITIONS SECONDS DURABLE
    THREADS ALONE``

    The first two are inherited files; who is alone does not use the table.
    """
    _die_with_parent()
    # The daemon decides when to stop; a Ctrl-C in its terminal is not for us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    handle, table, hash_mb, folder, definitions, seconds, durable, threads, alone = arguments
    add_source(DefinitionFolder(Path(definitions)).text)
    searcher = Searcher(
        hash_mb=int(hash_mb),
        threads=int(threads),
        shared=None if alone == "1" else SharedTable(int(table)),
        checkpoints=Checkpoints(Path(folder), durable=durable == "1"),
    )
    stream = socket.socket(fileno=int(handle))
    Worker(stream, searcher, checkpoint_seconds=float(seconds)).run()
    # A search may still run in its thread; nobody is left to hear of it.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
