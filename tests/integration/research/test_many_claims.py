"""Thousands of claims: lists and totals take as many statements as for a handful."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner

import zermelo
from zermelo.cli import zermelo as command
from zermelo.games import open_game
from zermelo.research.replies import ClaimTotals
from zermelo.server.campaigns import CampaignError, campaign_summary
from zermelo.server.claims import import_claims, read_claims
from zermelo.server.database import Connection

SPEC = "reversi:8x8"
GAME = open_game(SPEC)
#: As many as the 8x8 solution of 2023 has.
MANY = 2_587
#: Connecting, checking the schema, a transaction around each query, and the queries.
MOST_STATEMENTS = 12


def claims_file(path: Path, number: int) -> Path:
    """Claims about positions of random games, ten discs in."""
    choose = random.Random(5)
    found: dict[str, str] = {}
    while len(found) < number:
        position = GAME.initial()
        for _ in range(10):
            position = GAME.play(position, choose.choice(GAME.moves(position)))
        text = GAME.format(position)
        found[text] = f"{text},{-2},{2}"
    path.write_text("\n".join([f"# game: {SPEC}", *found.values()]))
    return path


def published(connection: Connection, path: Path, number: int, name: str) -> None:
    game, claims = read_claims(claims_file(path, number))
    import_claims(connection, game, name, claims)


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, Any]]:
    """How many statements a command takes, and what it prints as JSON."""
    counted: list[Any] = []
    execute = psycopg.Cursor.execute

    def counting(self: Any, *given: Any, **named: Any) -> Any:
        counted.append(given)
        return execute(self, *given, **named)

    monkeypatch.setattr(psycopg.Cursor, "execute", counting)

    def run(*words: str) -> tuple[int, Any]:
        counted.clear()
        done = CliRunner().invoke(command, [*words, "--json"])
        assert done.exit_code == 0, done.exception
        return len(counted), json.loads(done.stdout)

    return run


def settle(connection: Connection, number: int, lo: int, hi: int) -> None:
    """Prove bounds of the root of one claim."""
    connection.execute(
        "UPDATE nodes SET lo = %s, hi = %s WHERE id ="
        " (SELECT root FROM campaigns WHERE name = %s)", (lo, hi, f"big/{number:04}"),
    )


def estimate(connection: Connection, number: int, remaining: float | None, age: int) -> None:
    connection.execute(
        "INSERT INTO progress (campaign, at, lo, hi, open_questions, ready, leased, tree_nodes,"
        " nodes, wasted_nodes, split_nodes, remaining, remaining_factor)"
        " SELECT id, now() - make_interval(secs => %s), -64, 64, 7, 0, 0, 1, 0, 0, 0, %s, 2.0"
        " FROM campaigns WHERE name = %s", (age, remaining, f"big/{number:04}"),
    )


@pytest.mark.long
def test_thousands_take_no_more_statements_than_three(
    connection: Connection, database: str, tmp_path: Path,
    statements: Callable[..., tuple[int, Any]],
) -> None:  # fmt: skip
    at = ["--database", database]
    published(connection, tmp_path / "few", 3, "few")
    few = [statements("campaign", "list", *at)[0], statements("query", "claims", "few", *at)[0]]
    assert max(few) <= MOST_STATEMENTS
    published(connection, tmp_path / "big", MANY, "big")
    for number, bounds in ((1, (0, 0)), (2, (-2, 2)), (3, (4, 64)), (4, (-64, 0))):
        settle(connection, number, *bounds)
    estimate(connection, 4, 5e9, age=60)
    estimate(connection, 4, 2e9, age=0)
    estimate(connection, 5, 1e9, age=0)
    estimate(connection, 1, 7e9, age=0)  # it is decided: nothing is left of it
    connection.execute("UPDATE totals SET nodes = 100 WHERE campaign <= 10")

    count, listed = statements("campaign", "list", *at)
    assert count == few[0]
    assert len(listed["campaigns"]) == MANY + 3
    fourth = next(one for one in listed["campaigns"] if one["campaign"] == "big/0004")
    whole = campaign_summary(connection, "big/0004").as_dict()
    told = json.loads(json.dumps(whole))
    assert fourth | {"line": [], "seconds": 0} == told | {"line": [], "seconds": 0}
    assert (fourth["bounds"], fourth["open_questions"], fourth["remaining"]) == ([-64, 0], 7, 2e9)

    count, told = statements("query", "claims", "big", *at)
    assert count == few[1]
    assert len(told["claims"]) == MANY
    states = [claim["state"] for claim in told["claims"]]
    assert states[:5] == ["confirmed", "confirmed", "refuted", "open", "open"]
    assert told["totals"] == {
        "claims": MANY, "confirmed": 2, "refuted": 1, "open": MANY - 3, "nodes": 700,
        "remaining": 3e9, "without_estimate": MANY - 5,
    }  # fmt: skip
    with zermelo.open(database) as opened:
        assert opened.claim_totals("few") == ClaimTotals(3, 0, 0, 3, 300, 0.0, 3)
        with pytest.raises(CampaignError, match="no claims"):
            opened.claim_totals("bi")


def test_totals_for_people(connection: Connection, database: str, tmp_path: Path) -> None:
    published(connection, tmp_path / "few", 3, "few")
    words = ["query", "claims", "few", "--database", database]
    shown = " ".join(CliRunner().invoke(command, words).stdout.split())
    assert "3: 0 confirmed, 0 refuted, 3 open" in shown
    assert "not known yet" in shown
    assert "few/1" in shown
    totals = CliRunner().invoke(command, [*words, "--totals"]).stdout
    assert "few/1" not in totals
    assert CliRunner().invoke(command, [*words, "--totals", "--csv"]).stdout.splitlines() == [
        "claims,confirmed,refuted,open,nodes,remaining,without_estimate", "3,0,0,3,0,0.0,3",
    ]
