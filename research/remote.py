"""The same queries to a coordinator, over gRPC: the same replies, the same objects."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from zermelo.games import open_game
from zermelo.games.definition.sources import find_text, remember_text, text_with_digest
from zermelo.games.spec import definition_digest
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto.remote import Identity, Remote
from zermelo.proto.service import COORDINATOR, RESEARCH
from zermelo.research.queries import Campaigns, Queries, Query
from zermelo.research.wire import from_reply, to_request

#: Counting a large tree takes a while.
LONGEST_SECONDS = 600.0
_DIGEST = re.compile(r"[0-9a-f]{32}", re.ASCII)


class RemoteCampaigns(Campaigns):
    """The campaigns of the coordinator at an address, for one of its researchers."""

    def __init__(self, address: str, identity: Identity) -> None:
        self._remote = Remote(address, RESEARCH, identity)
        self._address, self._identity = address, identity

    def close(self) -> None:
        self._remote.close()

    def campaign(self, name: str) -> Queries:
        return RemoteQueries(self._remote, name, self._learn)

    def _learn(self, spec: str) -> None:
        """Fetch the definition of a game that is not known here."""
        digest = definition_digest(spec)
        if not _DIGEST.fullmatch(digest) or find_text(digest) is not None:
            return
        with Remote(self._address, COORDINATOR, self._identity) as remote:
            reply = remote.ask(pb.DefinitionRequest(digest=bytes.fromhex(digest)))
        text = text_with_digest(reply.text, digest)
        if text is not None:
            remember_text(text)

    def _ask(self, asked: Query, arguments: dict[str, Any]) -> Any:
        return _send(self._remote, asked, arguments)


class RemoteQueries(Queries):
    def __init__(self, remote: Remote, name: str, learn: Callable[[str], None]) -> None:
        self._remote, self.name = remote, name
        subject = self.subject()
        learn(subject.game)
        game = open_game(subject.game)
        super().__init__(subject.campaign, game, game.parse(subject.position))

    def _ask(self, asked: Query, arguments: dict[str, Any]) -> Any:
        return _send(self._remote, asked, {"campaign": self.name, **arguments})


def _send(remote: Remote, asked: Query, arguments: dict[str, Any]) -> Any:
    reply = remote.ask(to_request(asked, arguments), LONGEST_SECONDS)
    try:
        return from_reply(asked, reply)
    except (ValueError, OverflowError, TypeError) as error:  # a date or a word that is none
        raise remote.senseless(error) from None
