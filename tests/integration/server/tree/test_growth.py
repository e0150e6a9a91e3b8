"""Growing a tree many moves deep, against the published counts."""

from __future__ import annotations

import pytest

from zermelo.engine import open_engine
from zermelo.server.campaigns import CampaignError, create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection
from zermelo.server.growth import grow


@pytest.mark.long
def test_counts_of_six_by_six(connection: Connection) -> None:
    campaign = create_campaign(connection, "reversi:6x6", replication="none")
    counts: list[int] = []
    nodes = grow(
        connection, campaign, open_engine(campaign.game, hash_mb=1), 7,
        lambda moves, count: counts.append(count),
    )
    assert counts[:7] == [1, 1, 3, 14, 60, 314, 1632]
    assert nodes == sum(counts)
    assert check_database(connection) == []
    with pytest.raises(CampaignError, match="grown already"):
        grow(connection, campaign, open_engine(campaign.game, hash_mb=1), 2)


def test_a_whole_game_can_be_grown(connection: Connection) -> None:
    """Passes, early ends and transpositions between plies, down to the last position."""
    campaign = create_campaign(
        connection, "reversi:6x6", position="XOXOXO/OXOXOX/XXOOXX/OOXXOO/XOXO--/OXOX-- X",
        replication="none",
    )
    grow(connection, campaign, open_engine(campaign.game, hash_mb=1), 12)
    assert check_database(connection) == []
    row = connection.execute("SELECT count(*) FROM nodes WHERE children IS NULL").fetchone()
    assert row == (0,)
