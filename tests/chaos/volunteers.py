"""Volunteers for the chaos: they send twice and out of order, and keep what was acknowledged."""

from __future__ import annotations

import contextlib
import random
import secrets
import threading
from typing import Any

import grpc

from zermelo.engine import Known, Status, Window, open_engine
from zermelo.games import Bounds, open_game
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service
from zermelo.proto.known import from_message

WORKERS = 4
SECONDS_A_CALL = 10
PAUSE = 0.2
#: How many results of the past may be sent again.
REMEMBERED = 50
STORED = (pb.Receipt.ACCEPTED, pb.Receipt.DUPLICATE, pb.Receipt.LATE)


class Volunteer:
    """One account with one host. Works until told to stop."""

    def __init__(self, port: int, spec: str, seed: int, lies: float = 0.0) -> None:
        self._address = f"127.0.0.1:{port}"
        self._chance = random.Random(seed)
        self._lies = lies
        self.key = secrets.token_bytes(16)
        self._token = ""
        self._engine = open_engine(open_game(spec), hash_mb=1)
        self._sent: list[pb.Result] = []
        self.acknowledged: set[int] = set()
        #: How many results the server was told again, and knew.
        self.duplicates = 0
        self._error: BaseException | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()

    def join(self) -> None:
        self._thread.join(120)
        assert not self._thread.is_alive()
        if self._error:
            raise self._error

    def _run(self) -> None:
        try:
            with grpc.insecure_channel(
                self._address, options=[("grpc.max_reconnect_backoff_ms", 500)]
            ) as channel:
                stub = service.CoordinatorStub(channel)
                while not self._stop.is_set():
                    with contextlib.suppress(grpc.RpcError):
                        self._register(stub)
                        self._hello(stub)
                        while not self._stop.is_set():
                            self._round(stub)
                    self._stop.wait(PAUSE)
        except BaseException as error:
            self._error = error

    def _register(self, stub: Any) -> None:
        if not self._token:
            self._token = stub.Register(pb.RegisterRequest(), timeout=SECONDS_A_CALL).token

    def _hello(self, stub: Any) -> None:
        self._call(stub.Hello, pb.HelloRequest(
            protocol_version=service.PROTOCOL_VERSION, host_key=self.key, workers=WORKERS,
            speed=100_000,
        )).result()

    def _call(self, method: Any, request: Any) -> Any:
        return method.future(
            request, timeout=SECONDS_A_CALL,
            metadata=((service.AUTHORIZATION, f"Bearer {self._token}"),),
        )

    def _round(self, stub: Any) -> None:
        work = self._call(stub.RequestWork, pb.RequestWorkRequest(
            host_key=self.key, wanted=WORKERS, wait_ms=500, speed=100_000
        )).result().workunits
        results = [self._solve(workunit) for workunit in work]
        results += self._chance.sample(self._sent, min(2, len(self._sent)))
        while results and not self._stop.is_set():
            if self._submit(stub, results):
                self._sent = [*self._sent, *results][-REMEMBERED:]
                return
            self._stop.wait(PAUSE)

    def _submit(self, stub: Any, results: list[pb.Result]) -> bool:
        """Everything twice at once, in another order, with progress told too late between."""
        calls = []
        for _ in range(2):
            self._chance.shuffle(results)
            calls.append(self._call(
                stub.SubmitResults, pb.SubmitResultsRequest(host_key=self.key, results=results)
            ))
            progress = [pb.LeaseProgress(lease_id=r.lease_id, nodes=r.nodes) for r in results]
            calls.append(self._call(
                stub.Heartbeat, pb.HeartbeatRequest(host_key=self.key, leases=progress)
            ))
        told = False
        for call in calls:
            with contextlib.suppress(grpc.RpcError):
                reply = call.result()
                if isinstance(reply, pb.SubmitResultsReply):
                    told = True
                    self._hear(reply)
        return told

    def _hear(self, reply: pb.SubmitResultsReply) -> None:
        for receipt in reply.receipts:
            if receipt.status in STORED:
                self.acknowledged.add(receipt.lease_id)
            self.duplicates += receipt.status == pb.Receipt.DUPLICATE

    def _solve(self, workunit: pb.Workunit) -> pb.Result:
        game = self._engine.game
        known = [
            Known(game.decode(item.key, item.history), Bounds(item.lo, item.hi))
            for item in from_message(workunit.known)
        ]
        self._engine.clear()
        answer = self._engine.solve(
            game.decode(workunit.position, workunit.history), Window.question(workunit.threshold),
            node_budget=workunit.node_budget, known=known,
        )
        word, bounds = pb.EXHAUSTED, answer.bounds
        if answer.status is Status.SOLVED:
            word = pb.YES if bounds.lo >= workunit.threshold else pb.NO
        if self._chance.random() < self._lies:
            if word == pb.YES:
                word, bounds = pb.NO, Bounds(game.score_range.lo, workunit.threshold - 1)
            else:
                word, bounds = pb.YES, Bounds(workunit.threshold, game.score_range.hi)
        return pb.Result(
            lease_id=workunit.lease_id, answer=word, lo=bounds.lo, hi=bounds.hi,
            nodes=answer.nodes, milliseconds=1,
        )
