"""Many campaigns at once: few are planned at a time, a new one does not wait, all are finished."""

from __future__ import annotations

import threading

import pytest

from tests.support.harness import Host
from tests.support.minimax import minimax
from zermelo.engine import open_engine
from zermelo.games import Bounds, open_game
from zermelo.server.assimilator import assimilate
from zermelo.server.campaigns import (
    CampaignError,
    create_campaign,
    find_campaign,
    set_share,
    waiting_campaigns,
)
from zermelo.server.check import check_database
from zermelo.server.claims import Claim, import_claims, imported_claims
from zermelo.server.coordinator.in_process import InProcessCoordinator
from zermelo.server.database import Connection
from zermelo.server.generator import Generator
from zermelo.server.validator import validate
from zermelo.server.vocabulary import Channel

GAME = open_game("reversi:4x4")
CLAIMS = 40


def claims() -> list[Claim]:
    """Some early positions, each claimed to be no loss."""
    wave, positions = [GAME.initial()], dict[str, None]()
    while len(positions) < CLAIMS:
        wave = [GAME.play(position, move) for position in wave for move in GAME.moves(position)]
        positions.update((GAME.format(position), None) for position in wave)
    return [Claim(position, Bounds(0, 16)) for position in list(positions)[:CLAIMS]]


def asked(connection: Connection) -> dict[str, int]:
    """How many workunits each campaign has that has any."""
    return dict(connection.execute(
        "SELECT name, count(*) FROM workunits JOIN campaigns ON campaigns.id = campaign GROUP BY 1"
    ).fetchall())  # fmt: skip


def test_a_new_campaign_does_not_wait_for_a_list_of_others(connection: Connection) -> None:
    import_claims(connection, GAME, "list", claims(), replication="none")
    generator = Generator(connection, threading.Event())
    generator.round(set())
    assert 0 < len(asked(connection)) < 5, "as many as clients can work on"
    create_campaign(connection, GAME.spec, name="new", replication="none")
    generator.round({(Channel.CAMPAIGNS, "")})
    assert asked(connection)["new"] > 0
    host = Host(InProcessCoordinator(connection), open_engine(GAME, hash_mb=1))
    while connection.execute("SELECT FROM campaigns WHERE state = 'running'").rowcount:
        generator.round({(Channel.WANTED, "")})
        for work in host.take(8):
            host.send(host.solve(work))
        while validate(connection):
            pass
        for campaign in waiting_campaigns(connection):
            assimilate(connection, campaign)
    checked = imported_claims(connection, "list", CLAIMS, 0)
    assert [claim.holds for claim in checked] == [
        minimax(GAME, GAME.parse(claim.position or "")) >= 0 for claim in checked
    ]
    assert check_database(connection) == []


def test_the_share_of_a_list_is_that_of_all_its_campaigns(connection: Connection) -> None:
    import_claims(connection, GAME, "list", claims()[:3], replication="none", share=2.0)
    assert find_campaign(connection, "list/2").share == 2.0
    assert set_share(connection, "list", 5.0) == 3
    assert find_campaign(connection, "list/3").share == 5.0
    assert set_share(connection, "list/1", 0.5) == 1
    with pytest.raises(CampaignError, match="no campaign"):
        set_share(connection, "nothing", 1.0)
