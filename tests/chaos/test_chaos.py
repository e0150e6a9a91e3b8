"""Everything that can die dies, again and again, and the solve comes out the same.

A minute by default; ``ZERMELO_CHAOS_SECONDS=1800`` for the long run. The services run as one
`zermelo serve all` with its embedded PostgreSQL; the client is made up here, so that it can
record what was acknowledged, send twice and out of order, behind a proxy that cuts lines.
"""

from __future__ import annotations

import contextlib
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import psycopg

from tests.server.minimax import KNOWN_VALUES
from zermelo.engine import Known, Status, Window, open_engine
from zermelo.games import Bounds, open_game
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service
from zermelo.proto.known import from_message
from zermelo.server.campaigns import campaign_summary, create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection, DatabaseError, connect_once, ensure_schema
from zermelo.server.embedded import embedded_database
from zermelo.server.ports import free_port

SECONDS = float(os.environ.get("ZERMELO_CHAOS_SECONDS", "60"))
SEED = int(os.environ.get("ZERMELO_CHAOS_SEED", "1"))
SPEC = "reversi:4x5"
NODE_LIMIT = 60
PATIENCE = 180.0


class Proxy:
    """Forwards connections, and cuts them all when told to."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []
        self._cut_until = 0.0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, seconds: float) -> None:
        self._cut_until = time.monotonic() + seconds
        for end in self._open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            try:
                if time.monotonic() < self._cut_until:
                    raise OSError
                far = socket.create_connection(("127.0.0.1", self._target), timeout=5)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            self._open += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _pump(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                other.sendall(data)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.close()

    def close(self) -> None:
        self._listener.close()
        self.cut(0)


class Client:
    """Works until told to stop; keeps what it was told is stored."""

    def __init__(self, port: int, seed: int) -> None:
        self._address = f"127.0.0.1:{port}"
        self._chance = random.Random(seed)
        self._key = secrets.token_bytes(16)
        self._engine = open_engine(open_game(SPEC), hash_mb=1)
        self._stop = threading.Event()
        self.acknowledged: set[int] = set()
        self.error: BaseException | None = None
        self._sent: list[pb.Result] = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(60)
        assert not self._thread.is_alive()
        if self.error:
            raise self.error

    def _run(self) -> None:
        try:
            with grpc.insecure_channel(
                self._address, options=[("grpc.max_reconnect_backoff_ms", 500)]
            ) as channel:
                stub = service.CoordinatorStub(channel)
                while not self._stop.is_set():
                    try:
                        self._round(stub)
                    except grpc.RpcError as error:
                        if error.code() == grpc.StatusCode.UNAUTHENTICATED:
                            self._hello(stub)
                        self._stop.wait(0.2)
        except BaseException as error:
            self.error = error

    def _hello(self, stub: Any) -> None:
        with contextlib.suppress(grpc.RpcError):
            stub.Hello(pb.HelloRequest(
                protocol_version=service.PROTOCOL_VERSION, host_key=self._key, workers=4,
                nodes_per_second=100_000,
            ), timeout=5)

    def _round(self, stub: Any) -> None:
        request = pb.RequestWorkRequest(
            host_key=self._key, slots=4, wait_ms=500, nodes_per_second=100_000
        )
        results = [
            self._solve(workunit) for workunit in stub.RequestWork(request, timeout=10).workunits
        ]
        # Old ones again, and everything out of order: nothing of that may matter.
        results += self._chance.sample(self._sent, min(2, len(self._sent)))
        self._chance.shuffle(results)
        while results and not self._stop.is_set():
            try:
                reply = stub.SubmitResults(
                    pb.SubmitResultsRequest(host_key=self._key, results=results), timeout=10
                )
            except grpc.RpcError:
                self._stop.wait(0.2)
                continue
            stored = (pb.Receipt.ACCEPTED, pb.Receipt.DUPLICATE, pb.Receipt.LATE)
            self.acknowledged |= {
                receipt.lease_id for receipt in reply.receipts if receipt.status in stored
            }
            self._sent = [*self._sent, *results][-50:]
            return

    def _solve(self, workunit: pb.Workunit) -> pb.Result:
        game = self._engine.game
        known = [
            Known(game.decode(item.key, item.history), Bounds(item.lo, item.hi))
            for item in from_message(workunit.known)
        ]
        self._engine.clear()
        answer = self._engine.solve(
            game.decode(workunit.position, workunit.history), Window.question(workunit.threshold),
            node_limit=workunit.node_budget, known=known,
        )
        word = pb.EXHAUSTED
        if answer.status is Status.SOLVED:
            word = pb.YES if answer.bounds.lo >= workunit.threshold else pb.NO
        return pb.Result(
            lease_id=workunit.lease_id, answer=word, lo=answer.bounds.lo, hi=answer.bounds.hi,
            nodes=answer.nodes, milliseconds=1,
        )


@contextmanager
def serving(data_dir: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    with open(data_dir / "serve.log", "wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", "from zermelo.cli import main; main()", "serve", "all",
             "--data-dir", str(data_dir), "--listen", f"127.0.0.1:{port}", "--open-access",
             "--lease-seconds", "5"],
            stdout=log, stderr=log,
        )
    try:
        yield process
        assert process.poll() is None, (data_dir / "serve.log").read_text()[-2000:]
    finally:
        process.terminate()
        process.wait(60)


def children(pid: int) -> dict[int, str]:
    """The processes below one, with their names."""
    found = {}
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        with contextlib.suppress(OSError):
            found[int(child)] = Path(f"/proc/{child}/comm").read_text().strip()
    return found


def persist(url: str, work: Callable[[Connection], Any]) -> Any:
    """Do something with the database, however often it goes away meanwhile."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with connect_once(url) as connection:
                return work(connection)
        except (psycopg.OperationalError, DatabaseError):
            assert time.monotonic() < deadline, "the database does not come back"
            time.sleep(0.3)


class Chaos:
    def __init__(self, process: int, proxy: Proxy, url: str, seed: int) -> None:
        self._process, self._proxy, self._url = process, proxy, url
        self._chance = random.Random(seed)
        self.events: list[str] = []
        self._kinds = {
            "kill a service": self._kill_service, "kill PostgreSQL": self._kill_postgres,
            "cut the network": lambda: proxy.cut(1.0), "stall the disk": self._stall,
            "clock jumps ahead": lambda: self._jump(-3600),
            "clock jumps back": lambda: self._jump(60),
        }

    def strike(self) -> None:
        kind = self._chance.choice(list(self._kinds))
        self.events.append(kind)
        self._kinds[kind]()

    def _services(self) -> list[int]:
        return [pid for pid, name in children(self._process).items() if "zermelo" in name]

    def _postgres(self) -> list[int]:
        return [pid for pid, name in children(self._process).items() if name == "postgres"]

    def _kill_service(self) -> None:
        if services := self._services():
            _signal(self._chance.choice(services), signal.SIGKILL)

    def _kill_postgres(self) -> None:
        for pid in self._postgres():
            _signal(pid, signal.SIGKILL)

    def _stall(self) -> None:
        """Nothing gets through to the disk for a while."""
        below = [pid for master in self._postgres() for pid in [master, *children(master)]]
        for pid in below:
            _signal(pid, signal.SIGSTOP)
        time.sleep(1.0)
        for pid in below:
            _signal(pid, signal.SIGCONT)

    def _jump(self, seconds: int) -> None:
        """What a jump of the clock does: every deadline is suddenly nearer or farther."""
        persist(self._url, lambda connection: connection.execute(
            "UPDATE leases SET deadline = deadline + %s * interval '1 second'"
            " WHERE state = 'open'", (seconds,),
        ))


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def test_whatever_dies_the_value_is_the_same(open_path: Path) -> None:
    port = free_port()
    with embedded_database(open_path, create=True) as url:
        ensure_schema(url)  # the same address when `serve all` runs it
    with serving(open_path, port) as process:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            grpc.channel_ready_future(channel).result(PATIENCE)
        proxy = Proxy(port)
        clients = [Client(proxy.port, seed) for seed in range(2)]
        chaos = Chaos(process.pid, proxy, url, SEED)
        solved = 0
        names = []
        try:
            end = time.monotonic() + SECONDS
            while time.monotonic() < end or not solved:
                if len(names) == solved:
                    names.append(f"chaos {solved}")
                    persist(url, lambda connection, name=names[-1]: create_campaign(
                        connection, SPEC, name=name, node_limit=NODE_LIMIT
                    ))
                if time.monotonic() < end:
                    chaos.strike()
                time.sleep(chaos._chance.uniform(0.5, 3.0))
                assert persist(url, check_database) == [], chaos.events
                summary = persist(url, lambda c, name=names[-1]: campaign_summary(c, name))
                if summary.state == "finished":
                    assert summary.value == KNOWN_VALUES[SPEC], chaos.events
                    solved += 1
                assert time.monotonic() < end + PATIENCE, f"no end; {chaos.events}"
        finally:
            for client in clients:
                client.stop()
            proxy.close()
        stored = {row[0] for row in persist(
            url, lambda c: c.execute("SELECT lease FROM results").fetchall()
        )}
        acknowledged = set().union(*(client.acknowledged for client in clients))
        assert acknowledged
        assert acknowledged <= stored
        assert persist(url, check_database) == []
        assert persist(url, lambda c: c.execute("SELECT count(*) FROM alarms").fetchone()) == (0,)
    assert len(set(chaos.events)) > 1
