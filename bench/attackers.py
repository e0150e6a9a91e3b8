"""Clients that attack while others work: what `attack.py` tries one by one, all at once.

    bombers     strangers that send 16 MB of empty fields, plain and compressed
    hoarders    take all that they get, report progress without end, never answer
    pollers     answer at once and ask for more 2.5 times a second, without waiting
    flooders    send the largest SubmitResults that is legal, for leases that do not exist
    hasty       the same, one after the other, whatever pause they are told: only where asked for
"""

from __future__ import annotations

import asyncio
import gzip
import random
import secrets
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from functools import cache, cached_property
from itertools import cycle
from pathlib import Path
from typing import Any

import grpc
import uvloop
from attack import BOMB, POLL_SECONDS, SUBMIT, results_of_nothing
from crowd import write_report
from pipeline import oracle
from plain_grpc import CallError, PlainChannel, path_of

from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service
from zermelo.proto.service import PROTOCOL_VERSION

HOARD_SECONDS, BOMB_SECONDS = 2.0, 1.0
ARRIVAL = 10.0
STATUS_NAMES = {code.value[0]: code.name for code in grpc.StatusCode}


class Attacker(ABC):
    """Calls by itself, so that the attacks take the server's time and not that of the machine."""

    #: Whether it waits as long as refusals tell it to.
    obeys = True

    def __init__(self, address: str, token: str, codes: Counter[str]) -> None:
        self._channel = PlainChannel(
            address, ((service.AUTHORIZATION, service.BEARER + token),)
        )
        self._address = address
        self._key = secrets.token_bytes(16)
        self._codes = codes
        self._end = 0.0

    async def live(self, end: float) -> None:
        self._end = end
        await asyncio.sleep(random.uniform(0, ARRIVAL))
        hello = pb.HelloRequest(protocol_version=PROTOCOL_VERSION, host_key=self._key, workers=1)
        await self._call("Hello", hello.SerializeToString())
        while time.monotonic() < end:
            await self.step()
        self._channel.close()

    @abstractmethod
    async def step(self) -> None:
        """One round of the attack."""

    async def _call(self, method: str, data: bytes) -> bytes | None:
        """The reply, if there is one."""
        return await self._try(self._channel.call(path_of(service.COORDINATOR, method), data))

    async def _try(self, call: Coroutine[Any, Any, bytes], kind: str = "") -> bytes | None:
        """The reply, if there is one; waits as long as it is told to, or until the end."""
        name = type(self).__name__.lower() + kind
        try:
            reply = await call
        except CallError as error:
            self._codes[f"{name} {STATUS_NAMES[error.status.code]}"] += 1
            told = error.status.trailing.get(service.RETRY_AFTER, "100") if self.obeys else "0"
        except ConnectionError:
            self._codes[f"{name} hung up"] += 1
            told = "100"
        else:
            self._codes[f"{name} OK"] += 1
            return reply
        await asyncio.sleep(min(int(told) / 1000, max(0.0, self._end - time.monotonic())))
        return None

    async def _take(self, wanted: int) -> list[pb.Workunit]:
        request = pb.RequestWorkRequest(host_key=self._key, wanted=wanted, speed=10**6)
        reply = await self._call("RequestWork", request.SerializeToString())
        return list(pb.RequestWorkReply.FromString(reply).workunits) if reply else []


class Bomber(Attacker):
    @cached_property
    def bare(self) -> PlainChannel:
        """Without a token."""
        return PlainChannel(self._address)

    @cached_property
    def small(self) -> PlainChannel:
        """For what was compressed once: doing it each time would take more than the server does."""
        return PlainChannel(self._address, (("grpc-encoding", "gzip"),))

    async def step(self) -> None:
        await self._try(self.bare.call(SUBMIT, BOMB))
        await asyncio.sleep(BOMB_SECONDS)
        await self._try(self.small.call(SUBMIT, packed_bomb(), compressed=True), ", gzip")
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
        reply = await self._call("Heartbeat", request.SerializeToString())
        for update in pb.HeartbeatReply.FromString(reply).leases if reply else ():
            if update.directive != pb.LeaseUpdate.CONTINUE:
                self.leases.pop(update.lease_id, None)


class Poller(Attacker):
    async def step(self) -> None:
        if workunits := await self._take(1):
            request = pb.SubmitResultsRequest(
                host_key=self._key, results=[oracle(workunit) for workunit in workunits]
            )
            await self._call("SubmitResults", request.SerializeToString())
        await asyncio.sleep(POLL_SECONDS)


class Flooder(Attacker):
    @cached_property
    def request(self) -> bytes:
        return results_of_nothing(self._key).SerializeToString()

    async def step(self) -> None:
        await self._call("SubmitResults", self.request)


class Hasty(Flooder):
    obeys = False


KINDS = {kind.__name__.lower(): kind for kind in (Bomber, Hoarder, Poller, Flooder, Hasty)}
#: Those that attack where nothing else is said.
USUAL = ("bomber", "hoarder", "poller", "flooder")


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
