"""The cheap client of bench/load.py is understood by a real coordinator, and understands it."""

from __future__ import annotations

import asyncio

import pytest

from bench.plain_grpc import CallError, PlainChannel, path_of
from tests.support.coordinator import bearer
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service
from zermelo.server.database import Connection
from zermelo.server.trust import accounts
from zermelo.server.trust.accounts import Role

UNAUTHENTICATED = 16
HELLO = pb.HelloRequest(protocol_version=1, host_key=b"k" * 16, workers=1)
PATH = path_of(service.COORDINATOR, "Hello")


def test_replies_and_refusals(guarded: str, connection: Connection) -> None:
    token = accounts.open_account(connection, "ada", Role.VOLUNTEER, actor="test")

    async def play() -> None:
        known, stranger = PlainChannel(guarded, bearer(token)), PlainChannel(guarded)
        # Many at once on one connection, with headers longer than a small number can tell.
        replies = await asyncio.gather(
            *(known.call(PATH, HELLO.SerializeToString()) for _ in range(20))
        )
        for reply in replies:
            assert pb.HelloReply.FromString(reply).protocol_version == service.PROTOCOL_VERSION
        with pytest.raises(CallError) as caught:
            await stranger.call(PATH, HELLO.SerializeToString())
        status = caught.value.status
        assert status.code == UNAUTHENTICATED
        assert status.message == "an account is needed; register and send its token"
        assert status.trailing[service.REASON] == service.TOKEN_NEEDED
        # A connection that was closed is opened again.
        known.close()
        await asyncio.sleep(0)
        assert await known.call(PATH, HELLO.SerializeToString())
        known.close()
        stranger.close()

    asyncio.run(play())
