"""Operators and researchers call a server that means no good: one line, and no harm."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from tests.support.hostile_coordinator import HostileCoordinator, Refusal
from zermelo import ZermeloError
from zermelo.games import open_game
from zermelo.proto import operations_pb2 as operations
from zermelo.proto import research_pb2 as research
from zermelo.proto import service
from zermelo.proto.remote import Identity, RefusedError, Remote, UnreachableError
from zermelo.research.remote import RemoteCampaigns

IDENTITY = Identity("token")
GAME = open_game("reversi:4x4")


def ask_for_users(reply: Any) -> Any:
    with (
        HostileCoordinator(ListUsers=lambda *_: reply) as server,
        Remote(server.address, service.OPERATIONS, IDENTITY) as remote,
    ):
        return remote.ask(operations.ListUsersRequest(most=1))


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        (b"\x0a\x00" * 10_001, "users has more than 10000 items"),
        (b"\xff" * 100, "no message"),
        (operations.ListUsersReply(users=[operations.User(name="n" * 65)]), "name has 65 bytes"),
        (b"\x0a\x00" * (service.MAX_MESSAGE_BYTES // 2 + 1), "larger than max"),
    ],
)
def test_what_is_no_reply_is_one_sentence(reply: Any, complaint: str) -> None:
    with pytest.raises(UnreachableError, match=complaint) as caught:
        ask_for_users(reply)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        (service.DATABASE_AWAY, UnreachableError),
        (service.OVERLOADED, UnreachableError),
        (service.STOPPING, UnreachableError),
        (service.NOT_YOUR_ROLE, RefusedError),
    ],
)
def test_only_a_server_that_serves_nobody_is_worth_another_try(
    reason: str, kind: type[ZermeloError]
) -> None:
    refusal = Refusal(grpc.StatusCode.UNAVAILABLE, "why not", reason)
    with (
        HostileCoordinator(ListUsers=lambda *_: refusal) as server,
        Remote(server.address, service.OPERATIONS, IDENTITY) as remote,
        pytest.raises(kind, match="why not"),
    ):
        remote.ask(operations.ListUsersRequest(most=1))


def test_texts_cannot_steer_a_terminal() -> None:
    told = ask_for_users(operations.ListUsersReply(users=[operations.User(name="a\x1b[2J\nb")]))
    assert told.users[0].name == "a[2J b"


NONSENSE = {
    "a position that is too long": research.PositionReport(position="x" * 65_537),
    "no proof state": research.PositionReport(worth=research.Worth(proof_state="nonsense")),
    "a date after the end of time": research.PositionReport(
        worth=research.Worth(proof_state="proved"),
        provenance=[research.Provenance(received_at=Timestamp(seconds=2**62))],
    ),
}


@pytest.mark.parametrize("what", NONSENSE)
def test_researchers_are_not_told_nonsense(what: str) -> None:
    start = GAME.format(GAME.initial())
    subject = research.Subject(campaign="c", game=GAME.spec, position=start)
    with HostileCoordinator(
        AskSubject=lambda *_: research.AskSubjectReply(answer=subject),
        AskPosition=lambda *_: research.AskPositionReply(answer=NONSENSE[what]),
    ) as server:
        campaigns = RemoteCampaigns(server.address, IDENTITY)
        try:
            with pytest.raises(UnreachableError, match="answers with an invalid reply"):
                campaigns.campaign("c").position()
        finally:
            campaigns.close()


def test_a_long_position_is_told_whole() -> None:
    long = research.AskSubjectReply(answer=research.Subject(position="x" * 65_000))
    with (
        HostileCoordinator(AskSubject=lambda *_: long) as server,
        Remote(server.address, service.RESEARCH, IDENTITY) as remote,
    ):
        told = remote.ask(research.AskSubjectRequest(campaign="c"))
    assert told.answer.position == long.answer.position
