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


def test_requests_longer_than_a_window(guarded: str, connection: Connection) -> None:
    """They are sent as the server takes them, and no further when it refuses them."""
    token = accounts.open_account(connection, "ada", Role.VOLUNTEER, actor="test")
    submit = path_of(service.COORDINATOR, "SubmitResults")
    bounds = pb.KnownBounds(positions=b"p" * 16 * 350, lo=[-1] * 350, hi=[1] * 350)
    results = [
        pb.Result(lease_id=number, answer=pb.EXHAUSTED, proved=bounds) for number in range(1, 41)
    ]
    request = pb.SubmitResultsRequest(host_key=b"k" * 16, results=results).SerializeToString()
    assert len(request) > 200_000

    async def play() -> None:
        known, stranger = PlainChannel(guarded, bearer(token)), PlainChannel(guarded)
        await known.call(PATH, HELLO.SerializeToString())
        reply = pb.SubmitResultsReply.FromString(await known.call(submit, request))
        assert [receipt.lease_id for receipt in reply.receipts] == list(range(1, 41))
        for _ in range(3):  # the window of the connection is open again after each
            with pytest.raises(CallError) as caught:
                await stranger.call(submit, request)
            assert caught.value.status.code == UNAUTHENTICATED
        known.close()
        stranger.close()

    asyncio.run(play())
