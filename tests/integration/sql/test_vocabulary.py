"""The words of Python are the words of the database."""

from __future__ import annotations

import re

from zermelo.server import vocabulary
from zermelo.server.campaigns import create_campaign, find_campaign
from zermelo.server.database import Connection, connect_once
from zermelo.server.goals import Goal
from zermelo.server.listening import CampaignLocks, Listener, notify
from zermelo.server.trust.accounts import Role
from zermelo.server.vocabulary import Channel, Lock, Replication
from zermelo.sql import query

ENUMS = {
    "alarm_kind": vocabulary.AlarmKind,
    "answer": vocabulary.Answer,
    "campaign_goal": Goal,
    "campaign_state": vocabulary.CampaignState,
    "lease_state": vocabulary.LeaseState,
    "replication": vocabulary.Replication,
    "result_state": vocabulary.ResultState,
    "user_role": Role,
    "workunit_state": vocabulary.WorkunitState,
}


def test_every_enum_of_the_database_has_its_twin(connection: Connection) -> None:
    found = connection.execute(
        "SELECT typname, array_agg(enumlabel::text ORDER BY enumsortorder)"
        " FROM pg_enum JOIN pg_type ON pg_type.oid = enumtypid GROUP BY 1"
    ).fetchall()
    assert dict(found) == {name: [str(word) for word in twin] for name, twin in ENUMS.items()}


def test_open_workunits_are_those_of_the_index(connection: Connection) -> None:
    (predicate,) = connection.execute(
        "SELECT pg_get_expr(indpred, indrelid) FROM pg_index"
        " WHERE indexrelid = 'workunits_open'::regclass"
    ).fetchone() or ("",)
    words = re.findall(r"'(\w+)'", predicate)
    assert words == [str(state) for state in vocabulary.OPEN_WORKUNITS]


def test_the_planner_sees_that_a_set_is_the_list_of_the_index(connection: Connection) -> None:
    connection.execute(query("plan_by_index"))
    statement = b"EXPLAIN " + re.sub(rb"^--.*\n", b"", query("open_workunits"), flags=re.MULTILINE)
    plan = "\n".join(row[0] for row in connection.execute(statement, (1,)))
    assert "workunits_open" in plan
    assert "Seq Scan" not in plan


def test_services_hear_each_other_and_keep_out_of_each_others_way(
    database: str, connection: Connection
) -> None:
    with connect_once(database) as other:
        Listener(other, tuple(Channel))
        for channel in Channel:
            notify(connection, channel, 7)
        heard = {(n.channel, n.payload) for n in other.notifies(timeout=60, stop_after=7)}
        assert heard == {(str(channel), "7") for channel in Channel}
        assert CampaignLocks(connection, Lock.GENERATOR).hold(1)
        assert CampaignLocks(other, Lock.ASSIMILATOR).hold(1)
        assert not CampaignLocks(other, Lock.GENERATOR).hold(1)


def test_a_campaign_that_does_not_say_is_checked_adaptively(connection: Connection) -> None:
    made = create_campaign(connection, "reversi:4x4")
    assert made.replication is vocabulary.DEFAULT_REPLICATION is Replication.ADAPTIVE
    assert find_campaign(connection, "reversi:4x4").state is vocabulary.CampaignState.RUNNING
