"""Live news: one connection listens for all viewers, and each update is made once.

A *topic* is what a page shows live; its *snapshot* is a fragment of HTML for each part of the
page. All viewers of a topic get the same bytes: only the parts that changed, or everything if
one missed an update. Nobody listens while nobody watches.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress

import psycopg
from psycopg import sql
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from zermelo.retry import Retry, first_line
from zermelo.server.database import DATABASE, is_outage
from zermelo.server.tasks import end
from zermelo.server.vocabulary import Channel
from zermelo.web.errors import TroubleError
from zermelo.web.security import household

log = logging.getLogger(__name__)

CHANNELS = (Channel.TREE, Channel.CAMPAIGNS)
#: Updates of a topic are at least this far apart.
LEAST_SECONDS = 0.5
#: With more viewers than this many for each second, updates are further apart.
VIEWERS_A_SECOND = 1000
#: Making snapshots takes at most this share of the time of one thread.
MOST_SHARE = 0.2
#: Without news a snapshot is taken this often: speeds and searches change all the same.
IDLE_SECONDS = 5.0
#: A stream without news says that it lives, so that proxies keep it.
QUIET_SECONDS = 20.0
MOST_VIEWERS = 5000
#: For the last news before the end.
LAST_SECONDS = 2.0

#: The parts of a page by name, as HTML.
Snapshot = dict[str, str]
#: What makes the snapshot of a topic.
Take = Callable[[str], Awaitable[Snapshot]]

ALIVE = b": alive\n\n"


class Room:
    """The viewers of one topic."""

    def __init__(self) -> None:
        self.viewers = 0
        self.number = 0
        self.parts: Snapshot = {}
        self.change = b""
        self.whole = b""
        self.told_at = 0.0
        self._news = asyncio.Event()

    def publish(self, parts: Snapshot) -> None:
        changed = {name: html for name, html in parts.items() if self.parts.get(name) != html}
        if not changed and time.monotonic() - self.told_at < QUIET_SECONDS:
            return
        self.parts, self.change, self.whole = parts, encode(changed) or ALIVE, encode(parts)
        self.number += 1
        self.told_at = time.monotonic()
        self.wake()

    def wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def news(self) -> None:
        await self._news.wait()


def encode(parts: Snapshot) -> bytes:
    """Server-sent events, one for each part."""
    events = []
    for name, html in parts.items():
        lines = "\n".join(f"data: {line}" for line in html.splitlines() if line.strip())
        events.append(f"event: {name}\n{lines}\n\n")
    return "".join(events).encode()


class Hub:
    def __init__(self, url: str, take: Take, streams_per_address: int) -> None:
        self._url, self._take, self._most = url, take, streams_per_address
        self._rooms: dict[str, Room] = {}
        self._addresses: Counter[str] = Counter()
        self._watched = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.closing = False

    @property
    def viewers(self) -> int:
        return sum(room.viewers for room in self._rooms.values())

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Tell the last news, then end every stream."""
        if not self.closing and self._rooms:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._tell(), LAST_SECONDS)
            await asyncio.sleep(0)  # lets the viewers send it
        self.closing = True
        for room in self._rooms.values():
            room.wake()
        if self._task is not None:
            await end([self._task])

    def admit(self, scope: Scope) -> None:
        """`TroubleError` where one more stream is too many."""
        if self._addresses[household(scope)] >= self._most or self.viewers >= MOST_VIEWERS:
            raise TroubleError(
                503, "Busy", "Too many live pages are open; this one stays as it is."
            )

    def open_room(self, topic: str, parts: Snapshot) -> None:
        """Begin a topic with what is known of it, so that its first viewer need not wait."""
        if topic not in self._rooms:
            self._rooms[topic] = Room()
            self._rooms[topic].publish(parts)

    def has_room(self, topic: str) -> bool:
        return topic in self._rooms

    async def watch(
        self, topic: str, scope: Scope, send: Callable[[bytes], Awaitable[None]]
    ) -> None:
        """Send a viewer what happens, until the hub ends or the task is cancelled."""
        room = self._rooms.setdefault(topic, Room())
        room.viewers += 1
        self._addresses[household(scope)] += 1
        self._watched.set()
        seen = 0
        try:
            while not self.closing:
                if room.number != seen:
                    text = room.change if room.number == seen + 1 else room.whole
                    seen = room.number
                    await send(text)
                else:
                    await room.news()
        finally:
            room.viewers -= 1
            self._addresses[household(scope)] -= 1
            self._addresses += Counter()  # forgets those that are zero
            if not room.viewers:
                self._rooms.pop(topic, None)

    # -- inside ---------------------------------------------------------------------------

    async def _run(self) -> None:
        retry = Retry("no live news", psycopg.Error, log=log, outage=DATABASE)

        async def listen() -> None:
            self._watched.clear()
            if not self._rooms:
                await self._watched.wait()
            await self._listen(retry)

        await retry.forever(listen)

    async def _listen(self, retry: Retry[psycopg.Error]) -> None:
        """Follow the notifications as long as somebody watches."""
        connection = await psycopg.AsyncConnection.connect(
            self._url, autocommit=True, application_name="zermelo web"
        )
        async with connection:
            for channel in CHANNELS:
                await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
            while self._rooms:
                took = await self._tell()
                retry.reset()
                apart = max(LEAST_SECONDS, self.viewers / VIEWERS_A_SECOND, took / MOST_SHARE)
                await asyncio.sleep(apart - took)
                async for _ in connection.notifies(timeout=IDLE_SECONDS, stop_after=1):
                    pass

    async def _tell(self) -> float:
        """New snapshots for all topics; how long that took."""
        began = time.monotonic()
        for topic, room in list(self._rooms.items()):
            try:
                room.publish(await self._take(topic))
            except Exception as error:
                # The page shows an old state, and other topics go on. An outage is told once.
                level = logging.DEBUG if is_outage(error) else logging.WARNING
                log.log(level, "no news of %s: %s", topic, first_line(error))
        return time.monotonic() - began


class EventStream(Response):
    """Server-sent events of a topic, until the viewer leaves."""

    media_type = "text/event-stream"

    def __init__(self, hub: Hub, topic: str) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._hub, self._topic = hub, topic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({
            "type": "http.response.start", "status": self.status_code,
            "headers": self.raw_headers,
        })  # fmt: skip

        async def send_text(text: bytes) -> None:
            await send({"type": "http.response.body", "body": text, "more_body": True})

        watching = asyncio.create_task(self._hub.watch(self._topic, scope, send_text))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait({watching, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (watching, leaving):
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        with suppress(OSError):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
