"""The client as a process of its own, against a real coordinator."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.support.client_process import (
    GAMES,
    HARD,
    children,
    client,
    hard_question,
    reason,
    searching,
    start_client,
    stop,
    value,
)
from tests.support.coordinator import Queue, running_coordinator, wait_until
from zermelo.client.folder import ClientFolder
from zermelo.client.speed import KnownSpeeds
from zermelo.engine import open_engine
from zermelo.games import open_game
from zermelo.server.campaigns import Campaign
from zermelo.server.coordinator import service
from zermelo.server.database import Connection
from zermelo.server.ports import free_port


@pytest.mark.parametrize("workers", [1, 3])
def test_a_client_answers_every_question_rightly(
    coordinator: str, queue: Queue, tmp_path: Path, workers: int
) -> None:
    truth = open_engine(open_game("reversi:4x4")).solve(open_game("reversi:4x4").initial()).bounds
    count = 12
    queue.add(count, node_budget=10**9)
    process = start_client(
        coordinator, tmp_path, "--workers", str(workers), "--max-workunits", str(count),
        measured=False,
    )
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    results = queue.results()
    assert len(results) == count
    for (_, answer, lo, hi, late), threshold in zip(results, range(-15, 17), strict=False):
        assert not late
        assert lo <= truth.lo <= hi
        assert answer == ("yes" if truth.lo >= threshold else "no")
    assert KnownSpeeds(ClientFolder(tmp_path).speeds).get(GAMES[0]) > 0


def test_too_hard_a_question_ends_exhausted(
    coordinator: str, queue: Queue, connection: Connection, tmp_path: Path
) -> None:
    workunit = hard_question(connection, queue)
    connection.execute("UPDATE workunits SET node_budget = 2000")
    process = start_client(coordinator, tmp_path, "--workers", "1", "--max-workunits", "1")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    ((_, answer, lo, hi, _),) = queue.results()
    assert (answer, lo, hi) == ("exhausted", -HARD.max_score, HARD.max_score)
    assert queue.state(workunit) == "returned"


def test_a_stopped_client_hands_its_work_back_at_once(
    coordinator: str, queue: Queue, connection: Connection, tmp_path: Path
) -> None:
    workunit = hard_question(connection, queue)
    with client(coordinator, tmp_path, "--workers", "1") as process:
        wait_until(lambda: searching(tmp_path))
        stop(process)
    assert queue.state(workunit) == "ready"
    assert value(connection, "SELECT state::text FROM leases") == "abandoned"
    assert value(connection, "SELECT nodes FROM leases") > 0


def test_a_withdrawn_search_stops_at_the_next_heartbeat(
    database: str, campaign: Campaign, queue: Queue, connection: Connection, tmp_path: Path
) -> None:
    workunit = hard_question(connection, queue)
    with (
        running_coordinator(database, heartbeat_seconds=0.2) as address,
        client(address, tmp_path, "--workers", "1") as process,
    ):
        wait_until(lambda: queue.state(workunit) == "leased")
        wait_until(lambda: value(connection, "SELECT nodes FROM leases WHERE nodes > 0"))
        connection.execute("UPDATE workunits SET state = 'withdrawn'")
        wait_until(lambda: value(connection, "SELECT state::text FROM leases") == "cancelled")
        # The worker is free again: it takes an easy question at once.
        game = open_game("reversi:4x4")
        connection.execute("UPDATE campaigns SET spec = %s", (game.spec,))
        connection.execute(
            "UPDATE nodes SET position = encode(%s, 'hex')::uuid",
            (game.encode(game.canonical(game.initial())),),
        )
        queue.add(1, node_budget=10**9)
        wait_until(queue.results)
        stop(process)


def test_a_crashed_worker_is_replaced_and_its_work_returned(
    coordinator: str, queue: Queue, connection: Connection, tmp_path: Path
) -> None:
    workunit = hard_question(connection, queue)
    with client(coordinator, tmp_path, "--workers", "1") as process:
        # Only a worker that has begun takes its work along.
        wait_until(lambda: searching(tmp_path))
        lease = value(connection, "SELECT id FROM leases WHERE workunit = %s", workunit)
        (worker,) = children(process.pid)
        os.kill(worker, signal.SIGKILL)
        wait_until(lambda: queue.lease_state(lease) != "open")
        wait_until(lambda: children(process.pid) not in ([], [worker]))
        wait_until(lambda: value(connection, "SELECT count(*) FROM leases") == 2)
        assert "signal 9" in stop(process)


def test_a_killed_client_finds_its_leases_gone_when_it_returns(
    coordinator: str, queue: Queue, connection: Connection, tmp_path: Path
) -> None:
    workunit = hard_question(connection, queue)
    with client(coordinator, tmp_path, "--workers", "1") as process:
        wait_until(lambda: queue.state(workunit) == "leased")
        workers = children(process.pid)
        process.kill()
        wait_until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))
    with client(coordinator, tmp_path, "--workers", "1") as process:
        wait_until(lambda: value(connection, "SELECT count(*) FROM leases") == 2)
        states = connection.execute("SELECT state::text FROM leases ORDER BY id").fetchall()
        assert states == [("abandoned",), ("open",)]
        stop(process)
    assert value(connection, "SELECT count(*) FROM hosts") == 1


def test_a_client_outlives_its_coordinator(
    database: str, campaign: Campaign, queue: Queue, tmp_path: Path
) -> None:
    queue.add(2, node_budget=10**9)
    address = f"127.0.0.1:{free_port()}"
    with client(address, tmp_path, "--workers", "1", "--max-workunits", "2") as process:
        assert process.stderr is not None
        # However slowly it starts: only when it has missed the coordinator does that come.
        assert any("does not answer" in line for line in process.stderr)
        with running_coordinator(database, listen=address):
            _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert len(queue.results()) == 2


def test_two_clients_in_one_directory(coordinator: str, tmp_path: Path) -> None:
    with client(coordinator, tmp_path, "--workers", "1"):
        wait_until((tmp_path / "client" / "host-key").exists)
        second = start_client(coordinator, tmp_path, "--leave-seconds", "1")
        _, errors = second.communicate(timeout=120)
        assert second.returncode == 6
        assert "another client works in" in errors
        assert "Traceback" not in errors


@pytest.mark.parametrize("address", ["nowhere", "host:0", "host:99999", "a b:1"])
def test_a_malformed_address_is_the_users_mistake(address: str, tmp_path: Path) -> None:
    process = start_client(address, tmp_path)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "is not HOST:PORT" in errors


def test_the_reason_for_having_no_work_does_not_wait_for_work(
    coordinator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "LONGEST_WAIT_MS", 600_000)
    with client(coordinator, tmp_path, "--workers", "1") as process:
        wait_until(lambda: "being worked on already" in reason(tmp_path))
        stop(process)
