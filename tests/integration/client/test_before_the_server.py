"""A client that is started before its coordinator gets ready meanwhile."""

from __future__ import annotations

import socket
from pathlib import Path

from tests.support.client_forker import Forker
from tests.support.coordinator import running_coordinator, wait_until
from zermelo.client.folder import ClientFolder
from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection


def test_it_waits_at_an_open_door_and_says_its_speed_with_the_first_word(
    connection: Connection, database: str, campaign: Campaign, tmp_path: Path
) -> None:
    folder = tmp_path / "client"
    with socket.create_server(("127.0.0.1", 0)) as listening, Forker() as clients:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        clients.start(server=address, folder=str(folder), expected_game=campaign.spec)
        wait_until(lambda: ClientFolder(folder).speeds.exists())
        with running_coordinator(database, address, listening=listening.dup()):
            ((speed,),) = wait_until(
                lambda: connection.execute("SELECT speed FROM hosts").fetchall()
            )
            assert speed > 0
    assert "does not answer" not in (folder / "log").read_text()
