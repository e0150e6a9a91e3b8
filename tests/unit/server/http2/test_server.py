"""The server of HTTP/2 against peers that keep to it and peers that do not, over real sockets."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from itertools import islice
from typing import Any

import grpc
import pytest

from zermelo.server.http2 import connection, frames, server
from zermelo.server.http2.calls import Call, Serve, StatusError, seconds_of
from zermelo.server.http2.frames import (
    PREFACE,
    Http2Error,
    data_frame,
    frame,
    headers_frame,
    settings_frame,
)
from zermelo.server.http2.hpack import Decoder, field
from zermelo.server.http2.server import Http2Server, Patience

HELLO = PREFACE + settings_frame(())
HEAD = b"".join(
    field(*each) for each in (
        (":method", "POST"), (":scheme", "http"), (":path", "/a.B/C"),
        ("content-type", "application/grpc"), ("te", "trailers"),
    )
)  # fmt: skip
MOST = 1_000_000


def message(data: bytes) -> bytes:
    return struct.pack(">BI", 0, len(data)) + data


class Peer:
    """A client by hand, frame by frame."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self.writer = reader, writer

    def send(self, *parts: bytes) -> None:
        self.writer.write(b"".join(parts))

    async def frame(self) -> tuple[int, int, int, bytes]:
        head = await self._reader.readexactly(frames.HEAD_BYTES)
        payload = await self._reader.readexactly(int.from_bytes(head[:3], "big"))
        return head[3], head[4], int.from_bytes(head[5:], "big"), payload

    async def next(self, *kinds: int) -> tuple[int, int, int, bytes]:
        """The next frame of these kinds."""
        while True:
            found = await self.frame()
            if found[0] in kinds:
                return found

    async def status(self, stream: int = 1) -> dict[str, str]:
        """The headers at the end of a call."""
        while True:
            _, flags, found, payload = await self.next(frames.HEADERS)
            if found == stream and flags & frames.END_STREAM:
                return Decoder().decode(payload)

    async def goaway(self) -> int:
        """Why the server ends the connection, which it does."""
        payload = (await self.next(frames.GOAWAY))[3]
        assert await self._reader.read() == b""
        return int.from_bytes(payload[4:8], "big")

    async def ends(self) -> None:
        while await self._reader.read(65536):
            pass


async def echo(call: Call) -> bytes | None:
    return await call.read()


Scenario = Callable[[Peer], Awaitable[None]]


@asynccontextmanager
async def served(
    serve: Serve, patience: Patience
) -> AsyncIterator[tuple[Http2Server, tuple[str, int]]]:
    listening = socket.create_server(("127.0.0.1", 0))
    place = listening.getsockname()
    running = Http2Server(
        {"/a.B/C": serve}.get, most_request_bytes=MOST, patience=patience
    )
    await running.serve(listening)
    try:
        yield running, place
    finally:
        await running.stop(0.1)


def against(
    scenario: Scenario, serve: Serve = echo, hello: bytes = HELLO, **patience: float
) -> None:
    async def run() -> None:
        async with served(serve, Patience(**patience)) as (_, place):
            reader, writer = await asyncio.open_connection(*place)
            writer.write(hello)
            try:
                async with asyncio.timeout(60):
                    await scenario(Peer(reader, writer))
            finally:
                writer.close()

    asyncio.run(run())


def test_a_call_and_its_reply() -> None:
    async def scenario(peer: Peer) -> None:
        for stream in (1, 3):
            peer.send(headers_frame(stream, HEAD), data_frame(stream, message(b"hi"), last=True))
            assert (await peer.next(frames.DATA))[2:] == (stream, message(b"hi"))
            assert (await peer.status(stream))["grpc-status"] == "0"

    against(scenario)


def test_frames_in_pieces_with_padding_and_continued_headers() -> None:
    padded = frame(frames.DATA, frames.PADDED | frames.END_STREAM, 1,
                   b"\x03" + message(b"hi")[2:] + b"\0\0\0")  # fmt: skip
    sent = b"".join((
        frame(frames.HEADERS, frames.HAS_PRIORITY | frames.PADDED, 1,
              b"\x02" + bytes(5) + HEAD[:7] + b"\0\0"),
        frame(frames.CONTINUATION, 0, 1, HEAD[7:9]),
        frame(frames.CONTINUATION, frames.END_HEADERS, 1, HEAD[9:]),
        data_frame(1, message(b"hi")[:2]), data_frame(1, b""), padded,
    ))  # fmt: skip

    async def scenario(peer: Peer) -> None:
        for byte in sent:
            peer.send(bytes([byte]))
            await asyncio.sleep(0)
        assert (await peer.next(frames.DATA))[3] == message(b"hi")
        assert (await peer.status())["grpc-status"] == "0"

    against(scenario)


def test_a_long_request_comes_when_it_is_asked_for_and_a_long_reply_as_fast_as_it_is_taken(
) -> None:
    long = bytes(range(256)) * 1000
    asked = asyncio.Event()

    async def late(call: Call) -> bytes | None:
        await asked.wait()
        return await call.read()

    async def scenario(peer: Peer) -> None:
        whole, at, window = message(long), 0, frames.FIRST_WINDOW
        peer.send(headers_frame(1, HEAD))
        while at < len(whole):
            while window:
                part = whole[at : at + min(window, frames.LONGEST_FRAME)]
                at, window = at + len(part), window - len(part)
                peer.send(data_frame(1, part, last=at == len(whole)))
                if at == len(whole):
                    break
            if at < len(whole):
                asked.set()  # not a byte more than the first window came unasked
                _, _, stream, payload = await peer.next(frames.WINDOW_UPDATE)
                window += int.from_bytes(payload, "big") if stream == 1 else 0
        got = b""
        while len(got) < len(whole):
            got += (await peer.next(frames.DATA))[3]
            if len(got) % frames.FIRST_WINDOW == 0:  # all that we let it send
                peer.send(frames.window_frame(0, frames.FIRST_WINDOW),
                          frames.window_frame(1, frames.FIRST_WINDOW))  # fmt: skip
        assert got == whole
        assert (await peer.status())["grpc-status"] == "0"

    against(scenario, late)


@pytest.mark.parametrize(("more", "code"), [
    ((("grpc-encoding", "gzip"),), grpc.StatusCode.UNIMPLEMENTED),
    (((":path", "/a.B/D"),), grpc.StatusCode.UNIMPLEMENTED),
])
def test_refused_by_its_headers(more: tuple[tuple[str, str], ...], code: Any) -> None:
    async def scenario(peer: Peer) -> None:
        peer.send(headers_frame(1, HEAD + b"".join(field(*each) for each in more)))
        assert (await peer.status())["grpc-status"] == str(code.value[0])
        assert (await peer.next(frames.RST_STREAM))[3] == bytes(4)

    against(scenario)


@pytest.mark.parametrize(("sent", "code"), [
    (b"\x01\0\0\0\x01x", grpc.StatusCode.UNIMPLEMENTED),  # compressed
    (struct.pack(">BI", 0, MOST + 1), grpc.StatusCode.RESOURCE_EXHAUSTED),
    (message(b"abc")[:-1], grpc.StatusCode.INTERNAL),
])
def test_refused_by_its_message(sent: bytes, code: Any) -> None:
    async def scenario(peer: Peer) -> None:
        peer.send(headers_frame(1, HEAD), data_frame(1, sent, last=True))
        assert (await peer.status())["grpc-status"] == str(code.value[0])

    against(scenario)


def test_what_is_no_grpc_is_told_so() -> None:
    async def scenario(peer: Peer) -> None:
        peer.send(headers_frame(1, HEAD + field("content-type", "text/html"), last=True))
        assert (await peer.status())[":status"] == "415"

    against(scenario)


def test_a_status_with_letters_of_any_kind_and_metadata() -> None:
    async def refuse(call: Call) -> bytes | None:
        raise StatusError(grpc.StatusCode.NOT_FOUND, "100 % für nichts\n", (("why", "so"),))

    async def scenario(peer: Peer) -> None:
        peer.send(headers_frame(1, HEAD, last=True))
        status = await peer.status()
        assert status["grpc-message"] == "100 %25 f%C3%BCr nichts%0A"
        assert (status["grpc-status"], status["why"]) == ("5", "so")

    against(scenario, refuse)


#: Frames without any use, far more than a connection earns while they are read.
TOO_MANY = connection.MOST_IDLE_FRAMES + 1000

#: What no peer may do, and how the connection ends.
FORBIDDEN = {
    "no settings": (PREFACE + headers_frame(1, HEAD), Http2Error.PROTOCOL_ERROR),
    "frame": (HELLO + b"\x00\x40\x01" + bytes(6), Http2Error.FRAME_SIZE_ERROR),
    "ping": (HELLO + frame(frames.PING, 0, 0, b"1"), Http2Error.FRAME_SIZE_ERROR),
    "settings": (HELLO + frame(frames.SETTINGS, 0, 0, b"1"), Http2Error.FRAME_SIZE_ERROR),
    "window": (HELLO + frame(frames.WINDOW_UPDATE, 0, 0, b"1"), Http2Error.FRAME_SIZE_ERROR),
    "no window": (HELLO + frames.window_frame(0, 0), Http2Error.FLOW_CONTROL_ERROR),
    "too much window": (HELLO + frames.window_frame(0, 2**31 - 1), Http2Error.FLOW_CONTROL_ERROR),
    "window of all calls": (
        HELLO + settings_frame(((frames.INITIAL_WINDOW_SIZE, 2**31),)),
        Http2Error.FLOW_CONTROL_ERROR,
    ),
    "even": (HELLO + headers_frame(2, HEAD), Http2Error.PROTOCOL_ERROR),
    "no call": (HELLO + data_frame(1, b""), Http2Error.PROTOCOL_ERROR),
    "reset": (HELLO + frames.reset_frame(1, Http2Error.CANCEL), Http2Error.PROTOCOL_ERROR),
    "promise": (HELLO + frame(frames.PUSH_PROMISE, 0, 1), Http2Error.PROTOCOL_ERROR),
    "continued": (HELLO + frame(frames.CONTINUATION, 0, 1), Http2Error.PROTOCOL_ERROR),
    "interrupted": (
        HELLO + frame(frames.HEADERS, 0, 1, HEAD) + data_frame(1, b""), Http2Error.PROTOCOL_ERROR
    ),
    "endless headers": (
        HELLO + frame(frames.HEADERS, 0, 1, HEAD)
        + frame(frames.CONTINUATION, 0, 1, bytes(16_000)) * 2,
        Http2Error.ENHANCE_YOUR_CALM,
    ),
    "padding": (
        HELLO + headers_frame(1, HEAD) + frame(frames.DATA, frames.PADDED, 1, b"\x05abc"),
        Http2Error.PROTOCOL_ERROR,
    ),
    "hpack": (HELLO + headers_frame(1, b"\x80"), Http2Error.COMPRESSION_ERROR),
    "more than a window": (
        HELLO + headers_frame(1, HEAD) + data_frame(1, bytes(16_384)) * 5,
        Http2Error.FLOW_CONTROL_ERROR,
    ),
    "rapid reset": (
        HELLO + b"".join(
            headers_frame(stream, HEAD) + frames.reset_frame(stream, Http2Error.CANCEL)
            for stream in range(1, 2 * connection.MOST_RESETS + 4, 2)
        ),
        Http2Error.ENHANCE_YOUR_CALM,
    ),
    "many pings": (
        HELLO + frame(frames.PING, 0, 0, bytes(8)) * TOO_MANY, Http2Error.ENHANCE_YOUR_CALM
    ),
    "many settings": (HELLO + settings_frame(()) * TOO_MANY, Http2Error.ENHANCE_YOUR_CALM),
    "many priorities": (
        HELLO + frame(frames.PRIORITY, 0, 1, bytes(5)) * TOO_MANY, Http2Error.ENHANCE_YOUR_CALM
    ),
    "nothing again and again": (
        HELLO + headers_frame(1, HEAD) + data_frame(1, b"") * TOO_MANY,
        Http2Error.ENHANCE_YOUR_CALM,
    ),
    "headers of nothing": (
        HELLO + frame(frames.HEADERS, 0, 1, HEAD)
        + frame(frames.CONTINUATION, 0, 1) * TOO_MANY,
        Http2Error.ENHANCE_YOUR_CALM,
    ),
}  # fmt: skip


async def never(call: Call) -> bytes | None:
    await asyncio.get_running_loop().create_future()
    return None


@pytest.mark.parametrize(("sent", "error"), FORBIDDEN.values(), ids=FORBIDDEN)
def test_a_connection_ends_with_what_is_forbidden(sent: bytes, error: Http2Error) -> None:
    async def scenario(peer: Peer) -> None:
        assert await peer.goaway() == error

    against(scenario, never, hello=sent)


def test_another_protocol_gets_no_word() -> None:
    async def scenario(peer: Peer) -> None:
        with suppress(ConnectionResetError, asyncio.IncompleteReadError):
            while (found := await peer.frame())[0] in (frames.SETTINGS, frames.WINDOW_UPDATE):
                pass
            pytest.fail(f"it says {found}")

    against(scenario, hello=b"GET / HTTP/1.1\r\n\r\n")


def test_only_so_many_calls_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MOST_CALLS", 3)

    async def scenario(peer: Peer) -> None:
        peer.send(*(headers_frame(stream, HEAD) for stream in (1, 3, 5, 7)))
        assert (await peer.next(frames.RST_STREAM))[2:] == (
            7, Http2Error.REFUSED_STREAM.to_bytes(4, "big")
        )

    against(scenario, never)


def test_who_resets_a_call_or_hangs_up_ends_it() -> None:
    ended = []

    async def serve(call: Call) -> bytes | None:
        try:
            return await never(call)
        finally:
            ended.append(call.stream)

    async def scenario(peer: Peer) -> None:
        peer.send(headers_frame(1, HEAD), headers_frame(3, HEAD))
        await asyncio.sleep(0.05)
        peer.send(frames.reset_frame(1, Http2Error.CANCEL))
        while ended != [1]:
            await asyncio.sleep(0.01)
        peer.writer.close()
        while ended != [1, 3]:
            await asyncio.sleep(0.01)

    against(scenario, serve)


def test_a_call_ends_with_the_time_of_its_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LOOK_SECONDS", 0.05)

    async def scenario(peer: Peer) -> None:
        peer.send(headers_frame(1, HEAD + field("grpc-timeout", "100m"), last=True))
        assert (await peer.status())["grpc-status"] == "4"

    against(scenario, never)


@pytest.mark.parametrize(("text", "seconds"), [
    ("1H", 3600), ("2M", 120), ("60S", 60), ("1500m", 1.5), ("1000u", 0.001), ("99999999n", 0.1),
    ("", None), (None, None), ("S", None), ("-1S", None), ("1x", None), ("999999999S", None),
])
def test_timeouts(text: str | None, seconds: float | None) -> None:
    assert seconds_of(text) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize("hello", [b"", PREFACE[:5], PREFACE, HELLO], ids=str)
def test_who_says_nothing_may_come_again(hello: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LOOK_SECONDS", 0.05)

    async def scenario(peer: Peer) -> None:
        with suppress(ConnectionResetError):
            await peer.ends()

    against(scenario, hello=hello, handshake=0.1, idle=0.1)


def test_a_reply_that_nobody_takes_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LOOK_SECONDS", 0.05)

    async def long(call: Call) -> bytes | None:
        return bytes(100_000)

    async def scenario(peer: Peer) -> None:
        peer.send(headers_frame(1, HEAD, last=True))
        with suppress(ConnectionResetError):
            await peer.ends()

    against(scenario, long, stuck=0.1)


def test_windows_that_open_byte_by_byte_cost_no_look_at_every_reply(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = 0
    send_part = connection.Connection._send_part

    def counted(self: connection.Connection, call: Call) -> bool:
        nonlocal looks
        looks += 1
        return send_part(self, call)

    monkeypatch.setattr(connection.Connection, "_send_part", counted)
    calls, updates = 300, 500
    shut = settings_frame(((frames.INITIAL_WINDOW_SIZE, 0),))

    async def scenario(peer: Peer) -> None:
        streams = range(1, 2 * calls, 2)
        for stream in streams:
            peer.send(headers_frame(stream, HEAD), data_frame(stream, message(b"hi"), last=True))
        for _ in streams:  # the heads of replies that wait for their windows
            await peer.next(frames.HEADERS)
        before = looks
        peer.send(frames.window_frame(0, 1) * updates, frames.window_frame(1, 1) * 7)
        await peer.status(1)
        assert looks - before < 20
        peer.send(settings_frame(((frames.INITIAL_WINDOW_SIZE, 0),) * 1000))
        peer.send(settings_frame(((frames.INITIAL_WINDOW_SIZE, 7),)))
        for stream in streams[1:]:
            assert (await peer.status(stream))["grpc-status"] == "0"

    against(scenario, hello=PREFACE + shut)


@pytest.mark.slow
def test_who_reads_nothing_is_not_read() -> None:
    """Each call is answered, so a peer that does not read would fill our memory."""
    nowhere = HEAD.replace(b"/a.B/C", b"/a.B/D")
    streams = iter(range(1, 2**31, 2))

    async def run() -> None:
        async with served(echo, Patience()) as (running, place):
            loop = asyncio.get_running_loop()
            with socket.create_connection(place) as raw:
                raw.setblocking(False)
                raw.sendall(HELLO)
                with suppress(TimeoutError):
                    async with asyncio.timeout(3):
                        while True:
                            calls = (
                                headers_frame(stream, nowhere, last=True)
                                for stream in islice(streams, 1000)
                            )
                            await loop.sock_sendall(raw, b"".join(calls))
                (one,) = running.connections
                assert one._transport is not None
                assert one._transport.get_write_buffer_size() < 4 << 20

    asyncio.run(run())


async def calling(place: tuple[str, int]) -> Peer:
    """A peer whose first call has been taken."""
    peer = Peer(*await asyncio.open_connection(*place))
    peer.send(HELLO, headers_frame(1, HEAD, last=True))
    await peer.next(frames.SETTINGS)
    await peer.next(frames.SETTINGS)
    return peer


def test_the_end_waits_for_calls_and_takes_no_more() -> None:
    go_on = asyncio.Event()

    async def slow(call: Call) -> bytes | None:
        await go_on.wait()
        return b"done"

    async def run() -> None:
        async with served(slow, Patience()) as (running, place), asyncio.timeout(60):
            peer = await calling(place)
            stopping = asyncio.create_task(running.stop(30))
            await peer.next(frames.GOAWAY)
            peer.send(headers_frame(3, HEAD, last=True))
            assert (await peer.next(frames.RST_STREAM))[2] == 3
            go_on.set()
            assert (await peer.next(frames.DATA))[3] == message(b"done")
            await stopping
            await peer.ends()
            peer.writer.close()
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection(*place)

    asyncio.run(run())


def test_what_does_not_end_is_told_so() -> None:
    async def run() -> None:
        async with served(never, Patience()) as (running, place), asyncio.timeout(60):
            peer = await calling(place)
            await running.stop(0.05)
            assert (await peer.status())["grpc-status"] == "14"
            peer.writer.close()

    asyncio.run(run())


@pytest.mark.slow
def test_gRPCs_own_client_in_many_ways() -> None:  # noqa: N802 - its name
    async def stream(call: Call) -> bytes | None:
        while (data := await call.read()) is not None:
            await call.write(data * 2)
        return None

    async def run() -> None:
        async with served(stream, Patience()) as (_, place):
            target = f"{place[0]}:{place[1]}"
            async with grpc.aio.insecure_channel(target) as channel:
                both = channel.stream_stream("/a.B/C")
                parts = [bytes([number]) * number * 1000 for number in range(1, 200)]
                assert [got async for got in both(iter(parts), timeout=60)] == [
                    part * 2 for part in parts
                ]
                calls: list[Coroutine[Any, Any, bytes]] = [
                    _unary(channel, b"x" * size) for size in (0, 1, 10**5, MOST) for _ in range(20)
                ]
                assert {len(got) for got in await asyncio.gather(*calls)} == {
                    0, 2, 2 * 10**5, 2 * MOST
                }

    asyncio.run(run())


async def _unary(channel: grpc.aio.Channel, data: bytes) -> bytes:
    reply: bytes = await channel.unary_unary("/a.B/C")(data, timeout=60)
    return reply
