"""Dropping ended campaigns.

A dropped campaign is gone at once, however large its tree is: whatever names it is deleted in one
short transaction. Its rows in the large tables are removed afterwards, a few pages at a time, by a
generator that has nothing else to do; the space is used again. Credit and the audit stay.
"""

from __future__ import annotations

from typing import NamedTuple

from zermelo.server.campaigns import CampaignError, find_campaign
from zermelo.server.database import Connection, in_transaction
from zermelo.server.listening import notify
from zermelo.server.tree.identity import CampaignId
from zermelo.server.vocabulary import CampaignState, Channel
from zermelo.sql import query

#: Pages looked through at a time: some tens of thousands of rows, some tenths of a second.
PAGES = 256
_ENDED = (CampaignState.FINISHED, CampaignState.CANCELLED)


class Ended(NamedTuple):
    """A campaign that can be dropped, and what goes with it."""

    id: CampaignId
    name: str
    state: str
    tree_nodes: int
    workunits: int


def droppable(connection: Connection, name: str) -> list[Ended]:
    """The campaign, or those of the list, of this name; `CampaignError` unless all have ended."""
    found = [Ended(*row) for row in connection.execute(query("ended_campaigns"), {"name": name})]
    if not found:
        find_campaign(connection, name)  # says which there are
    for campaign in found:
        if campaign.state not in _ENDED:
            raise CampaignError(
                f"campaign {campaign.name!r} is {campaign.state}; finish or cancel it first"
            )
    return found


def drop(connection: Connection, name: str) -> list[Ended]:
    """Forget a campaign, or those of a list; what was dropped."""
    with connection.transaction():
        dropped = droppable(connection, name)
        for campaign in dropped:
            connection.execute(query("lock_tree"), (campaign.id,))
        connection.execute(
            query("forget_campaigns"), {"campaigns": [campaign.id for campaign in dropped]}
        )
        notify(connection, Channel.CAMPAIGNS)
    return dropped


def remove_some(connection: Connection) -> bool:
    """Remove rows of dropped campaigns on the next pages; whether there may be more."""
    # Again if it lost: whoever hands in a late result locks its lease first, then its workunit.
    return in_transaction(connection, lambda: _remove_some(connection))


def _remove_some(connection: Connection) -> bool:
    row = connection.execute(query("next_dropped")).fetchone()
    if row is None:
        return False
    campaigns, workunit_pages, node_pages, all_workunit_pages, all_node_pages = row
    # Workunits first: what a node's bounds rest on goes before the node.
    if workunit_pages < all_workunit_pages:
        statement, first = "remove_workunits", workunit_pages
        workunit_pages += PAGES
    elif node_pages < all_node_pages:
        statement, first = "remove_nodes", node_pages
        node_pages += PAGES
    else:
        connection.execute(query("end_dropping"), {"campaigns": campaigns})
        return True
    connection.execute(
        query(statement), {"campaigns": campaigns, "first": first, "last": first + PAGES}
    )
    connection.execute(
        query("note_removed"),
        {
            "campaigns": campaigns,
            "workunit_pages": workunit_pages,
            "node_pages": node_pages,
        },
    )
    return True
