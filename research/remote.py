"""The same queries to a coordinator, over gRPC: the same replies, the same objects."""

from __future__ import annotations

from typing import Any

from zermelo.games import open_game
from zermelo.proto.remote import Identity, Remote
from zermelo.proto.service import RESEARCH
from zermelo.research.queries import Campaigns, Queries, Query
from zermelo.research.wire import from_reply, to_request

#: Counting a large tree takes a while.
LONGEST_SECONDS = 600.0


class RemoteCampaigns(Campaigns):
    """The campaigns of the coordinator at an address, for one of its researchers."""

    def __init__(self, address: str, identity: Identity) -> None:
        self._remote = Remote(address, RESEARCH, identity)

    def close(self) -> None:
        self._remote.close()

    def campaign(self, name: str) -> Queries:
        return RemoteQueries(self._remote, name)

    def _ask(self, asked: Query, arguments: dict[str, Any]) -> Any:
        return _send(self._remote, asked, arguments)


class RemoteQueries(Queries):
    def __init__(self, remote: Remote, name: str) -> None:
        self._remote, self.name = remote, name
        subject = self.subject()
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
