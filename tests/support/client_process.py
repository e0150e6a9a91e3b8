"""`zermelo client run` as a process of its own, and work that keeps it busy."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.command import zermelo
from tests.support.coordinator import Queue
from tests.support.preloaded import Command
from zermelo.client.control import NotRunningError, ask
from zermelo.client.folder import ClientFolder
from zermelo.client.speed import KnownSpeeds
from zermelo.games import open_game
from zermelo.server.database import Connection

RUN = ("client", "run")
#: A game that no engine solves, without trained weights, which a worker would unpack first.
HARD = open_game("reversi:7x8")
#: The games of these tests, as a coordinator names them.
GAMES = [open_game("reversi:4x4").spec, HARD.spec]
#: About what one core does.
NODES_A_SECOND = 5_000_000


def start_client(
    address: str, folder: Path, *options: str, measured: bool = True
) -> subprocess.Popen[str]:
    """`zermelo client run`; `measured` spares it the benchmark of a host's first start."""
    if measured:
        known_speeds(folder)
    return Command(
        *RUN, "--server", address, "--data-dir", folder, "--memory-mb", "4",
        "--priority", "low", "--quit-seconds", "0", "--leave-seconds", "120", *options,
        stderr=subprocess.PIPE,
        text=True,
    )


def known_speeds(folder: Path) -> None:
    """The speeds that an earlier run of the client would have left in its folder."""
    places = ClientFolder(folder)
    places.make()
    speeds = KnownSpeeds(places.speeds)
    for game in GAMES:
        if not speeds.get(game):
            speeds.put(game, NODES_A_SECOND)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Another command of `zermelo client`, to its end."""
    return zermelo("client", *arguments)


@contextmanager
def client(address: str, folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    process = start_client(address, folder, *options)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def stop(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return errors


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def searching(folder: Path) -> dict[str, Any] | None:
    """The search of the first worker, once there is one with some progress."""
    try:
        workers = ask(ClientFolder(folder).control, "status")["workers"]
    except NotRunningError:
        return None
    search: dict[str, Any] | None = workers[0]["search"]
    return search if search and search["nodes"] else None


def reason(folder: Path) -> str:
    """Why the daemon does what it does; nothing before there is one."""
    try:
        return str(ask(ClientFolder(folder).control, "status")["reason"])
    except NotRunningError:
        return ""


def hard_question(connection: Connection, queue: Queue) -> int:
    """A workunit that no engine finishes while a test runs."""
    (workunit,) = queue.add(1, node_budget=10**12)
    # Whatever speed a busy computer measures, its budget lasts longer than a test.
    connection.execute(
        "UPDATE campaigns SET spec = %s, target_seconds = 1e6, node_budget = 1e12", (HARD.spec,)
    )
    connection.execute(
        "UPDATE nodes SET position = encode(%s, 'hex')::uuid",
        (HARD.encode(HARD.canonical(HARD.initial())),),
    )
    # Nor does it take its host too long, so that others are asked, too: it is expected to be hard.
    connection.execute(
        "UPDATE workunits SET threshold = 1, expected = 1e12 WHERE id = %s", (workunit,)
    )
    return workunit


def value(connection: Connection, query: str, *parameters: Any) -> Any:
    row = connection.execute(query, parameters).fetchone()  # type: ignore[arg-type]
    return row[0] if row else None
