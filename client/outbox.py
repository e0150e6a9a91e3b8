"""What goes to the server: finished results by way of the disk, and leases given back."""

from __future__ import annotations

import asyncio
import logging
from typing import NamedTuple

from zermelo.client.checkpoints import Checkpoints
from zermelo.client.connection import Connection
from zermelo.client.spool import Spool
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import requests

log = logging.getLogger(__name__)

MOST_A_CALL = 256
#: Results a call by their size: less than a request may have.
MOST_BYTES_A_CALL = requests.MAX_REQUEST_BYTES // 2
RESULT_OVERHEAD = 16
PAUSE_WITHOUT_RECEIPT = 5.0
#: Why a lease goes back, in bytes.
LONGEST_MESSAGE = 512


class Finished(NamedTuple):
    result: pb.Result
    #: Its question, which may have a checkpoint.
    workunit: pb.Workunit | None


class Outbox:
    def __init__(self, spool: Spool, checkpoints: Checkpoints, connection: Connection) -> None:
        self._spool = spool
        self._checkpoints = checkpoints
        self._connection = connection
        self._fresh: list[Finished] = []
        self._returns: list[pb.ReturnedLease] = []
        self._fresh_came = asyncio.Event()
        self._unsent = asyncio.Event()
        self._disk = asyncio.Lock()
        self._ours: set[int] = set()
        #: Results of this run that the server has, and how many it had no use for.
        self.handed_in = 0
        self.late = 0
        self.refused = 0
        #: Set whenever something was sent, and whenever the server has taken results.
        self.sent = asyncio.Event()
        self.receipts = asyncio.Event()
        if len(spool):
            self._unsent.set()

    @property
    def leases(self) -> list[int]:
        """The leases whose results are on their way."""
        return [*self._spool.leases, *(fresh.result.lease_id for fresh in self._fresh)]

    @property
    def waiting(self) -> int:
        return len(self._spool) + len(self._fresh)

    @property
    def trouble(self) -> str:
        return self._spool.trouble

    def put(self, result: pb.Result, workunit: pb.Workunit | None) -> None:
        self._ours.add(result.lease_id)
        self._fresh.append(Finished(result, workunit))
        self._fresh_came.set()

    def give_back(
        self, lease: int, nodes: int, cause: pb.ReturnedLease.Cause, message: str = ""
    ) -> None:
        # Cut by bytes, as the server counts: one too long would have the whole call refused.
        message = message.encode()[:LONGEST_MESSAGE].decode(errors="ignore")
        self._returns.append(
            pb.ReturnedLease(lease_id=lease, nodes=nodes, cause=cause, message=message)
        )
        self._unsent.set()

    async def write(self) -> None:
        """Put results on disk as they come, also while the server is away."""
        while True:
            await self._fresh_came.wait()
            await self.store()

    async def send(self) -> None:
        """Hand in whatever is finished."""
        while True:
            await self._unsent.wait()
            self._unsent.clear()
            await self._send()

    async def empty(self) -> None:
        """Write and send everything there is, now."""
        await self.store()
        await self._send()

    async def store(self) -> None:
        """Put the results that are not on disk there."""
        async with self._disk:
            self._fresh_came.clear()
            batch = list(self._fresh)
            if batch:
                await self._spool.put([fresh.result for fresh in batch])
                del self._fresh[: len(batch)]
                self._unsent.set()
                if not self._spool.trouble:
                    # Only now: until the result was on disk they were all there was of it.
                    self._forget_checkpoints(batch)

    def _forget_checkpoints(self, batch: list[Finished]) -> None:
        for fresh in batch:
            if fresh.workunit is not None:
                self._checkpoints.remove(fresh.workunit)

    async def _send(self) -> None:
        while batch := _fitting(self._spool.oldest(MOST_A_CALL)):
            reply = await self._connection.submit_results(batch)
            self._count(reply)
            receipts = {receipt.lease_id for receipt in reply.receipts}
            async with self._disk:
                # Forgotten only now: until the receipt came they were ours to keep.
                self._spool.acknowledged(receipts)
            self.sent.set()
            if receipts:
                self.receipts.set()
            if not receipts.issuperset(result.lease_id for result in batch):
                log.warning("the coordinator sent no receipt for some results; sending them again")
                await asyncio.sleep(PAUSE_WITHOUT_RECEIPT)
        while self._returns:
            returns = self._returns[:MOST_A_CALL]
            await self._connection.return_work(returns)
            del self._returns[: len(returns)]
            self.sent.set()

    def _count(self, reply: pb.SubmitResultsReply) -> None:
        for receipt in reply.receipts:
            if receipt.lease_id in self._ours:
                self._ours.remove(receipt.lease_id)
                self.handed_in += 1
            if receipt.status == pb.Receipt.REFUSED:
                self.refused += 1
                log.error("result %d was refused: %s", receipt.lease_id, receipt.message)
            elif receipt.status == pb.Receipt.LATE:
                self.late += 1


def _fitting(results: list[pb.Result]) -> list[pb.Result]:
    """As many of the first results as one request may hold, at least one."""
    size = 0
    for count, result in enumerate(results):
        size += result.ByteSize() + RESULT_OVERHEAD
        if size > MOST_BYTES_A_CALL and count:
            return results[:count]
    return results
