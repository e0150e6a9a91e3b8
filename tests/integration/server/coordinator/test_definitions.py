"""The text of a game over the network: for volunteers by RPC, for researchers without asking."""

from __future__ import annotations

import pytest

from tests.support.coordinator import Host, running_coordinator
from tests.support.definitions import TIC_TAC_TOE, play_text
from zermelo.games import open_game
from zermelo.games.definition import library
from zermelo.games.definition.library import library_definition, remember
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto.remote import Identity
from zermelo.proto.service import CoordinatorStub
from zermelo.research.remote import RemoteCampaigns
from zermelo.server.campaigns import create_campaign
from zermelo.server.database import Connection
from zermelo.server.trust import accounts
from zermelo.server.trust.accounts import Role


def test_texts_come_by_their_digest(
    database: str, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = play_text(TIC_TAC_TOE)
    remember(game.definition)
    create_campaign(connection, game.spec, name="mine", replication="none")
    with running_coordinator(database) as address:
        host = Host(address)
        assert list(host.hello().games) == [game.spec]
        known = {
            game.definition.digest: TIC_TAC_TOE,
            library_definition("mnk").digest: library_definition("mnk").text,
            "0" * 32: "",
        }
        for digest, text in known.items():
            assert _ask(host.stub, digest) == text
        host.close()
        token = accounts.open_account(connection, "ada", Role.RESEARCHER, actor="test")
        campaigns = RemoteCampaigns(address, Identity(token))
        assert campaigns.campaign("mine").game.spec == game.spec
        # The coordinator shares this process, so what it knows is forgotten before the next call.
        monkeypatch.setattr(library, "_remembered", {})
        open_game.cache_clear()
        campaigns._learn(game.spec)
        assert open_game(game.spec).name == "tic-tac-toe"
        campaigns.close()


def _ask(stub: CoordinatorStub, digest: str) -> str:
    reply = stub.Definition(pb.DefinitionRequest(digest=bytes.fromhex(digest)))
    text: bytes = reply.text
    return text.decode()
