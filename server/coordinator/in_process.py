"""A coordinator without a network: the services' own code on one blocking connection.

For tests, simulations and programs that solve in one process. Workunits are chosen and assigned,
results, heartbeats and returned leases are taken exactly as by a coordinator that listens; what
is left out is what serves many callers at once: admission, batches, prefetch and waiting.

    >>> from zermelo.server.coordinator.in_process import InProcessCoordinator
    >>> coordinator = InProcessCoordinator(connection)
    >>> ada = coordinator.register("ada")
    >>> (lease,) = coordinator.request(ada)
    >>> lease.game.partition(",")[0], lease.threshold
    ('reversi:4x4', -15)
    >>> coordinator.submit([Returned(ada.id, lease.lease, "yes", -15, 16, nodes=10, seconds=0.1)])
    ['accepted']
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from zermelo.server.coordinator.account_store import Host, HostStore, Introduction
from zermelo.server.coordinator.leases import (
    Directive,
    Leased,
    Progress,
    Request,
    Returned,
)
from zermelo.server.coordinator.leases.assigner import Assigner
from zermelo.server.coordinator.leases.prefetch import Prefetch
from zermelo.server.coordinator.leases.quota import Quota
from zermelo.server.coordinator.leases.second_opinions import SecondOpinions
from zermelo.server.coordinator.leases.store import LeaseStore
from zermelo.server.coordinator.statements import ConnectionStatements, run_blocking
from zermelo.server.database import Connection

__all__ = ["Directive", "InProcessCoordinator", "Leased", "Progress", "Request", "Returned"]


class InProcessCoordinator:
    def __init__(
        self,
        connection: Connection,
        *,
        lease_seconds: float = 3600.0,
        limits_users: bool = False,
        probe_rate: float = 0.0,
    ) -> None:
        """Leases end `lease_seconds` after their last progress, when `expire` is called.

        With `limits_users` users have a quota, as hosts have. `probe_rate` is the part of the
        leases that are probes; it may be changed at any time.
        """
        self.probe_rate = probe_rate
        self._statements = ConnectionStatements(connection)
        self._hosts = HostStore(self._statements)
        self._store = LeaseStore(self._statements, lease_seconds=lease_seconds)
        self._quota = Quota(self._store, limits_users=limits_users)
        self._second_opinions = SecondOpinions(self._store)
        self._assigner = Assigner(
            self._store, self._quota, self._second_opinions, Prefetch(self._store)
        )

    def register(
        self, user: str, *, speed: float = 0.0, host_key_digest: uuid.UUID | None = None
    ) -> Host:
        """A host of the user of this name, both new unless they are there."""
        rows = run_blocking(self._statements.run("ensure_user", {"name": user}))
        introduction = Introduction(
            rows[0][0], host_key_digest or uuid.uuid4(), name="", version="", workers=1, speed=speed
        )
        (host,) = run_blocking(self._hosts.register_hosts([introduction]))
        return host

    def request(self, host: Host, wanted: int = 1, speed: float = 0.0) -> list[Leased]:
        """Leases of at most `wanted` workunits for a host of this speed."""
        return self.request_for_all([Request(host.id, host.user, wanted, speed)])

    def request_for_all(self, requests: Sequence[Request]) -> list[Leased]:
        """Leases for calls that come at the same moment, in the order of the calls."""
        # Nobody notifies it of changes, so nothing is remembered between calls.
        self._quota.forget()
        self._second_opinions.work_may_be_ready()
        self._second_opinions.probe_rate = self.probe_rate
        run_blocking(self._second_opinions.renew_probes())
        leased, _ = run_blocking(self._assigner.assign(requests))
        return leased

    def submit(self, results: Sequence[Returned]) -> list[str]:
        """The receipt of each: accepted, duplicate, late, unknown or contradictory."""
        return run_blocking(self._store.submit(results))

    def heartbeat(self, progress: Sequence[Progress]) -> list[Directive]:
        """What to do about each lease; those with progress live on."""
        return run_blocking(self._store.heartbeat(progress))

    def give_back(self, progress: Sequence[Progress]) -> int:
        """End leases unfinished; how many of them were still open."""
        return run_blocking(self._store.give_back(progress))

    def expire(self) -> int:
        """End leases that reached their deadline; how many."""
        return run_blocking(self._store.expire())

    def ask_overdue_again(self) -> int:
        """Let others answer what takes a host far too long; how many workunits."""
        return run_blocking(self._store.ask_overdue_again())
