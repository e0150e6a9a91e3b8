"""Status, pause, resume and stop of a running daemon, through its control socket."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.client_process import (
    HARD,
    children,
    client,
    command,
    hard_question,
    searching,
    start_client,
    stop,
    value,
)
from tests.support.coordinator import Queue, running_coordinator, wait_until
from zermelo.client.checkpoints import Checkpoints
from zermelo.client.control import ControlServer, NotRunningError, ask, reachable
from zermelo.client.folder import ClientFolder
from zermelo.proto.worker_pb2 import SavedSearch
from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection


def status(folder: Path) -> dict[str, Any]:
    return ask(ClientFolder(folder).control, "status")


def answers(folder: Path) -> bool:
    """Whether a daemon can be talked to."""
    try:
        return bool(status(folder))
    except NotRunningError:
        return False


def processor_seconds(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


@pytest.fixture
def long_search(connection: Connection, queue: Queue) -> int:
    """A workunit that keeps a client busy for the whole test."""
    return hard_question(connection, queue)


@pytest.mark.usefixtures("long_search")
def test_status_tells_what_each_worker_does(coordinator: str, tmp_path: Path) -> None:
    with client(coordinator, tmp_path, "--workers", "1") as process:
        search = wait_until(lambda: searching(tmp_path))
        assert search["game"].startswith(HARD.short_spec)
        assert search["threshold"] == 1
        assert 0 < search["lease_seconds"] <= 30
        told = json.loads(command("status", "--data-dir", str(tmp_path), "--json").stdout)
        assert (told["state"], told["reason"], told["pid"]) == ("working", "", process.pid)
        text = command("status", "--data-dir", str(tmp_path)).stdout
        assert "zermelo client  working" in text
        assert "a b c d e f g h" in text
        assert "at least +1?" in text
        stop(process)


@pytest.mark.usefixtures("long_search")
def test_pause_takes_the_worker_off_the_processor_and_resume_puts_it_back(
    coordinator: str, tmp_path: Path
) -> None:
    with client(coordinator, tmp_path, "--workers", "1") as process:
        wait_until(lambda: searching(tmp_path))
        (worker,) = children(process.pid)
        assert command("pause", "--data-dir", str(tmp_path)).stdout == "paused\n"
        # A process that waits for a processor obeys when it gets one.
        wait_until(lambda: psutil.Process(worker).status() == psutil.STATUS_STOPPED)
        before = processor_seconds(worker)
        time.sleep(0.5)
        assert processor_seconds(worker) == before
        now = status(tmp_path)
        assert (now["state"], now["reason"]) == ("paused", "you paused it")
        command("resume", "--data-dir", str(tmp_path))
        wait_until(lambda: processor_seconds(worker) > before)
        assert status(tmp_path)["state"] == "working"
        # A pause for some time ends by itself.
        told = command("pause", "--data-dir", str(tmp_path), "--for", "1s").stdout
        assert told == "paused for 1 s\n"
        wait_until(lambda: status(tmp_path)["state"] == "working")
        told = stop(process)
        assert told.count("paused: you paused it") == told.count("going on") == 2


def test_a_long_pause_lets_others_have_the_work(
    database: str, campaign: Campaign, long_search: int, queue: Queue, tmp_path: Path,
    connection: Connection,
) -> None:  # fmt: skip
    with (
        # Given back when two heartbeats are left of the lease, which is soon.
        running_coordinator(database, lease_seconds=60.0, heartbeat_seconds=29.0) as address,
        client(address, tmp_path, "--workers", "1") as process,
    ):
        wait_until(lambda: searching(tmp_path))
        command("pause", "--data-dir", str(tmp_path))
        # Given back by the client, not run out; and a checkpoint stays behind.
        state = "SELECT state::text FROM leases ORDER BY id"
        wait_until(lambda: value(connection, state) != "open")
        assert value(connection, state) == "abandoned"
        # A request from before the pause may get it once more, and gives it back.
        wait_until(lambda: queue.state(long_search) == "ready")
        assert list(ClientFolder(tmp_path).searches.glob("*.search"))
        command("resume", "--data-dir", str(tmp_path))
        wait_until(lambda: queue.state(long_search) == "leased")
        stop(process)


@pytest.mark.usefixtures("long_search")
def test_stop_ends_the_daemon_and_waits_for_it(
    coordinator: str, tmp_path: Path, connection: Connection
) -> None:
    with client(coordinator, tmp_path, "--workers", "1") as process:
        wait_until(lambda: searching(tmp_path))
        assert command("stop", "--data-dir", str(tmp_path)).stdout == "stopped\n"
        process.communicate(timeout=120)
        assert process.returncode == 0
    assert value(connection, "SELECT state::text FROM leases") == "abandoned"


def test_a_search_with_a_checkpoint_keeps_its_lease_over_a_stop_and_goes_on(
    database: str, campaign: Campaign, long_search: int, queue: Queue, tmp_path: Path,
    connection: Connection,
) -> None:  # fmt: skip
    searches = ClientFolder(tmp_path).searches
    options = ("--workers", "1", "--checkpoint-seconds", "0.05")
    with running_coordinator(database, lease_seconds=600.0) as address:
        with client(address, tmp_path, *options) as process:
            wait_until(lambda: list(searches.glob("*.search")))
            told = stop(process)
        assert "searches are saved (1); started again within" in told
        # The host has left, its lease has not: nobody else gets the work.
        lease = value(connection, "SELECT id FROM leases WHERE state = 'open'")
        assert queue.state(long_search) == "leased"
        (search,) = Checkpoints(searches, durable=False).saved()
        assert isinstance(search, SavedSearch)
        assert (search.workunit.lease_id, search.nodes > 0) == (lease, True)
        with client(address, tmp_path, *options) as process:
            found = wait_until(
                lambda: (now := searching(tmp_path)) and now["nodes"] > search.nodes and now
            )
            assert (found["lease"], found["resumed"]) == (lease, True)
            # What it has found out so far counts, and no second lease was needed.
            assert value(connection, "SELECT count(*) FROM leases") == 1
            # Nothing is kept for a question that nobody asks any more.
            connection.execute("UPDATE workunits SET state = 'withdrawn'")
            wait_until(lambda: queue.lease_state(lease) == "cancelled")
            wait_until(lambda: not list(searches.glob("*.search")))
            told = stop(process)
    assert f"going on with lease {lease} from its checkpoint, {search.nodes} nodes on" in told


@pytest.mark.usefixtures("long_search")
def test_a_second_signal_cuts_the_quit_time_short(
    coordinator: str, tmp_path: Path, connection: Connection
) -> None:
    with client(coordinator, tmp_path, "--workers", "1", "--quit-seconds", "300") as process:
        wait_until(lambda: searching(tmp_path))
        process.send_signal(signal.SIGINT)
        wait_until(lambda: status(tmp_path)["state"] == "stopping")
        assert value(connection, "SELECT state::text FROM leases") == "open"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        assert process.returncode == 0
    assert value(connection, "SELECT state::text FROM leases") == "abandoned"


@pytest.mark.usefixtures("long_search")
def test_a_worker_that_gets_no_processor_does_not_keep_the_server_from_being_told(
    coordinator: str, connection: Connection, tmp_path: Path
) -> None:
    options = ("--workers", "1", "--leave-seconds", "4")
    with client(coordinator, tmp_path, *options) as process:
        wait_until(lambda: searching(tmp_path))
        (worker,) = status(tmp_path)["workers"]
        os.kill(worker["pid"], signal.SIGSTOP)  # as one of the lowest priority beside others
        stop(process)
    assert value(connection, "SELECT state::text FROM leases") == "abandoned"


@pytest.mark.parametrize("name", ["status", "pause", "resume", "stop"])
def test_without_a_daemon_there_is_a_sentence(tmp_path: Path, name: str) -> None:
    done = command(name, "--data-dir", str(tmp_path))
    assert done.returncode == 6
    assert "no client runs in" in done.stderr
    assert "zermelo client run" in done.stderr


def test_the_socket_is_its_owners_alone(coordinator: str, tmp_path: Path) -> None:
    with client(coordinator, tmp_path, "--workers", "1") as process:
        folder = ClientFolder(tmp_path)
        control = reachable(folder.control)
        wait_until(lambda: answers(tmp_path))
        assert stat.S_IMODE(control.stat().st_mode) & 0o077 == 0
        assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
        stop(process)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_a_stranger_gets_no_answer_even_with_a_way_to_the_socket() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "control"
        stop_as_nobody = """if True:
            import os, socket, sys
            os.setuid(65534)
            stream = socket.socket(socket.AF_UNIX)
            stream.connect(sys.argv[1])
            try:
                stream.sendall(b'{"command": "stop"}\\n')
                print("answer", stream.recv(99))
            except ConnectionError:
                print("answer", b"")
        """
        asked: list[object] = []

        async def serve() -> str:
            server = ControlServer(path, {"stop": lambda request: asked.append(request) or {}})
            await server.start()
            path.chmod(0o666)
            stranger = await asyncio.create_subprocess_exec(
                sys.executable, "-c", stop_as_nobody, str(path),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
            answer, errors = await stranger.communicate()
            await server.close()
            return (answer + errors).decode()

        told = asyncio.run(serve())
        assert asked == []
        assert told == "answer b''\n"


def test_an_end_in_the_middle_of_an_answer_is_no_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        asked = asyncio.Event()

        async def status(_: dict[str, Any]) -> dict[str, Any]:
            asked.set()
            await asyncio.Event().wait()
            return {}

        server = ControlServer(tmp_path / "control", {"status": status})
        await server.start()
        with socket.socket(socket.AF_UNIX) as stream:
            stream.connect(str(tmp_path / "control"))
            stream.sendall(b'{"command": "status"}\n')
            await asked.wait()
            await server.close()

    asyncio.run(work())
    assert not caplog.records


def test_nonsense_gets_a_sentence_back(coordinator: str, tmp_path: Path) -> None:
    with client(coordinator, tmp_path, "--workers", "1") as process:
        wait_until(lambda: answers(tmp_path))
        with socket.socket(socket.AF_UNIX) as stream:
            stream.connect(str(reachable(ClientFolder(tmp_path).control)))
            for line in (b"no json\n", b"[]\n", b'{"command": "format-disk"}\n', b"7\n"):
                stream.sendall(line)
                assert "not understood" in json.loads(stream.recv(1000))["error"]
        stop(process)


def test_limits_for_trying_it_out(coordinator: str, queue: Queue, tmp_path: Path) -> None:
    queue.add(3, node_budget=10**9)
    for options, results in ((["--once"], 1), (["--max-workunits", "2"], 3)):
        process = start_client(coordinator, tmp_path, "--workers", "1", *options)
        process.communicate(timeout=120)
        assert (process.returncode, len(queue.results())) == (0, results)
    started = time.monotonic()
    process = start_client(coordinator, tmp_path, "--workers", "1", "--for", "1s")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "the time given is over" in errors
    assert time.monotonic() - started >= 1
