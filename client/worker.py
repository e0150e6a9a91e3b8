"""One worker process: takes orders over a socket, searches in a thread, reports.

A process of its own, so that a crash costs one search and not the daemon. It ends when
the daemon does, which it notices by the end of the socket.
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import signal
import socket
import sys
import threading

from google.protobuf.message import Message

from zermelo.client.frames import frame, receive_frame
from zermelo.client.searcher import Dropped, Searcher
from zermelo.engine import SharedTable
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto.worker_pb2 import FromWorker, ToWorker

PROGRESS_SECONDS = 0.2
LONGEST_MESSAGE = 400


class Worker:
    def __init__(self, stream: socket.socket, searcher: Searcher) -> None:
        self._stream, self._searcher = stream, searcher
        self._orders: queue.SimpleQueue[ToWorker] = queue.SimpleQueue()
        self._sending = threading.Lock()
        self._lock = threading.Lock()
        self._lease = 0
        #: Told to drop before the search began.
        self._dropped: set[int] = set()

    def run(self) -> None:
        """Serve until the other end is gone."""
        threading.Thread(target=self._search, daemon=True).start()
        while True:
            ready, _, _ = select.select([self._stream], [], [], PROGRESS_SECONDS)
            if not ready:
                self._report_progress()
                continue
            order = receive_frame(self._stream, ToWorker)
            if order is None:
                return
            if order.WhichOneof("order") == "drop":
                self._drop(order.drop.lease_id)
            else:
                self._orders.put(order)

    def _search(self) -> None:
        while True:
            order = self._orders.get()
            if order.WhichOneof("order") == "prepare":
                speed = self._searcher.measure(order.prepare.game)
                self._send(FromWorker(prepared=FromWorker.Prepared(nodes_per_second=speed)))
            else:
                self._solve(order.solve)

    def _solve(self, workunit: pb.Workunit) -> None:
        lease = workunit.lease_id
        with self._lock:
            self._searcher.renew()
            self._lease = lease
            if lease in self._dropped:
                self._searcher.drop()
            self._dropped.clear()
        try:
            outcome = self._searcher.solve(workunit)
        except Exception as error:
            message = f"{type(error).__name__}: {error}"[:LONGEST_MESSAGE]
            report = FromWorker(failed=FromWorker.Failed(lease_id=lease, message=message))
        else:
            if isinstance(outcome, Dropped):
                dropped = FromWorker.Dropped(lease_id=lease, nodes=outcome.nodes)
                report = FromWorker(dropped=dropped)
            else:
                report = FromWorker(result=outcome)
        with self._lock:
            self._lease = 0
        self._send(report)

    def _drop(self, lease: int) -> None:
        with self._lock:
            if lease == self._lease:
                self._searcher.drop()
            else:
                self._dropped.add(lease)

    def _report_progress(self) -> None:
        with self._lock:
            if not self._lease:
                return
            progress = pb.LeaseProgress(lease_id=self._lease, nodes=self._searcher.nodes())
        self._send(FromWorker(progress=progress))

    def _send(self, message: Message) -> None:
        with self._sending, contextlib.suppress(ConnectionError):
            self._stream.sendall(frame(message))


def main(arguments: list[str]) -> None:
    """``python -m zermelo.client.worker SOCKET TABLE HASH_MB``, the first two inherited files"""
    # The daemon decides when to stop; a Ctrl-C in its terminal is not for us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    handle, table, hash_mb = map(int, arguments)
    searcher = Searcher(hash_mb=hash_mb, shared=SharedTable(table))
    Worker(socket.socket(fileno=handle), searcher).run()
    # A search may still run in its thread; nobody is left to hear of it.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
