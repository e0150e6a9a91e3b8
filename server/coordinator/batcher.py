"""Group commit: calls that wait at the same moment share one statement.

While one batch is in the database the next one gathers, so the busier the coordinator
is, the larger its batches and the cheaper each call. Where nobody is in a hurry batches also
begin at a distance, which makes them larger still, as long as there is a crowd: a call that
was alone keeps nobody waiting. The distance grows with what a statement takes, because a database
that is slow has much to do: several coordinators that share it would else send it twice as many
statements of half the size.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")


#: Of what is looked up by an index, one row a question.
MOST_AT_ONCE = 1000
LONGEST_QUEUE = 10_000
#: The rest after a batch, as a share of what it took, and the longest in seconds.
REST_SHARE, LONGEST_REST = 0.5, 0.2


class OverloadError(Exception):
    """More calls wait than can be served in reasonable time."""


class Batcher(Generic[Q, A]):
    """Serves questions in batches; `work` gives one answer per question, in their order."""

    def __init__(
        self,
        work: Callable[[list[Q]], Awaitable[list[A]]],
        *,
        weight: Callable[[Q], int] = lambda _: 1,
        most: int = MOST_AT_ONCE,
        longest: int = LONGEST_QUEUE,
        apart: float = 0.0,
    ) -> None:
        """A batch weighs at most `most`, unless a single question does; `longest` may wait.

        After a batch of several questions the next begins `apart` seconds later at least, and
        not before a rest of REST_SHARE of what the batch took.
        """
        self._work = work
        self._weight = weight
        self._most = most
        self._longest = longest
        self._apart = apart
        self._waiting: deque[tuple[Q, asyncio.Future[A]]] = deque()
        self._wake = asyncio.Event()

    async def __call__(self, question: Q) -> A:
        if len(self._waiting) >= self._longest:
            raise OverloadError
        future: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, future))
        self._wake.set()
        return await future

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        not_before = loop.time()
        while True:
            await self._wake.wait()
            if (pause := not_before - loop.time()) > 0:
                await asyncio.sleep(pause)
            batch = self._next_batch()
            began = loop.time()
            if not self._waiting:
                self._wake.clear()
            await self._serve(batch)
            if self._apart and len(batch) > 1:
                ended = loop.time()
                rest = min(REST_SHARE * (ended - began), LONGEST_REST)
                not_before = max(began + self._apart, ended + rest)

    def _next_batch(self) -> list[tuple[Q, asyncio.Future[A]]]:
        batch: list[tuple[Q, asyncio.Future[A]]] = []
        total = 0
        while self._waiting:
            total += self._weight(self._waiting[0][0])
            if batch and total > self._most:
                break
            batch.append(self._waiting.popleft())
        return batch

    async def _serve(self, batch: list[tuple[Q, asyncio.Future[A]]]) -> None:
        try:
            answers = await self._work([question for question, _ in batch])
        except Exception as error:
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), answer in zip(batch, answers, strict=True):
            if not future.done():
                future.set_result(answer)
