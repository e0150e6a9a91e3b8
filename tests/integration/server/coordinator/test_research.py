"""Researchers at a coordinator: the same questions and answers as with its database."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import psycopg
import pytest
from click.testing import CliRunner

import zermelo
from tests.support.coordinator import bearer, running_coordinator, wait_until
from tests.support.harness import Solve
from zermelo.cli import zermelo as command
from zermelo.client.configuration import ConfigurationError
from zermelo.games import open_game
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import operations_pb2
from zermelo.proto.remote import Identity, RefusedError, Remote, UnreachableError
from zermelo.proto.service import OPERATIONS, PROTOCOL_VERSION, CoordinatorStub
from zermelo.research.queries import Campaigns, Queries
from zermelo.server.campaigns import create_campaign
from zermelo.server.claims import import_claims, read_claims
from zermelo.server.coordinator.blocking_pool import THREADS
from zermelo.server.coordinator.research import library
from zermelo.server.database import Connection
from zermelo.server.ports import free_port
from zermelo.server.trust import accounts
from zermelo.server.trust.accounts import Role

SPEC = "reversi:4x4"
GAME = open_game(SPEC)
TOKEN = "not one of this server"  # noqa: S105
ELSEWHERE = "XXXX OOOO ---- ---- X"


@pytest.fixture
def researcher(connection: Connection) -> str:
    return accounts.open_account(connection, "ada", Role.RESEARCHER, actor="test")


@pytest.fixture
def server(database: str, connection: Connection) -> Iterator[str]:
    create_campaign(connection, SPEC, node_budget=100, replication="none")
    with running_coordinator(database, require_token=True) as address:
        yield address


def everything(queries: Queries) -> dict[str, Any]:
    """The answer to every question there is."""
    newest = queries.results(3)
    found = {
        "name": queries.name,
        "start": GAME.format(queries.find(moves=["b1"])),
        "standing": replace(queries.standing(), seconds=0.0),  # it counts on
        "progress": queries.progress(50),
        "open": queries.open_questions(),
        "root": queries.position(),
        "after": queries.position(moves=["b1"]),
        "elsewhere": queries.position(ELSEWHERE),
        "line": queries.line(),
        "line after": queries.line(moves=["b1"]),
        "levels": queries.levels(),
        "top": queries.levels(0),
        "contributors": queries.contributors(),
        "hosts": queries.hosts(1),
        "workunits": queries.workunits(3),
        "results": newest,
        "older": queries.results(2, before=newest[-1].result) if newest else [],
    }
    if newest:
        found["workunit"] = queries.workunit(newest[0].workunit)
    return found


def both(doors: list[Queries]) -> list[dict[str, Any]]:
    """The answers through both doors, asked again if something changed in between.

    The coordinator takes ready workunits ahead of requests and gives them back by itself.
    """
    near, far = map(everything, doors)
    while near != far and (again := everything(doors[0])) != near:
        near, far = again, everything(doors[1])
    return [near, far]


def test_both_doors_while_it_runs(
    connection: Connection, database: str, server: str, researcher: str
) -> None:
    campaign = create_campaign(connection, SPEC, node_budget=100, replication="none")
    solve = Solve(connection, campaign)
    with zermelo.open(database) as near, zermelo.open(server=server, token=researcher) as far:
        assert near.campaigns() == far.campaigns() == [SPEC]
        doors = [campaigns.campaign(SPEC) for campaigns in (near, far)]
        while not solve.plan.finished:
            one, other = both(doors)
            assert one == other
            for _ in range(10):
                if not solve.plan.finished:
                    solve.step()
        one, other = both(doors)
        assert one == other
        assert one["root"].worth.value == -8
        assert one["older"]
        assert [record.result for record in one["older"]] < [one["results"][-1].result]


def test_claims_through_both_doors(
    connection: Connection, database: str, server: str, researcher: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("zermelo.research.queries.MOST_ROWS", 2)
    positions = [GAME.play(GAME.initial(), move) for move in GAME.moves(GAME.initial())]
    lines = [f"{GAME.format(position)},{8},{8 + extra}" for extra, position in enumerate(positions)]
    (tmp_path / "list.csv").write_text("\n".join(["# game: reversi:4x4", *lines]))
    game, read = read_claims(tmp_path / "list.csv")
    campaigns = import_claims(connection, game, "list", read, replication="none")
    Solve(connection, campaigns[0]).run()
    with zermelo.open(database) as near, zermelo.open(server=server, token=researcher) as far:
        claims = near.claims("list")
        assert claims == far.claims("list")
        assert [claim.state for claim in claims[:2]] == ["confirmed", "open"]
        assert len(claims) > 2, "more than a page"


def test_what_cannot_be_asked(server: str, connection: Connection, researcher: str) -> None:
    volunteer = accounts.open_account(connection, "vera", Role.VOLUNTEER, actor="test")
    with zermelo.open(server=server, token=researcher) as far:
        _refused(far)
    with zermelo.open(server=server, token=volunteer) as far, pytest.raises(
        RefusedError, match="not for the role volunteer"
    ):
        far.campaigns()
    with zermelo.open(server=f"127.0.0.1:{free_port()}", token=TOKEN) as far, pytest.raises(
        UnreachableError, match="cannot reach"
    ):
        far.campaigns()
    with pytest.raises(ConfigurationError, match="token"):
        zermelo.open(server=server)
    with pytest.raises(ConfigurationError, match="HOST:PORT"):
        zermelo.open(server="nowhere", token=TOKEN)
    with pytest.raises(zermelo.ZermeloError, match="one of"):
        zermelo.open("postgresql://x", server=server, token=TOKEN)


def _refused(far: Campaigns) -> None:
    with pytest.raises(RefusedError, match="there are: reversi:4x4"):
        far.campaign("chess")
    with pytest.raises(RefusedError, match="no claims"):
        far.claims("list")
    queries = far.campaign(SPEC)
    with pytest.raises(RefusedError, match="illegal move"):
        queries.position(moves=["a1"])
    with pytest.raises(RefusedError, match="squares"):
        queries.line("XX X")
    with pytest.raises(RefusedError, match="no workunit 7"):
        queries.workunit(7)
    with pytest.raises(RefusedError, match="most is 10001"):
        queries.results(10_001)


def test_long_answers_hold_nobody_up(
    connection: Connection, database: str, server: str, researcher: str
) -> None:
    """Every thread for researchers counts a tree, and no count can end: volunteers and operators
    are served meanwhile."""
    tokens = [accounts.open_account(connection, role, Role(role), actor="test")
              for role in ("volunteer", "operator")]
    with (
        zermelo.open(server=server, token=researcher) as far,
        Remote(server, OPERATIONS, Identity(tokens[1])) as operator,
        grpc.insecure_channel(server) as channel,
        ThreadPoolExecutor(THREADS) as pool, psycopg.connect(database) as blocker,
    ):  # fmt: skip
        counting = far.campaign(SPEC)
        blocker.execute("LOCK TABLE nodes IN ACCESS EXCLUSIVE MODE")
        waiting = [pool.submit(counting.levels) for _ in range(THREADS)]
        wait_until(lambda: blocked(connection) == THREADS)
        assert operator.ask(operations_pb2.ListCampaignsRequest())
        hello = pb.HelloRequest(
            protocol_version=PROTOCOL_VERSION, host_key=secrets.token_bytes(16), workers=1
        )
        assert CoordinatorStub(channel).Hello(hello, timeout=60, metadata=bearer(tokens[0]))
        assert blocked(connection) == THREADS
        blocker.rollback()
        for each in waiting:
            assert each.result(120) == counting.levels()


def test_no_answer_takes_for_ever(
    connection: Connection, database: str, researcher: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zermelo.server.coordinator.research.LONGEST_SECONDS", 3.0)
    create_campaign(connection, SPEC, replication="none")
    with (
        running_coordinator(database, require_token=True) as server,
        zermelo.open(server=server, token=researcher) as far,
        psycopg.connect(database) as blocker,
    ):
        counting = far.campaign(SPEC)
        blocker.execute("LOCK TABLE nodes IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(RefusedError, match=r"takes the coordinator too long.*--depth"):
            counting.levels()


def blocked(connection: Connection) -> int:
    """How many of the library's statements wait for a lock."""
    found = connection.execute(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE application_name = 'zermelo coordinator pool' AND wait_event_type = 'Lock'"
    ).fetchall()
    return int(found[0][0])


def test_the_library_changes_nothing(database: str) -> None:
    async def write() -> None:
        pool = library(database)
        try:
            await pool.run(lambda reader: reader.execute("DELETE FROM campaigns"))
        finally:
            await pool.close()

    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        asyncio.run(write())


def test_the_command_through_both_doors(
    connection: Connection, database: str, server: str, researcher: str
) -> None:
    Solve(connection, create_campaign(connection, SPEC, node_budget=100, replication="none")).run()
    near, far = ["--database", database], ["--server", server, "--token", researcher]
    number = str(connection.execute("SELECT min(workunit) FROM results").fetchall()[0][0])
    for question in (
        ["progress", SPEC], ["position", SPEC, "--moves", "b1"], ["line", SPEC], ["tree", SPEC],
        ["contributors", SPEC], ["hosts", SPEC], ["results", SPEC, "--most", "3"],
        ["workunit", SPEC, number],
    ):  # fmt: skip
        told = []
        for door in (near, far):
            ran = CliRunner().invoke(command, ["query", *question, *door, "--json"])
            assert ran.exit_code == 0, ran.output
            told.append(json.loads(ran.stdout))
        assert told[0] == told[1], question
        shown = CliRunner().invoke(command, ["query", *question, *far])
        assert shown.exit_code == 0
        assert shown.output


def test_a_coordinator_without_researchers_says_so(database: str, researcher: str) -> None:
    with (
        running_coordinator(database, require_token=True, researchers=None) as server,
        zermelo.open(server=server, token=researcher) as far,
        pytest.raises(RefusedError, match="researchers are served elsewhere"),
    ):
        far.campaigns()
