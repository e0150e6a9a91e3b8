"""Clients that attack while others work: what `attack.py` tries one by one, all at once.

    bombers     strangers that send 16 MB of empty fields, plain and compressed
    hoarders    take all that they get, report progress without end, never answer
    pollers     answer at once and ask for more 2.5 times a second, without waiting
    flooders    send the largest SubmitResults that is legal, for leases that do not exist
"""

from __future__ import annotations

import asyncio
import gzip
import random
import secrets
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from itertools import cycle
from pathlib import Path
from typing import Any

import grpc
import uvloop
from attack import BOMB, POLL_SECONDS, SUBMIT, hello, results_of_nothing
from crowd import write_report
from pipeline import oracle
from plain_grpc import CallError, PlainChannel

from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service
from zermelo.proto.service import CoordinatorStub

HOARD_SECONDS, BOMB_SECONDS = 2.0, 1.0
ARRIVAL = 10.0
MOST_BYTES = 2 * len(BOMB)


class Attacker(ABC):
    def __init__(self, address: str, token: str, codes: Counter[str]) -> None:
        self._channel = grpc.aio.insecure_channel(address, options=[
            ("grpc.use_local_subchannel_pool", 1), ("grpc.max_send_message_length", MOST_BYTES)
        ])  # fmt: skip
        self._stub = CoordinatorStub(self._channel)
        self._more = {
            "metadata": ((service.AUTHORIZATION, service.BEARER + token),), "timeout": 60
        }
        self._address = address
        self._key = secrets.token_bytes(16)
        self._codes = codes
        self._end = 0.0

    async def live(self, end: float) -> None:
        self._end = end
        await asyncio.sleep(random.uniform(0, ARRIVAL))
        await self._try(hello(self._stub, self._more["metadata"], self._key))
        while time.monotonic() < end:
            await self.step()
        await self._channel.close()

    @abstractmethod
    async def step(self) -> None:
        """One round of the attack."""

    async def _try(self, call: Any) -> Any:
        """The reply, if there is one; waits as long as it is told to, or until the end."""
        name = type(self).__name__.lower()
        try:
            reply = await call
        except grpc.aio.AioRpcError as error:
            self._codes[f"{name} {error.code().name}"] += 1
            told = dict(error.trailing_metadata() or ()).get(service.RETRY_AFTER, "100")
            await asyncio.sleep(min(int(told) / 1000, max(0.0, self._end - time.monotonic())))
            return None
        self._codes[f"{name} OK"] += 1
        return reply

    async def _take(self, wanted: int) -> list[pb.Workunit]:
        request = pb.RequestWorkRequest(host_key=self._key, wanted=wanted, speed=10**6)
        reply = await self._try(self._stub.RequestWork(request, **self._more))
        return list(reply.workunits) if reply else []


class Bomber(Attacker):
    @cached_property
    def small(self) -> PlainChannel:
        """For what was compressed once: doing it each time would take more than the server does."""
        return PlainChannel(self._address, (("grpc-encoding", "gzip"),))

    async def step(self) -> None:
        await self._try(self._channel.unary_unary(SUBMIT)(BOMB, timeout=60))
        await asyncio.sleep(BOMB_SECONDS)
        try:
            await self.small.call(SUBMIT, packed_bomb(), compressed=True)
        except CallError as error:
            self._codes[f"bomber, gzip {error.status.code}"] += 1
        except ConnectionError:
            self._codes["bomber, gzip hung up"] += 1
        await asyncio.sleep(BOMB_SECONDS)


@cache
def packed_bomb() -> bytes:
    return gzip.compress(BOMB)


class Hoarder(Attacker):
    @cached_property
    def leases(self) -> dict[int, int]:
        """The leases that it holds, with the nodes that it says it searched."""
        return {}

    async def step(self) -> None:
        for workunit in await self._take(256):
            self.leases[workunit.lease_id] = 0
        await asyncio.sleep(HOARD_SECONDS)
        for lease in self.leases:
            self.leases[lease] += 10_000
        progress = [
            pb.LeaseProgress(lease_id=lease, nodes=nodes)
            for lease, nodes in list(self.leases.items())[:1024]
        ]
        request = pb.HeartbeatRequest(host_key=self._key, leases=progress)
        reply = await self._try(self._stub.Heartbeat(request, **self._more))
        for update in reply.leases if reply else ():
            if update.directive != pb.LeaseUpdate.CONTINUE:
                self.leases.pop(update.lease_id, None)


class Poller(Attacker):
    async def step(self) -> None:
        if workunits := await self._take(1):
            request = pb.SubmitResultsRequest(
                host_key=self._key, results=[oracle(workunit) for workunit in workunits]
            )
            await self._try(self._stub.SubmitResults(request, **self._more))
        await asyncio.sleep(POLL_SECONDS)


class Flooder(Attacker):
    @cached_property
    def request(self) -> pb.SubmitResultsRequest:
        return results_of_nothing(self._key)

    async def step(self) -> None:
        await self._try(self._stub.SubmitResults(self.request, **self._more))


KINDS = {kind.__name__.lower(): kind for kind in (Bomber, Hoarder, Poller, Flooder)}


async def attack(
    address: str, tokens: list[str], kinds: Sequence[str], end: float
) -> Counter[str]:
    """Attack with one client for each token, of these kinds in turn; the statuses they got."""
    codes: Counter[str] = Counter()
    await asyncio.gather(*(
        KINDS[kind](address, token, codes).live(end)
        for kind, token in zip(cycle(kinds), tokens, strict=False)
    ))
    return codes


def attackers_process(
    address: str, tokens: list[str], kinds: Sequence[str], seconds: float, out: Path
) -> Callable[[], None]:
    def main() -> None:
        write_report(uvloop.run(attack(address, tokens, kinds, time.monotonic() + seconds)), out)

    return main
