"""All connections: which function serves a call, what takes too long, and the end."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass

import grpc

from zermelo.server.http2.calls import Serve, StatusError
from zermelo.server.http2.connection import Connection

#: How often somebody looks for what takes too long.
LOOK_SECONDS = 1.0
BACKLOG = 4096


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a server waits, in seconds."""

    #: For a new connection to speak TLS, and then HTTP/2.
    handshake: float = 20.0
    #: For the next call of a connection.
    idle: float = 600.0
    #: For a peer to take more of a reply.
    stuck: float = 60.0


class Http2Server:
    def __init__(
        self, find: Callable[[str], Serve | None], *, most_request_bytes: int, patience: Patience
    ) -> None:
        """`find` gives what serves a path, such as /package.Service/Method; None for nothing."""
        self.find, self.most_request_bytes = find, most_request_bytes
        self._patience = patience
        self.connections: set[Connection] = set()
        self._listeners: list[asyncio.AbstractServer] = []
        self._looking: asyncio.Task[None] | None = None

    async def serve(
        self, listening: socket.socket, tls: ssl.SSLContext | None = None
    ) -> None:
        """Serve what connects to this socket."""
        loop = asyncio.get_running_loop()
        self._listeners.append(await loop.create_server(
            lambda: Connection(self), sock=listening, backlog=BACKLOG, ssl=tls,
            ssl_handshake_timeout=self._patience.handshake if tls else None,
        ))  # fmt: skip
        if self._looking is None:
            self._looking = loop.create_task(self._keep_looking())

    async def stop(self, grace: float) -> None:
        """Take no more calls, and end those that are not served within `grace` seconds."""
        for listener in self._listeners:
            listener.close()
        for connection in list(self.connections):
            connection.leave()
        tasks = [
            call.task for connection in self.connections for call in connection.calls.values()
            if call.task is not None
        ]  # fmt: skip
        if tasks:
            await asyncio.wait(tasks, timeout=grace)
        stopping = StatusError(grpc.StatusCode.UNAVAILABLE, "the server stops")
        left = [
            call for connection in self.connections for call in connection.calls.values()
            if call.task is not None and not call.task.done()
        ]  # fmt: skip
        for call in left:
            call.cancel(stopping)
        if left:
            await asyncio.wait([call.task for call in left if call.task is not None])
        for connection in list(self.connections):
            connection.close()
        if self._looking is not None:
            self._looking.cancel()

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            now = asyncio.get_running_loop().time()
            for connection in list(self.connections):
                self._look(connection, now)

    def _look(self, connection: Connection, now: float) -> None:
        """End what takes too long."""
        for call in list(connection.calls.values()):
            if call.deadline is None or now < call.deadline:
                continue
            if call.task is None or call.task.done():
                connection.drop(call)
            else:
                call.cancel(StatusError(
                    grpc.StatusCode.DEADLINE_EXCEEDED, "the time that the caller gave is over"
                ))
        stuck = connection.stuck_since()
        if stuck is not None and now - stuck > self._patience.stuck:
            connection.abort()
        elif not connection.calls:
            idle = now - connection.idle_since
            if not connection.established and idle > self._patience.handshake:
                connection.abort()
            elif idle > self._patience.idle + self._patience.stuck:
                connection.abort()  # it does not even take the word that it ends
            elif idle > self._patience.idle:
                connection.leave()
