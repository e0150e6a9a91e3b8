"""What operators look at, and do to workunits and campaigns, each with a line in the audit."""

from __future__ import annotations

from typing import Any

from psycopg.rows import dict_row

from zermelo import ZermeloError
from zermelo.server.campaigns import find_campaign, steer_campaign
from zermelo.server.database import Connection
from zermelo.server.dropping import drop
from zermelo.server.trust.audit import record
from zermelo.server.trust.retraction import dispute, retract_doubted
from zermelo.server.vocabulary import CampaignState, Replication
from zermelo.sql import query


class AdministrationError(ZermeloError, ValueError):
    """There is no such thing to act on."""

    exit_code = 2


def rows(connection: Connection, asked: str, /, **parameters: Any) -> list[dict[str, Any]]:
    """What the named query finds, each row by the names of its columns."""
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query(asked), parameters).fetchall()


def find_host(connection: Connection, host: int) -> dict[str, Any]:
    found = rows(connection, "list_hosts", host=host, most=1)
    if not found:
        raise AdministrationError(f"there is no host {host}; see `zermelo admin hosts`")
    return found[0]


def find_workunit(connection: Connection, workunit: int) -> dict[str, Any]:
    found = rows(connection, "asked_workunit", workunit=workunit)
    if not found:
        raise AdministrationError(f"there is no workunit {workunit}")
    return found[0]


def ask_again(connection: Connection, workunit: int, reason: str, *, actor: str) -> int:
    """Take a workunit's answers out of the tree and ask it again; how many there were."""
    campaign = find_campaign(connection, find_workunit(connection, workunit)["campaign"])
    with connection.transaction():
        connection.execute(query("lock_tree"), (campaign.id,))
        believed = [
            row[0] for row in connection.execute(query("believed_results"), {"workunit": workunit})
        ]
        if believed and campaign.replication is Replication.NONE:
            connection.execute(query("doubt_these"), {"results": believed})
            retract_doubted(connection, campaign)
        elif believed:
            dispute(connection, campaign, believed)
        record(connection, actor, "ask again", f"workunit {workunit}", reason)
    return len(believed)


def drop_campaigns(connection: Connection, name: str, *, actor: str) -> None:
    """Drop an ended campaign, or all of a list."""
    with connection.transaction():
        for campaign in drop(connection, name):
            record(
                connection, actor, "drop", f"campaign {campaign.name}",
                f"{campaign.tree_nodes} nodes, {campaign.workunits} workunits",
            )  # fmt: skip


#: What steering a campaign into a state is called.
STEERING = {
    CampaignState.PAUSED: "pause",
    CampaignState.RUNNING: "resume",
    CampaignState.CANCELLED: "cancel",
}


def steer(
    connection: Connection, name: str, state: CampaignState, reason: str, *, actor: str
) -> None:
    """Pause, resume or cancel a campaign."""
    with connection.transaction():
        steer_campaign(connection, find_campaign(connection, name), state)
        record(connection, actor, STEERING[state], f"campaign {name}", reason)
