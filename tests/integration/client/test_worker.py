"""A worker process, seen from the daemon's end of its socket."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

from zermelo.client.frames import send_frame
from zermelo.engine import SharedTable
from zermelo.proto.worker_pb2 import ToWorker


def test_a_worker_that_cannot_go_on_ends(tmp_path: Path) -> None:
    """Alive but silent it would be waited for in vain."""
    table = SharedTable.create(1)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "zermelo.client.worker", str(theirs.fileno()),
             str(table.descriptor), "1", str(tmp_path), str(tmp_path), "60", "0", "1", "0"],
            pass_fds=[theirs.fileno(), table.descriptor],
            stderr=subprocess.PIPE,
            text=True,
        )
        prepare = ToWorker.Prepare(game="no such game", milliseconds=1)
        send_frame(ours, ToWorker(prepare=prepare))
        _, errors = process.communicate(timeout=120)
    table.close()
    assert process.returncode == 1
    assert "no such game" in errors
