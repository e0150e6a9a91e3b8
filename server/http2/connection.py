"""One connection: frames become calls, replies become frames, and both keep to windows.

What a peer can make us keep is bounded: by the window of a call for what it sends unasked, by
MOST_CALLS for what it asks, and by not reading from it while it does not read what it gets.
"""

from __future__ import annotations

import asyncio
import logging
import struct
from typing import TYPE_CHECKING, cast

import grpc

from zermelo.server.http2 import frames
from zermelo.server.http2.calls import Call, Serve, StatusError, seconds_of
from zermelo.server.http2.frames import (
    FIRST_WINDOW,
    LARGEST_WINDOW,
    LONGEST_FRAME,
    PREFACE,
    Http2Error,
    frame,
    headers_frame,
    reset_frame,
    window_frame,
)
from zermelo.server.http2.hpack import MOST_BYTES, Decoder, HpackError, field

if TYPE_CHECKING:
    from zermelo.server.http2.server import Http2Server

log = logging.getLogger(__name__)

#: Calls of one connection at the same time: a balancer puts many callers on one.
MOST_CALLS = 1000
#: What may be on the way on a connection, in all calls together. It is opened again as data come,
#: read or not: calls that wait for the rest of their requests must not shut it for each other.
WINDOW = 1 << 20
#: A connection that resets more calls than it lets us serve, and more than these, ends.
MOST_RESETS = 100
#: Settings, pings, priorities and frames without anything in them cost time and bring no call
#: nearer to its end. A connection may send these at once, and more with the calls that it lets us
#: serve and with its age; libraries of gRPC send two or three for a call at most.
MOST_IDLE_FRAMES, IDLE_FRAMES_A_CALL, IDLE_FRAMES_A_SECOND = 1000, 10, 10
#: The first output of ours: what we take, and the window of the connection.
_WELCOME = frames.settings_frame((
    (frames.MAX_CONCURRENT_STREAMS, MOST_CALLS),
    (frames.MAX_HEADER_LIST_SIZE, MOST_BYTES),
)) + window_frame(0, WINDOW - FIRST_WINDOW)
_IDLE_KINDS = frozenset((frames.SETTINGS, frames.PING, frames.PRIORITY))
#: What is no call of gRPC is told so in HTTP alone.
_NOT_GRPC = field(":status", "415")


class _PeerError(Exception):
    """What ends the whole connection."""

    def __init__(self, error: Http2Error, why: str) -> None:
        super().__init__(why)
        self.error, self.why = error, why


class Connection(asyncio.Protocol):
    def __init__(self, server: Http2Server) -> None:
        self._server, self._loop = server, asyncio.get_running_loop()
        self.host = ""
        self.common_names: tuple[str, ...] = ()
        self._transport: asyncio.Transport | None = None
        self._received = b""
        self._greeted = False
        #: Whether the peer has sent its settings, so that it speaks HTTP/2.
        self.established = False
        #: Since when there is no call, by the loop's clock.
        self.idle_since = self._loop.time()
        self._decoder = Decoder()
        self.calls: dict[int, Call] = {}
        self._last_stream = 0
        self._block, self._block_stream, self._block_flags = b"", 0, 0
        self._window = WINDOW
        self._send_window, self._first_send_window = FIRST_WINDOW, FIRST_WINDOW
        #: Calls with replies that wait for a window, and whether the transport takes no more.
        self._stalled: dict[int, Call] = {}
        self._paused = False
        self._more_sent = asyncio.Event()
        self._served, self._resets, self._idle_frames = 0, 0, 0
        self._since = self.idle_since
        self._leaving = False

    # -- the transport ----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("peername")
        self.host = str(peer[0]).partition("%")[0] if peer else ""
        certificate = transport.get_extra_info("peercert") or {}
        self.common_names = tuple(
            value for part in certificate.get("subject", ()) for name, value in part
            if name == "commonName"
        )  # fmt: skip
        self._server.connections.add(self)
        self._write(_WELCOME)

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._server.connections.discard(self)
        calls, self.calls = self.calls, {}
        self._stalled.clear()
        self._more_sent.set()
        for call in calls.values():
            call.cancel()

    def pause_writing(self) -> None:
        """The peer does not read: nothing more is read from it that we would have to answer."""
        self._paused = True
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._paused = False
        if self._transport is not None:
            self._transport.resume_reading()
        self._send_stalled()

    def data_received(self, data: bytes) -> None:
        try:
            self._take(self._received + data if self._received else data)
        except _PeerError as error:
            self._write(frames.goaway_frame(self._last_stream, error.error, error.why))
            self.close()
        except HpackError as error:
            why = str(error)
            self._write(frames.goaway_frame(self._last_stream, Http2Error.COMPRESSION_ERROR, why))
            self.close()

    # -- what the server says ---------------------------------------------------------------

    def leave(self) -> None:
        """Take no more calls; the connection ends with the last that there is."""
        if not self._leaving:
            self._leaving = True
            self._write(frames.goaway_frame(self._last_stream, Http2Error.NO_ERROR))
        if not self.calls:
            self.close()

    def close(self) -> None:
        """End it, once all that was written is sent."""
        self._received = b""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """End it at once, whatever is left to be sent."""
        if self._transport is not None:
            self._transport.abort()

    def stuck_since(self) -> float | None:
        """Since when a reply waits for the peer to take more of it."""
        return min((call.unsent_since for call in self._stalled.values()), default=None)

    # -- frames in --------------------------------------------------------------------------

    def _take(self, data: bytes) -> None:
        at, end = 0, len(data)
        if not self._greeted:
            if data[: len(PREFACE)] != PREFACE[:end]:
                self.abort()  # of another protocol: nothing that we say would be understood
                return
            if end < len(PREFACE):
                self._received = data
                return
            self._greeted, at = True, len(PREFACE)
        while end - at >= frames.HEAD_BYTES:
            size = data[at] << 16 | data[at + 1] << 8 | data[at + 2]
            if size > LONGEST_FRAME:
                raise _PeerError(Http2Error.FRAME_SIZE_ERROR, "a frame that is too long")
            begin = at + frames.HEAD_BYTES
            if end < begin + size:
                break
            kind, flags = data[at + 3], data[at + 4]
            stream = int.from_bytes(data[at + 5 : begin], "big") & frames.LARGEST_STREAM
            at = begin + size
            self._take_frame(kind, flags, stream, data[begin:at])
            if self._transport is None or self._transport.is_closing():
                return
        self._received = data[at:]

    def _take_frame(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if self._block_stream and (kind != frames.CONTINUATION or stream != self._block_stream):
            raise _PeerError(Http2Error.PROTOCOL_ERROR, "headers that do not end")
        if not self.established and kind != frames.SETTINGS:
            raise _PeerError(Http2Error.PROTOCOL_ERROR, "settings come first")
        if kind in _IDLE_KINDS or (not payload and not flags & frames.END_STREAM):
            self._count_idle_frame()
        if kind == frames.HEADERS:
            self._take_headers(flags, stream, _without_padding(flags, payload, kind))
        elif kind == frames.DATA:
            self._take_data(flags, stream, payload)
        elif kind == frames.CONTINUATION:
            self._take_continuation(flags, payload)
        elif kind == frames.WINDOW_UPDATE:
            self._take_window(stream, payload)
        elif kind == frames.RST_STREAM:
            self._take_reset(stream)
        elif kind == frames.SETTINGS:
            if not flags & frames.ACK:
                self._take_settings(payload)
                self._write(frame(frames.SETTINGS, frames.ACK, 0))
        elif kind == frames.PING:
            if len(payload) != 8:
                raise _PeerError(Http2Error.FRAME_SIZE_ERROR, "a ping has eight bytes")
            if not flags & frames.ACK:
                self._write(frame(frames.PING, frames.ACK, 0, payload))
        elif kind == frames.PUSH_PROMISE:
            raise _PeerError(Http2Error.PROTOCOL_ERROR, "clients promise nothing")

    def _count_idle_frame(self) -> None:
        self._idle_frames += 1
        if self._idle_frames <= MOST_IDLE_FRAMES:
            return
        age = self._loop.time() - self._since
        earned = IDLE_FRAMES_A_CALL * self._served + IDLE_FRAMES_A_SECOND * age
        if self._idle_frames > MOST_IDLE_FRAMES + earned:
            raise _PeerError(Http2Error.ENHANCE_YOUR_CALM, "too many frames for too few calls")

    def _take_headers(self, flags: int, stream: int, payload: bytes) -> None:
        if not flags & frames.END_HEADERS:
            self._block, self._block_stream, self._block_flags = payload, stream, flags
            return
        headers = self._decoder.decode(payload)
        call = self.calls.get(stream)
        if call is not None:  # trailers: nothing of ours is in them
            if not flags & frames.END_STREAM:
                raise _PeerError(Http2Error.PROTOCOL_ERROR, "headers within a request")
            call.receive_end()
            return
        if not stream & 1:
            raise _PeerError(Http2Error.PROTOCOL_ERROR, "a call with an even number")
        if stream <= self._last_stream:
            return  # the trailers of a call that has ended
        self._last_stream = stream
        if len(self.calls) >= MOST_CALLS or self._leaving:
            self._write(reset_frame(stream, Http2Error.REFUSED_STREAM))
            return
        self._begin(stream, headers, ended=bool(flags & frames.END_STREAM))

    def _take_continuation(self, flags: int, payload: bytes) -> None:
        if not self._block_stream:
            raise _PeerError(Http2Error.PROTOCOL_ERROR, "nothing to be continued")
        self._block += payload
        if len(self._block) > MOST_BYTES:
            raise _PeerError(Http2Error.ENHANCE_YOUR_CALM, "headers that are too long")
        if flags & frames.END_HEADERS:
            block, stream = self._block, self._block_stream
            flags = self._block_flags | frames.END_HEADERS
            self._block, self._block_stream = b"", 0
            self._take_headers(flags, stream, block)

    def _take_data(self, flags: int, stream: int, payload: bytes) -> None:
        flow = len(payload)
        self._window -= flow
        if self._window < 0:
            raise _PeerError(Http2Error.FLOW_CONTROL_ERROR, "more than the window holds")
        call = self.calls.get(stream)
        if call is None:
            if stream > self._last_stream or not stream:
                raise _PeerError(Http2Error.PROTOCOL_ERROR, "a request without headers")
        elif call.request_ended:
            raise _PeerError(Http2Error.STREAM_CLOSED, "a request goes on behind its end")
        else:
            data = _without_padding(flags, payload, frames.DATA)
            if not call.receive(data, flow):
                raise _PeerError(Http2Error.FLOW_CONTROL_ERROR, "more than the window holds")
            if flags & frames.END_STREAM:
                call.receive_end()
        if self._window < WINDOW // 2:
            self._write(window_frame(0, WINDOW - self._window))
            self._window = WINDOW

    def _take_window(self, stream: int, payload: bytes) -> None:
        if len(payload) != 4:
            raise _PeerError(Http2Error.FRAME_SIZE_ERROR, "a window has four bytes")
        more = int.from_bytes(payload, "big") & LARGEST_WINDOW
        if not stream:
            self._send_window += more
            if not more or self._send_window > LARGEST_WINDOW:
                raise _PeerError(Http2Error.FLOW_CONTROL_ERROR, "a window of a wrong size")
            if self._send_window <= more:  # it was shut, so calls may wait for it
                self._send_stalled()
        elif call := self.calls.get(stream):
            call.send_window += more
            if not more or call.send_window > LARGEST_WINDOW:
                raise _PeerError(Http2Error.FLOW_CONTROL_ERROR, "a window of a wrong size")
            if stream in self._stalled:
                self._send_all_of(call)

    def _take_reset(self, stream: int) -> None:
        if stream > self._last_stream or not stream:
            raise _PeerError(Http2Error.PROTOCOL_ERROR, "a reset of what never began")
        self._resets += 1
        if self._resets > max(MOST_RESETS, self._served):
            raise _PeerError(Http2Error.ENHANCE_YOUR_CALM, "too many calls are reset")
        if call := self.calls.get(stream):
            self._forget(call)
            call.cancel()

    def _take_settings(self, payload: bytes) -> None:
        if len(payload) % 6:
            raise _PeerError(Http2Error.FRAME_SIZE_ERROR, "settings have six bytes each")
        # The last of several holds: calls are looked at once, however many there are.
        window = dict(struct.iter_unpack(">HI", payload)).get(frames.INITIAL_WINDOW_SIZE)
        if window is not None:
            if window > LARGEST_WINDOW:
                raise _PeerError(Http2Error.FLOW_CONTROL_ERROR, "a window of a wrong size")
            for call in self.calls.values():
                call.send_window += window - self._first_send_window
            self._first_send_window = window
        self.established = True
        self._send_stalled()

    # -- calls ------------------------------------------------------------------------------

    def _begin(self, stream: int, headers: dict[str, str], *, ended: bool) -> None:
        seconds = seconds_of(headers.get("grpc-timeout"))
        call = Call(
            self, stream, headers, most_bytes=self._server.most_request_bytes,
            send_window=self._first_send_window,
            deadline=None if seconds is None else self._loop.time() + seconds,
        )  # fmt: skip
        self.calls[stream] = call
        call.request_ended = ended
        if headers.get(":method") != "POST" or not headers.get("content-type", "").startswith(
            "application/grpc"
        ):
            self._write(headers_frame(stream, _NOT_GRPC, last=True))
            self._forget(call)
            return
        encoding = headers.get("grpc-encoding", "identity")
        serve = self._server.find(headers.get(":path", ""))
        if encoding != "identity":
            call.refuse(StatusError(
                grpc.StatusCode.UNIMPLEMENTED, f"requests in {encoding[:20]} are not accepted"
            ))
        elif serve is None:
            call.refuse(StatusError(grpc.StatusCode.UNIMPLEMENTED, "there is no such method"))
        else:
            call.task = self._loop.create_task(self._serve(call, serve))

    async def _serve(self, call: Call, serve: Serve) -> None:
        try:
            reply = await serve(call)
        except StatusError as error:
            call.refuse(error)
        except asyncio.CancelledError:
            if call.status is not None:
                call.refuse(call.status)
        except Exception:
            log.exception("%s failed", call.headers.get(":path"))
            call.refuse(StatusError(grpc.StatusCode.INTERNAL, "an error of the server"))
        else:
            self._served += 1
            call.reply(reply)

    def _forget(self, call: Call) -> None:
        if self.calls.pop(call.stream, None) is None:
            return
        self._stalled.pop(call.stream, None)
        if not self.calls:
            self.idle_since = self._loop.time()
            if self._leaving:
                self.close()

    # -- what calls ask for -----------------------------------------------------------------

    def give_window(self, stream: int, more: int) -> None:
        """Let the peer send more of a call."""
        self._write(window_frame(stream, more))

    def send(self, call: Call, head: bytes, data: bytes, trailers: bytes = b"") -> None:
        """Send headers, data as far as the windows let us, and behind them trailers, which end
        the call; each if there is any.
        """
        stream = call.stream
        if stream not in self.calls:
            return
        out = headers_frame(stream, head) if head else b""
        size = len(data)
        if stream in self._stalled or (size and (
            self._paused or size > min(self._send_window, call.send_window, LONGEST_FRAME)
        )):
            self._write(out)
            self._stall(call, data, trailers)
            return
        if size:
            self._send_window -= size
            call.send_window -= size
            out += frames.data_frame(stream, data)
        if trailers:
            out += headers_frame(stream, trailers, last=True)
            if not call.request_ended:  # nobody will read the rest
                out += reset_frame(stream, Http2Error.NO_ERROR)
        self._write(out)
        if trailers:
            self._forget(call)

    async def all_sent(self, call: Call) -> None:
        """Wait until nothing of a call waits for the peer."""
        while call.stream in self._stalled or (self._paused and call.stream in self.calls):
            self._more_sent.clear()
            await self._more_sent.wait()

    def drop(self, call: Call) -> None:
        """End a call whose reply nobody takes."""
        self._write(reset_frame(call.stream, Http2Error.CANCEL))
        self._forget(call)

    # -- frames out -------------------------------------------------------------------------

    def _write(self, data: bytes) -> None:
        if data and self._transport is not None:
            self._transport.write(data)

    def _stall(self, call: Call, data: bytes, trailers: bytes) -> None:
        if call.stream not in self._stalled:
            self._stalled[call.stream] = call
            call.unsent_since = self._loop.time()
        call.unsent += data
        call.trailers = trailers
        self._send_all_of(call)

    def _send_stalled(self) -> None:
        """Send what the windows hold, a frame of each call in turn."""
        moving = True
        while moving and self._stalled:
            moving = False
            for call in list(self._stalled.values()):
                if self._paused or self._send_window <= 0:
                    break
                moving |= self._send_part(call)
        self._more_sent.set()

    def _send_all_of(self, call: Call) -> None:
        """Send what the windows hold of one call."""
        while call.stream in self._stalled and self._send_part(call):
            pass
        self._more_sent.set()

    def _send_part(self, call: Call) -> bool:
        """Send the next frame of a reply, if the windows hold any of it."""
        size = min(len(call.unsent), self._send_window, call.send_window, LONGEST_FRAME)
        if size <= 0 or self._paused:
            return False
        call.unsent_since = self._loop.time()
        self._send_window -= size
        call.send_window -= size
        self._write(frames.data_frame(call.stream, bytes(call.unsent[:size])))
        del call.unsent[:size]
        if not call.unsent:
            del self._stalled[call.stream]
            self.send(call, b"", b"", call.trailers)
        return True


def _without_padding(flags: int, payload: bytes, kind: int) -> bytes:
    """What a frame holds besides padding and priorities, which we do not use."""
    begin, end = 0, len(payload)
    if flags & frames.PADDED:
        if not payload:
            raise _PeerError(Http2Error.FRAME_SIZE_ERROR, "a frame without its padding")
        begin, end = 1, end - payload[0]
    if kind == frames.HEADERS and flags & frames.HAS_PRIORITY:
        begin += 5
    if begin > end:
        raise _PeerError(Http2Error.PROTOCOL_ERROR, "a frame that is all padding")
    return payload[begin:end] if begin or end < len(payload) else payload
