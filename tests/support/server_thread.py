"""A gRPC server of a test, in an event loop and a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from typing import Self

import grpc

from zermelo.server.ports import free_port


class ServerThread:
    """Serves at `address` from the beginning of a `with` to its end."""

    def __init__(self) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(),))

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join()
        self._loop.close()

    def _open(self) -> grpc.aio.Server:
        """A server with its handlers; called in the thread."""
        raise NotImplementedError

    async def _close(self) -> None:
        """What is to do when the server has stopped."""

    async def _run(self) -> None:
        self._done = asyncio.Event()
        server = self._open()
        server.add_insecure_port(self.address)
        await server.start()
        self._ready.set()
        await self._done.wait()
        await server.stop(None)
        await self._close()
