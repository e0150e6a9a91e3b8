"""Many volunteers who keep to nothing, beside the other services, and a look at all that is left.

Queues, quotas and blocks of lease numbers are small here, so that their edges are met all the time.
What must hold at any moment is looked at meanwhile; that nothing is lost, or left in memory, when
everybody has come to rest.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import grpc
import pytest

from tests.support.coordinator import Host, answer, bearer, running_coordinator, wait_until
from zermelo.proto import coordinator_pb2 as pb
from zermelo.server.assimilator import assimilate
from zermelo.server.campaigns import Campaign, create_campaign, steer_campaign
from zermelo.server.coordinator import admission, hosts, main
from zermelo.server.coordinator import service as coordinator_service
from zermelo.server.coordinator.leases import LeaseManager, prefetch, queue, store
from zermelo.server.coordinator.rates import Rate
from zermelo.server.database import Connection, connect_once
from zermelo.server.trust import bans, records
from zermelo.server.trust.accounts import Role, open_account
from zermelo.server.validator import validate
from zermelo.server.vocabulary import CampaignState

USERS, HOSTS_OF_USER = 4, 3
QUOTA, QUOTA_OF_USER = 4, 7
LEASE_SECONDS = 1.0
MOST_SCORE = 16
MOST_OPEN = 40
#: Of a lease that nobody has.
UNKNOWN = 77


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> list[LeaseManager]:
    """Everything small, and the leases of all coordinators that are made."""
    managers: list[LeaseManager] = []

    class Known(LeaseManager):
        def __init__(self, *given: Any, **more: Any) -> None:
            super().__init__(*given, **more)
            managers.append(self)

    monkeypatch.setattr(main, "LeaseManager", Known)
    monkeypatch.setattr(main, "HOUSEKEEPING_SECONDS", 0.1)
    monkeypatch.setattr(store, "BLOCK", 16)
    monkeypatch.setattr(store, "LEAST_QUOTA", QUOTA_OF_USER)
    monkeypatch.setattr(store, "URGENT_SECONDS", 0.3)
    monkeypatch.setattr(store, "OVERDUE_SECONDS", 0.5)
    monkeypatch.setattr(queue, "MOST_WANTED_A_BATCH", 12)
    monkeypatch.setattr(coordinator_service, "LONGEST_SECONDS", 0.05)
    monkeypatch.setattr(prefetch, "LEAST", 4)
    monkeypatch.setattr(prefetch, "MOST", 12)
    monkeypatch.setattr(prefetch, "KEEP_SECONDS", 0.3)
    monkeypatch.setattr(records, "MOST_LEASES", QUOTA)
    monkeypatch.setattr(records, "MOST_LEASES_OF_USER", QUOTA_OF_USER)
    fast = Rate(per_second=1e6, burst=1e6)
    for module, rate in ((hosts, "HOST_RATE"), (hosts, "HELLO_RATE"), (admission, "ACCOUNT_RATE")):
        monkeypatch.setattr(module, rate, fast)
    return managers


class Volunteer(Host):
    """A client that keeps to nothing until `calm` is set, and then to everything."""

    def __init__(
        self, address: str, token: str, seed: float, calm: threading.Event, over: threading.Event
    ) -> None:
        super().__init__(address, hello=False)
        self._stub, self._token = self.stub, token
        self.stub = self  # type: ignore[assignment]
        self._chance = random.Random(seed)
        self._calm, self._over = calm, over
        self.held: dict[int, pb.Workunit] = {}
        self._sent: list[pb.Result] = []
        #: Every lease that it was given, and those of results that were accepted.
        self.given: list[int] = []
        self.accepted: list[int] = []
        self._known = False

    def __getattr__(self, rpc: str) -> Callable[..., Any]:
        """Calls with its token."""
        return lambda request, timeout: getattr(self._stub, rpc)(
            request, timeout=timeout, metadata=bearer(self._token)
        )

    def live(self) -> None:
        while not self._over.is_set():
            try:
                if not self._known:
                    self.hello(held_leases=list(self.held))
                    self._known = True
                if self._calm.is_set():
                    self._work()
                else:
                    self._chance.choice((
                        self._take, self._take, self._take, self._hang_up, self._hand_in,
                        self._hand_in, self._beat, self._go, self._forget, self._lie,
                        self._come_back,
                    ))()  # fmt: skip
            except grpc.RpcError:  # banned, or no database: there may be leases on their way
                self._known = False
                time.sleep(0.02)

    def _take(self) -> None:
        wait_ms = 200 if self._calm.is_set() else self._chance.choice((0, 0, 50, 300))
        for workunit in self.request(self._chance.randint(1, 5), wait_ms).workunits:
            self.given.append(workunit.lease_id)
            self.held[workunit.lease_id] = workunit

    def _hang_up(self) -> None:
        call = self._stub.RequestWork.future(
            pb.RequestWorkRequest(host_key=self.key, wanted=3, wait_ms=100), timeout=60,
            metadata=bearer(self._token),
        )  # fmt: skip
        time.sleep(self._chance.random() * 0.05)
        call.cancel()
        self._known = False

    def _some(self) -> list[pb.Workunit]:
        held = list(self.held.values())
        return self._chance.sample(held, self._chance.randint(0, len(held)))

    def _hand_in(self) -> None:
        results = [right(workunit) for workunit in self._some()]
        again = self._sent[-self._chance.randint(1, 3):] if self._chance.random() < 0.3 else []
        self._submit([*results, *again])

    def _submit(self, results: list[pb.Result]) -> None:
        self._sent += results
        for result, receipt in zip(results, self.submit(*results), strict=True):
            self.held.pop(result.lease_id, None)
            if receipt == pb.Receipt.ACCEPTED:
                self.accepted.append(result.lease_id)

    def _lie(self) -> None:
        wrong = [answer(item, lo=-MOST_SCORE, hi=-MOST_SCORE) for item in self._some()[:1]]
        self.submit(*wrong, pb.Result(lease_id=UNKNOWN, answer=pb.YES, lo=1, hi=1))

    def _beat(self) -> None:
        nodes = self._chance.randint(1, 1000)
        updates = self.beat(**{f"lease{lease}": nodes for lease in self.held})
        for update in updates:
            if update.directive == pb.LeaseUpdate.DROP:
                self.held.pop(update.lease_id, None)

    def _go(self) -> None:
        leases = [item.lease_id for item in self._some()]
        self.give_back(*leases, leaving=self._chance.random() < 0.2)
        for lease in leases:
            self.held.pop(lease, None)

    def _forget(self) -> None:
        for item in self._some():
            del self.held[item.lease_id]

    def _come_back(self) -> None:
        self._forget()
        self._known = False

    def _work(self) -> None:
        if self.held:
            self._submit([right(workunit) for workunit in self.held.values()])
        self._take()


def right(workunit: pb.Workunit) -> pb.Result:
    """The true answer: the value of every position here is 0."""
    if workunit.threshold > 0:
        return answer(workunit, answer=pb.NO, lo=-MOST_SCORE, hi=workunit.threshold - 1)
    return answer(workunit, hi=MOST_SCORE)


class Project:
    """A campaign of unconnected positions, and what happens to it."""

    def __init__(self, url: str, campaign: Campaign, chance: random.Random) -> None:
        self._url, self.campaign, self._chance = url, campaign, chance
        self.calm, self.over = threading.Event(), threading.Event()
        self._failures: list[BaseException] = []
        self._threads: list[threading.Thread] = []
        self.looks = 0

    def begin(self, *lives: Callable[[], None]) -> None:
        for life in lives:
            thread = threading.Thread(target=self._guarded, args=(life,))
            thread.start()
            self._threads.append(thread)

    def end(self) -> None:
        self.calm.set()
        self.over.set()
        for thread in self._threads:
            thread.join(120)
        if self._failures:
            raise self._failures[0]

    @property
    def failed(self) -> bool:
        return bool(self._failures)

    def _guarded(self, life: Callable[[], None]) -> None:
        try:
            life()
        except BaseException as error:
            self._failures.append(error)
            self.over.set()

    def add_work(self) -> None:
        """Little at a time, so that the queue is nearly always dry."""
        with connect_once(self._url) as connection:
            number = 0
            while not self.calm.wait(self._chance.random() * 0.02):
                if len(rows(connection, OPEN)) > MOST_OPEN:
                    continue
                few = self._chance.randint(1, 12)
                with connection.transaction():
                    connection.execute(
                        "WITH added AS (INSERT INTO nodes (id, parent, position, campaign, lo, hi)"
                        " SELECT n, %(root)s, position, campaign, lo, hi FROM nodes,"
                        " generate_series(%(first)s::bigint, %(last)s) AS n"
                        " WHERE nodes.id = %(root)s RETURNING id, campaign)"
                        " INSERT INTO workunits (node, campaign, threshold, priority, expected,"
                        " guess, plies_left, ply)"
                        " SELECT id, campaign, id %% 9 - 4, id %% 7, 1, 0, 12, 1 FROM added",
                        {"root": self.campaign.root, "first": number + 1, "last": number + few},
                    )
                    connection.execute("SELECT pg_notify('zermelo_ready', '')")
                number += few

    def judge(self) -> None:
        with connect_once(self._url) as connection:
            while not self.over.is_set():
                validate(connection)
                time.sleep(0.01)

    def assimilate(self) -> None:
        with connect_once(self._url) as connection:
            while not self.over.is_set():
                assimilate(connection, self.campaign)
                time.sleep(0.01)

    def operate(self) -> None:
        """Bans and pauses that do not last, and a database that loses connections."""
        with connect_once(self._url) as connection:
            while not self.calm.is_set():
                self.calm.wait(self._chance.random() * 0.8)
                self._chance.choice((self._ban, self._pause, self._cut_off))(connection)

    def _ban(self, connection: Connection) -> None:
        found = connection.execute("SELECT id FROM hosts ORDER BY random() LIMIT 1").fetchone()
        if found is not None:
            banned = bans.host_to_ban(connection, found[0])
            bans.ban(connection, banned, "", actor="operator")
            self.calm.wait(0.1)
            bans.lift(connection, banned, "", actor="operator")

    def _pause(self, connection: Connection) -> None:
        steer_campaign(connection, self.campaign, CampaignState.PAUSED)
        self.calm.wait(0.1)
        steer_campaign(connection, self.campaign, CampaignState.RUNNING)

    def _cut_off(self, connection: Connection) -> None:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = 'zermelo coordinator'"
            " ORDER BY random() LIMIT 1) AS chosen"
        )

    def look(self) -> None:
        """What must hold at any moment."""
        with connect_once(self._url) as connection:
            while not self.over.is_set():
                self.looks += 1
                assert rows(connection, TOO_MANY, QUOTA, QUOTA_OF_USER) == []
                assert rows(connection, TWICE) == []
                time.sleep(0.01)


OPEN = "SELECT id FROM workunits WHERE state NOT IN ('answered', 'withdrawn')"
TOO_MANY = """
SELECT h.user_id, h.id, count(*) FROM leases l JOIN hosts h ON h.id = l.host
WHERE l.state = 'open' GROUP BY GROUPING SETS ((h.user_id, h.id), (h.user_id))
HAVING h.id IS NOT NULL AND count(*) > %s
    OR h.id IS NULL AND count(*) > %s AND (SELECT bool_or(replication <> 'none') FROM campaigns)
"""
#: Where answers are compared: open leases for what the same user searches or has answered.
TWICE = """
SELECT l.workunit, h.user_id FROM leases l JOIN hosts h ON h.id = l.host
WHERE l.state IN ('open', 'returned') AND (SELECT bool_or(replication <> 'none') FROM campaigns)
GROUP BY l.workunit, h.user_id HAVING count(*) > 1 AND bool_or(l.state = 'open')
"""


def rows(connection: Connection, text: str, *values: Any) -> list[Any]:
    return connection.execute(text, values).fetchall()  # type: ignore[arg-type]


def left_in_memory(manager: LeaseManager) -> dict[str, Any]:
    """What a coordinator keeps of leases when nobody calls and nothing is prefetched."""
    kept, quota = manager._store, manager._quota
    return {name: value for name, value in {
        "unwritten": kept._unwritten, "behind": kept._behind, "holds": dict(kept._left),
        "ending": kept._ending, "doubtful": kept._doubtful, "calls": manager._queue._queue,
        "orphaned": manager._queue._orphaned, "prefetched": list(manager._prefetch._ready),
        "granted to hosts": quota._hosts._unwritten, "granted to users": quota._users._unwritten,
        "looked up": [*quota._hosts._look_ups, *quota._users._look_ups],
        # What is remembered never allows more than the database, which has no open leases.
        "too much": [
            known for remembered, most in (
                (quota._hosts, QUOTA), (quota._users, max(QUOTA_OF_USER, 4096))
            ) for known in remembered._known.values() if known.free > most
        ],
    }.items() if value}  # fmt: skip


@pytest.mark.parametrize(("replication", "probe_rate"), [("none", 0.0), ("quorum", 0.2)])
@pytest.mark.parametrize("leases", [100, pytest.param(5_000, marks=pytest.mark.long)])
def test_nothing_is_lost_given_twice_or_left_behind(
    database: str, connection: Connection, narrow: list[LeaseManager], replication: str,
    probe_rate: float, leases: int,
) -> None:  # fmt: skip
    seed = random.SystemRandom().random()
    print(f"seed {seed}")  # noqa: T201 - to live through the same again
    chance = random.Random(seed)
    connection.execute(f"ALTER TABLE hosts ALTER quota SET DEFAULT {QUOTA}")
    connection.execute(f"ALTER TABLE users ALTER quota SET DEFAULT {QUOTA_OF_USER}")
    campaign = create_campaign(
        connection, "reversi:4x4", replication=replication, quorum=2, probe_rate=probe_rate
    )
    project = Project(database, campaign, chance)
    with running_coordinator(
        database, lease_seconds=LEASE_SECONDS, require_token=True
    ) as address:
        volunteers = []
        for number in range(USERS):
            token = open_account(connection, f"user {number}", Role.VOLUNTEER, actor="operator")
            volunteers += [
                Volunteer(address, token, chance.random(), project.calm, project.over)
                for _ in range(HOSTS_OF_USER)
            ]
        try:
            project.begin(
                project.add_work, project.judge, project.assimilate, project.operate,
                project.look, *(volunteer.live for volunteer in volunteers),
            )
            wait_until(lambda: project.failed or leases <= sum(
                len(volunteer.given) for volunteer in volunteers
            ), 10 * leases)  # fmt: skip
            project.calm.set()
            wait_until(lambda: project.failed or not rows(connection, OPEN), 600)
        finally:
            project.end()
            for volunteer in volunteers:
                volunteer.close()
        wait_until(lambda: not rows(
            connection, "SELECT id FROM leases WHERE state = 'open' UNION ALL SELECT id FROM holds"
        ), 60)  # fmt: skip
        (manager,) = narrow
        wait_until(lambda: not left_in_memory(manager), 60)
    given = Counter(lease for volunteer in volunteers for lease in volunteer.given)
    assert max(given.values()) == 1
    stored = {lease for (lease,) in rows(connection, "SELECT id FROM leases")}
    assert set(given) <= stored
    accepted = {lease for volunteer in volunteers for lease in volunteer.accepted}
    assert accepted <= {lease for (lease,) in rows(connection, "SELECT lease FROM results")}
    assert project.looks
