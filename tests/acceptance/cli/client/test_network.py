"""A network that loses, delays and repeats calls, or is gone: nothing comes to harm."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.support.client_process import client, hard_question, stop, value
from tests.support.coordinator import Queue, running_coordinator, wait_until
from tests.support.faulty_proxy import FAULTS, FaultyProxy
from tests.support.hostile_coordinator import (
    HONEST,
    HostileCoordinator,
    Refusal,
    receipts,
    work,
    workunit,
)
from zermelo.client.control import ask
from zermelo.client.folder import ClientFolder
from zermelo.client.intake import MOST_IN_STORE
from zermelo.client.settings import ClientError
from zermelo.engine import open_engine
from zermelo.games import open_game
from zermelo.proto import coordinator_pb2 as pb
from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection

MOST_STARTS = 12
RPCS = ("Hello", "RequestWork", "SubmitResults", "Heartbeat", "ReturnWork")


def check_results(connection: Connection, count: int) -> None:
    """Every question has one answer that counts, and all answers are true."""
    game = open_game("reversi:4x4")
    truth = open_engine(game, hash_mb=1).solve(game.initial()).bounds.lo
    rows = connection.execute(
        "SELECT w.id, w.threshold, r.answer::text, r.late FROM results r"
        " JOIN leases l ON l.id = r.lease JOIN workunits w ON w.id = l.workunit"
    ).fetchall()
    assert len({workunit for workunit, _, _, _ in rows}) == count
    counted = [workunit for workunit, _, _, late in rows if not late]
    assert len(counted) == len(set(counted))
    for _, threshold, answer, _ in rows:
        assert answer == ("yes" if truth >= threshold else "no")


def status(folder: Path) -> dict[str, Any]:
    try:
        return ask(ClientFolder(folder).control, "status")
    except ClientError:
        return {"state": "starting", "unsent_results": 0, "reason": ""}


def standing(folder: ClientFolder) -> dict[str, Any] | None:
    """What a running client knows of its credit, once it does."""
    try:
        found: dict[str, Any] | None = ask(folder.control, "status")["standing"]
    except ClientError:
        return None
    return found


@pytest.mark.long
@pytest.mark.parametrize("starts", [3, MOST_STARTS])
def test_every_fault_during_every_call(
    database: str, campaign: Campaign, queue: Queue, connection: Connection, tmp_path: Path,
    starts: int,
) -> None:  # fmt: skip
    """In the long run each fault meets each call; three starts meet most of them."""
    count = 30
    answered = "SELECT count(*) FROM workunits WHERE state = 'returned'"
    # Heartbeats need a search that lasts: they are the subject of the next test.
    wanted = {pair for pair in itertools.product(RPCS, FAULTS[1:]) if pair[0] != "Heartbeat"}
    with (
        running_coordinator(database, lease_seconds=10.0, heartbeat_seconds=0.05) as target,
        FaultyProxy(target, seed=5) as proxy,
    ):
        # Each stop is a ReturnWork and each start a Hello: some are needed for all faults.
        for start in range(starts):
            with client(proxy.address, tmp_path, "--workers", "1") as process:
                if start < 3:
                    queue.add(count // 3, node_budget=10**9)
                goal = min(count, (start + 1) * count // 3)
                wait_until(lambda goal=goal: value(connection, answered) == goal)  # type: ignore[misc]
                stop(process)
            if start >= 2 and set(proxy.faults) >= wanted:
                break
    met = wanted & set(proxy.faults)
    assert met == wanted if starts == MOST_STARTS else len(met) >= len(wanted) // 2
    check_results(connection, count)


def test_every_fault_while_an_account_is_opened_and_asked_for_its_standing(
    database: str, campaign: Campaign, connection: Connection, tmp_path: Path
) -> None:
    wanted = set(itertools.product(("Register", "Standing"), FAULTS[1:]))
    with (
        running_coordinator(database, require_token=True) as target,
        FaultyProxy(target, seed=8) as proxy,
    ):
        # The first loses a request and a reply, the second has its request repeated.
        for name in ("Ada", ""):
            folder = ClientFolder(tmp_path / f"of-{name}")
            folder.make()
            folder.config.write_text(f'name = "{name}"\n')
            with client(proxy.address, tmp_path / f"of-{name}", "--workers", "1") as process:
                known = wait_until(lambda at=folder: standing(at))  # type: ignore[misc]
                assert known["user_name"] == (name or known["user_name"])
                stop(process)
            # Nothing of the opening is left but the token.
            assert folder.token.exists()
            assert not folder.registration.exists()
    assert set(proxy.faults) >= wanted
    # Two accounts with a token each, and a host each, whatever was lost or came twice.
    owners = "SELECT count(*), count(DISTINCT user_id) FROM "
    for table in ("tokens", "hosts"):
        assert connection.execute(owners + table).fetchone() == (2, 2)  # type: ignore[arg-type]
    assert value(connection, "SELECT count(*) FROM users WHERE name = 'Ada'") == 1


def test_a_client_killed_while_it_opens_an_account_gets_it_the_next_time(
    database: str, campaign: Campaign, connection: Connection, tmp_path: Path
) -> None:
    folder = ClientFolder(tmp_path)
    folder.make()
    folder.config.write_text('name = "Ada"\n')
    with (
        running_coordinator(database, require_token=True) as target,
        FaultyProxy(target, seed=9, faulty=False) as proxy,
    ):
        proxy.lose_replies("Register")
        with client(proxy.address, tmp_path, "--workers", "1") as process:
            # The account is there, but its owner does not know.
            wait_until(lambda: value(connection, "SELECT count(*) FROM tokens"))
            process.kill()
        assert not folder.token.exists()
        proxy.restore()
        with client(proxy.address, tmp_path, "--workers", "1") as process:
            assert wait_until(lambda: standing(folder))["user_name"] == "Ada"
            stop(process)
    assert value(connection, "SELECT count(*) FROM tokens") == 1


def test_heartbeats_through_a_bad_network(
    database: str, campaign: Campaign, queue: Queue, connection: Connection, tmp_path: Path
) -> None:
    hard_question(connection, queue)
    with (
        running_coordinator(database, lease_seconds=30.0, heartbeat_seconds=0.05) as target,
        FaultyProxy(target, seed=6) as proxy,
        client(proxy.address, tmp_path, "--workers", "1") as process,
    ):
        wanted = {("Heartbeat", fault) for fault in FAULTS[1:]}
        wait_until(lambda: set(proxy.faults) >= wanted)
        # The lease still stands, and a withdrawal still arrives.
        latest = "SELECT state::text FROM leases ORDER BY id DESC LIMIT 1"
        assert value(connection, latest) == "open"
        connection.execute("UPDATE workunits SET state = 'withdrawn'")
        wait_until(lambda: value(connection, latest) == "cancelled")
        stop(process)


def test_hours_without_a_network_lose_nothing(
    database: str, campaign: Campaign, queue: Queue, connection: Connection, tmp_path: Path
) -> None:
    with (
        running_coordinator(database, lease_seconds=60.0, heartbeat_seconds=0.05) as target,
        FaultyProxy(target, seed=7, faulty=False) as proxy,
    ):
        with client(proxy.address, tmp_path, "--workers", "1") as process:
            # The network goes away while a search runs, and the result comes without it.
            proxy.lose("SubmitResults")
            queue.add(1, node_budget=10**9)
            wait_until(lambda: status(tmp_path)["unsent_results"] == 1)
            proxy.lose(*RPCS)
            process.kill()
        # A new daemon finds it on disk, and sends it as soon as there is a network.
        with client(proxy.address, tmp_path, "--workers", "1") as process:
            wait_until(lambda: "lost" in status(tmp_path)["reason"])
            assert status(tmp_path)["unsent_results"] == 1
            proxy.restore()
            queue.add(1, node_budget=10**9)
            wait_until(lambda: value(connection, "SELECT count(*) FROM results") == 2)
            wait_until(lambda: status(tmp_path)["unsent_results"] == 0)
            stop(process)
    check_results(connection, 2)


@pytest.mark.parametrize("where", ["option", "file"])
def test_a_store_of_work_lasts_through_an_outage(tmp_path: Path, where: str) -> None:
    """Its owner wants more than any server does; the results wait on disk."""
    gone = Refusal(grpc.StatusCode.UNAVAILABLE, "gone", retry_after_ms=100)
    given: list[int] = []

    def give(request: pb.RequestWorkRequest, before: int) -> pb.RequestWorkReply | Refusal:
        """One, which tells how long they take; a store full; and then the server is gone."""
        if before > 1:
            return gone
        given.append(request.wanted if before else 1)
        leases = range(len(given), len(given) + given[-1])
        return work(*(workunit(lease, lease_ms=3_600_000) for lease in leases))

    if where == "file":
        ClientFolder(tmp_path).make()
        ClientFolder(tmp_path).config.write_text("store_seconds = 1000\n")
    options = ("--store-seconds", "1000") if where == "option" else ()
    server = HostileCoordinator(RequestWork=give, SubmitResults=lambda *_: gone)
    with server, client(server.address, tmp_path, "--workers", "1", *options) as process:
        wait_until(lambda: status(tmp_path)["unsent_results"] > MOST_IN_STORE + 1)
        wait_until(lambda: status(tmp_path)["unsent_results"] == sum(given))
        assert not status(tmp_path)["handed_in"]
        server.behave("SubmitResults", receipts)
        server.behave("RequestWork", HONEST["RequestWork"])
        wait_until(lambda: status(tmp_path)["handed_in"] == sum(given))
        stop(process)
