"""An ended campaign can be dropped: gone at once, and nothing of it is left behind."""

from __future__ import annotations

import pytest
from psycopg import sql

from tests.support.harness import Solve
from zermelo.research.tree_queries import TreeQueries
from zermelo.server import dropping
from zermelo.server.campaigns import (
    LAST_ID,
    CampaignError,
    create_campaign,
    list_campaigns,
)
from zermelo.server.check import check_database
from zermelo.server.database import Connection
from zermelo.server.dropping import drop, remove_some
from zermelo.server.tree import identity
from zermelo.server.trust.administration import drop_campaigns
from zermelo.server.trust.audit import actions


def solved(connection: Connection, name: str, node_budget: int = 8) -> Solve:
    campaign = create_campaign(
        connection, "reversi:4x4", name=name, node_budget=node_budget, replication="none"
    )
    solve = Solve(connection, campaign, clients=3)
    solve.run()
    return solve


def rows(connection: Connection) -> dict[str, int]:
    counts = {}
    for table in ("nodes", "workunits", "leases", "results", "evidence", "progress", "totals"):
        statement = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))
        row = connection.execute(statement).fetchone()
        counts[table] = int(row[0]) if row else 0
    return counts


def test_only_what_has_ended_can_be_dropped(connection: Connection) -> None:
    create_campaign(connection, "reversi:4x4", name="running")
    with pytest.raises(CampaignError, match="cancel it first"):
        drop(connection, "running")
    with pytest.raises(CampaignError, match="there are: running"):
        drop(connection, "nothing")


def test_nothing_is_left_of_a_dropped_campaign(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dropping, "PAGES", 3)
    solved(connection, "kept")
    before = rows(connection)
    solved(connection, "dropped", node_budget=20)
    drop_campaigns(connection, "dropped", actor="ada")
    assert [campaign.name for campaign in list_campaigns(connection)] == ["kept"]
    assert check_database(connection) == [], "also before its rows are removed"
    assert actions(connection)[0].action == "drop"
    steps = 0
    while remove_some(connection):
        steps += 1
        assert check_database(connection) == []
    assert steps > 3
    assert rows(connection) == before


def test_names_that_others_gave_way_to_stay(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With short hashes nodes of the second campaign were displaced by nodes of the first."""
    monkeypatch.setattr(identity, "BITS", 11)
    solved(connection, "dropped")
    kept = solved(connection, "kept").campaign
    drop(connection, "dropped")
    while remove_some(connection):
        pass
    assert check_database(connection) == []
    found = TreeQueries(connection, kept).position()
    assert found.worth.lo == found.worth.hi == -8
    left = connection.execute("SELECT count(*) FROM nodes WHERE campaign = 0").fetchone()
    assert left is not None
    assert left[0] > 0


def test_creating_a_campaign_again_uses_no_id_up(connection: Connection) -> None:
    first = create_campaign(connection, "reversi:4x4", name="first")
    for _ in range(3):
        assert create_campaign(connection, "reversi:4x4", name="first") == first
    assert create_campaign(connection, "reversi:4x4", name="second").id == first.id + 1


@pytest.mark.parametrize("bits", [identity.BITS, 11])
def test_after_the_last_id_come_those_of_campaigns_that_are_gone(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, bits: int
) -> None:
    """With short hashes, too, where nodes that are gone left their names behind."""
    monkeypatch.setattr(identity, "BITS", bits)
    dropped = solved(connection, "dropped").campaign
    kept = solved(connection, "kept").campaign
    connection.execute("SELECT setval('campaigns_id_seq', %s)", (LAST_ID - 1,))
    last = create_campaign(connection, "reversi:4x4", name="last")
    assert last.id == LAST_ID
    drop(connection, "dropped")
    assert create_campaign(connection, "reversi:4x4", name="while it goes").id == kept.id + 1
    while remove_some(connection):
        pass
    again = solved(connection, "again")
    assert again.campaign.id == dropped.id
    for campaign in (kept, again.campaign):
        assert TreeQueries(connection, campaign).position().worth.lo == -8
    assert check_database(connection) == []


def test_without_a_free_id_there_is_a_clear_error(connection: Connection) -> None:
    connection.execute("SELECT setval('campaigns_id_seq', %s)", (LAST_ID,))
    connection.execute(
        "INSERT INTO dropped_campaigns (campaign, name)"
        " SELECT number, 'gone' FROM generate_series(1, %s) AS number", (LAST_ID,),
    )  # fmt: skip
    with pytest.raises(CampaignError, match="drop some that have ended"):
        create_campaign(connection, "reversi:4x4")
