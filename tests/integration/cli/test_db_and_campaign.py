"""`zermelo db` and `zermelo campaign`, as an operator uses them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.support.databases import new_database
from tests.support.harness import Solve
from tests.support.stock import name_of
from zermelo import ZermeloError
from zermelo.cli import zermelo
from zermelo.server import database
from zermelo.server.campaigns import campaign_summary, create_campaign
from zermelo.server.database import (
    Connection,
    DatabaseAwayError,
    DatabaseError,
    connect_once,
)
from zermelo.sql import migrations


def run(url: str, *arguments: str) -> Result:
    return CliRunner().invoke(
        zermelo, [*arguments, "--database", url], env={"ZERMELO_DATABASE": None}
    )


def run_json(url: str, *arguments: str) -> dict[str, Any]:
    result = run(url, *arguments, "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.output)
    assert isinstance(answer, dict)
    return answer


def test_init_migrate_check(empty_database: str) -> None:
    result = run(empty_database, "db", "check")
    assert isinstance(result.exception, ZermeloError)
    assert "db init" in str(result.exception)
    version = migrations()[-1].version
    assert run_json(empty_database, "db", "init") == {"created": True, "version": version}
    assert run_json(empty_database, "db", "init") == {"created": False, "version": version}
    assert run_json(empty_database, "db", "migrate") == {"applied": [], "version": version}
    assert run_json(empty_database, "db", "check")["ok"] is True


def test_one_command_for_an_empty_and_an_old_database(empty_database: str) -> None:
    latest = migrations()[-1]
    assert isinstance(run(empty_database, "db", "migrate").exception, DatabaseError)
    made = run_json(empty_database, "db", "migrate", "--init")
    assert made == {"applied": [], "version": latest.version}
    assert run_json(empty_database, "db", "migrate", "--init") == made


def test_a_database_that_is_away_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def away(url: str) -> Connection:
        tried.append(url)
        raise DatabaseAwayError("not yet")

    monkeypatch.setattr(database, "connect_once", away)
    with pytest.raises(DatabaseAwayError):
        database.connect_within("postgresql://nowhere", 0.3)
    assert len(tried) > 1


def test_campaigns(database: str) -> None:
    made = run_json(database, "campaign", "create", "reversi:4x4", "--goal", "outcome")
    assert (made["campaign"], made["state"]) == ("reversi:4x4", "running")
    assert made["bounds"] == [-16, 16]
    for command, state in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")):
        assert run_json(database, "campaign", command, "reversi:4x4")["state"] == state
    result = run(database, "campaign", "resume", "reversi:4x4")
    assert isinstance(result.exception, ZermeloError)
    assert str(result.exception) == "campaign 'reversi:4x4' is cancelled already"
    listed = run(database, "campaign", "list").output
    assert "reversi:4x4" in listed
    assert "cancelled" in listed


def test_a_campaign_can_be_grown(database: str) -> None:
    run_json(database, "campaign", "create", "reversi:6x6")
    grown = run_json(database, "campaign", "grow", "reversi:6x6", "--moves", "4")
    assert grown == {"nodes": 79, "positions_by_moves": [1, 1, 3, 14, 60]}
    assert run_json(database, "campaign", "show", "reversi:6x6")["tree_nodes"] == 79


def test_an_unknown_campaign_is_one_clear_line(database: str) -> None:
    result = run(database, "campaign", "show", "chess")
    assert isinstance(result.exception, ZermeloError)
    assert str(result.exception) == "no campaign 'chess'; there are: none"


def test_creating_a_campaign_again_says_that_it_exists_and_changes_nothing(database: str) -> None:
    assert run_json(database, "campaign", "create", "reversi:4x4")["created"] is True
    again = run_json(database, "campaign", "create", "reversi:4x4", "--share", "3")
    assert again["created"] is False
    result = run(database, "campaign", "create", "reversi:4x4", "--share", "3")
    assert result.exit_code == 0
    assert "campaign 'reversi:4x4' exists already; it stays as it is" in result.stderr
    assert result.stdout.startswith("campaign   reversi:4x4")


def test_a_name_means_one_game(database: str) -> None:
    run(database, "campaign", "create", "reversi:4x4", "--name", "mine")
    result = run(database, "campaign", "create", "reversi:4x5", "--name", "mine")
    assert isinstance(result.exception, ZermeloError)
    assert "exists already" in str(result.exception)


def test_the_numbers_of_a_campaign_add_up_at_every_step(connection: Connection) -> None:
    campaign = create_campaign(connection, "reversi:4x4", node_budget=100, replication="none")
    solve = Solve(connection, campaign, clients=3)
    while not solve.plan.finished:
        solve.step()
        shown = campaign_summary(connection, campaign.name)
        waiting = shown.ready + shown.leased + shown.returned
        assert shown.workunits == waiting + shown.answered + shown.splits + shown.withdrawn
        assert shown.nodes >= shown.wasted_nodes + shown.split_nodes


def test_a_solved_campaign_is_shown(database: str, connection: Connection) -> None:
    campaign = create_campaign(connection, "reversi:4x4", node_budget=60, replication="none")
    Solve(connection, campaign).run()
    shown = run(database, "campaign", "show", "reversi:4x4").output
    assert "value -8, the second player wins" in shown
    assert "remaining  nothing" in shown
    # Before it ends, the generator has told that nothing is left.
    connection.execute("UPDATE campaigns SET state = 'running', finished_at = NULL")
    connection.execute(
        "INSERT INTO progress (campaign, lo, hi, open_questions, ready, leased, tree_nodes, nodes,"
        " wasted_nodes, split_nodes, remaining, remaining_factor)"
        " VALUES (%s, -8, -8, 0, 0, 0, 1, 1, 0, 0, 0, 5)", (campaign.id,)
    )
    assert "remaining  nothing" in run(database, "campaign", "show", "reversi:4x4").output


@pytest.fixture(scope="module")
def solved(postgres: str) -> Iterator[str]:
    """The name of a database with a solved campaign whose bounds may be made nonsense of."""
    with new_database(postgres) as url:
        with connect_once(url) as connection:
            connection.execute("ALTER TABLE nodes DROP CONSTRAINT nodes_check")
            campaign = create_campaign(
                connection, "reversi:4x4", node_budget=6, replication="none"
            )
            Solve(connection, campaign).run()
        assert run(url, "db", "check").exit_code == 0
        yield name_of(url)


@pytest.mark.parametrize(("damage", "named"), [
    ("UPDATE nodes SET lo = -7 WHERE id = (SELECT root FROM campaigns)", "contradict"),
    ("UPDATE nodes SET lo = 3, hi = 3 WHERE children = '{}'", "final score"),
    ("UPDATE nodes SET hi = hi - 1 WHERE children IS NULL AND hi > lo", "rest on no valid"),
    ("UPDATE nodes SET children = children[2:] WHERE cardinality(children) > 1", "of the rules"),
    ("DELETE FROM nodes WHERE children IS NULL", "not in the tree"),
    ("DELETE FROM evidence", "rest on no valid result"),
    ("UPDATE results SET state = 'quarantined'", "no believed result"),
    ("DELETE FROM results", "has no result"),
    ("UPDATE workunits SET state = 'leased' WHERE state = 'answered'", "nobody works on it"),
    ("UPDATE workunits SET state = 'returned' WHERE state = 'answered'", "nobody has"),
    ("UPDATE totals SET tree_nodes = 1", "do not add up"),
    ("UPDATE tests SET answer = NOT answer WHERE answer IS NOT NULL", "root's bounds say"),
])
def test_check_names_damage(postgres: str, solved: str, damage: str, named: str) -> None:
    with new_database(postgres, template=solved) as database:
        with connect_once(database) as connection:
            connection.execute(damage.encode())
        result = run(database, "db", "check")
    assert result.exit_code == 5
    assert named in result.output
