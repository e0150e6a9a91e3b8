"""The coordinator's side of the database where it concerns hosts and their work."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence

from zermelo.server.coordinator.matching import (
    Again,
    Assignment,
    Slot,
    lease_parameters,
    leases_of_block,
)
from zermelo.server.coordinator.rows import (
    Beat,
    Directive,
    Given,
    Held,
    HoldId,
    Host,
    HostId,
    Leased,
    LeaseId,
    Returned,
    Seen,
    array,
    columns,
)
from zermelo.server.coordinator.statements import Statements
from zermelo.server.trust.accounts import UserId

#: Nodes a second of a host that has not said how fast it is.
DEFAULT_SPEED = 100_000.0


class CoordinatorStore:
    def __init__(
        self, statements: Statements, *, lease_seconds: float, limits_users: bool = True
    ) -> None:
        self._statements = statements
        self._lease_seconds = lease_seconds
        #: Whether users have quotas; where all callers share an account it has none.
        self.limits_users = limits_users
        self.lease_ms = round(lease_seconds * 1000)

    # -- hosts --------------------------------------------------------------------------

    async def register_host(
        self,
        user: UserId,
        instance: uuid.UUID,
        *,
        name: str,
        version: str,
        slots: int,
        speed: float,
        held: Sequence[LeaseId],
    ) -> Host:
        rows = await self._statements.run(
            "register_host",
            {
                "user": user, "instance": instance, "name": name, "version": version,
                "slots": slots, "speed": speed,
            },
        )  # fmt: skip
        host = Host(*rows[0][:4])
        await self.return_other_leases(host.id, held)
        return host

    async def find_hosts(self, instances: Sequence[uuid.UUID]) -> list[Host | None]:
        """The hosts that these are, in their order."""
        rows = await self._statements.run("find_hosts", {"instances": instances})
        found = {instance: Host(*facts) for instance, *facts in rows}
        return [found.get(instance) for instance in instances]

    async def hosts_seen(self, seen: Mapping[HostId, Seen]) -> list[tuple[HostId, float]]:
        """Note what the calls of hosts told; the speed of each by what is known now."""
        if not seen:
            return []
        told = seen.values()
        return await self._statements.promise(
            "hosts_seen",
            {
                "hosts": list(seen), "speeds": [item.speed for item in told],
                "nodes": [item.nodes for item in told],
                "seconds": [item.seconds for item in told],
            },
        )  # fmt: skip

    # -- work ---------------------------------------------------------------------------

    async def running_games(self) -> list[str]:
        return [row[0] for row in await self._statements.run("running_games", {})]

    async def lease_terms(self, hosts: Sequence[HostId]) -> list[tuple[HostId, UserId, int]]:
        """Whose hosts these are, and how many more leases each may have."""
        return await self._statements.run("lease_terms", {"hosts": hosts})

    async def user_terms(self, users: Sequence[UserId]) -> list[tuple[UserId, int]]:
        """How many more leases all hosts of each user may have together."""
        return await self._statements.run("user_terms", {"users": users})

    async def quota_used_up(self, host: Host) -> str:
        """Whose quota leaves no room for another lease of this host; empty if there is room."""
        if not any(free for _, _, free in await self.lease_terms([host.id])):
            return "this host"
        if self.limits_users and not any(free for _, free in await self.user_terms([host.user])):
            return "all hosts of this account together"
        return ""

    async def workunits_asked_again(self, most: int) -> list[Again]:
        """Questions that wait for another user's answer, most urgent first."""
        rows = await self._statements.run("workunits_asked_again", {"most": most})
        return [Again(*row) for row in rows]

    async def probes(self, most: int) -> list[Again]:
        """Questions whose answer several users agreed on, the latest first."""
        return [Again(*row) for row in await self._statements.run("probes", {"most": most})]

    async def probe_rate(self) -> float:
        """How many of the leases shall be questions with a known answer."""
        return float((await self._statements.run("probe_rate", {}))[0][0])

    async def reserve_leases(self) -> range:
        """Lease numbers that nobody ever used or will use but who called this."""
        return leases_of_block((await self._statements.run("reserve_leases", {}))[0][0])

    async def lease_workunits(
        self, slots: Sequence[Slot], assigned: Sequence[Assignment], first: LeaseId
    ) -> list[Leased]:
        """Leases for slots, numbered from `first`; some get a question chosen for them."""
        rows = await self._statements.promise(
            "lease_workunits",
            lease_parameters(slots, first, assigned)
            | {"default_speed": DEFAULT_SPEED, "lease_seconds": self._lease_seconds},
        )
        return [Leased(*row) for row in rows]

    async def ask_for_more(self) -> None:
        await self._statements.promise("ask_for_more", {})

    async def campaigns_open(self) -> tuple[int, int, bool]:
        """How many campaigns run, how many are paused, and whether other users are waited for."""
        rows = await self._statements.run("no_work_reason", {})
        return rows[0][0], rows[0][1], rows[0][2]

    # -- work held for the next calls -----------------------------------------------------

    async def hold_workunits(self, most: int, seconds: float) -> list[Held]:
        """Take ready workunits out of the queue, most urgent first, for so long at most."""
        rows = await self._statements.promise(
            "hold_workunits", {"most": most, "hold_seconds": seconds}
        )
        return [Held(*row) for row in rows]

    async def lease_held(self, given: Sequence[Given], spent: Sequence[HoldId]) -> None:
        """Write down leases of held workunits, and end the holds that are used up."""
        written = columns(given, Given)
        await self._statements.promise(
            "lease_held",
            {
                "holds": written["hold"],
                "leases": written["lease"],
                "workunits": written["workunit"],
                "hosts": written["host"],
                "budgets": written["budget"],
                "spent": array(spent),
                "lease_seconds": self._lease_seconds,
            },
        )

    async def end_holds(self, holds: Sequence[HoldId] = ()) -> int:
        """Back to the queue with what nobody took out of these holds, and of overdue ones."""
        rows = await self._statements.promise("end_holds", {"holds": list(holds)})
        return int(rows[0][0])

    # -- what comes back ------------------------------------------------------------------

    async def submit_results(self, results: Sequence[Returned]) -> list[str]:
        """The receipt of each: accepted, duplicate, late, unknown or contradictory."""
        sent = columns(results, Returned)
        rows = await self._statements.run(
            "submit_results",
            {
                "hosts": sent["host"],
                "leases": sent["lease"],
                "answers": sent["answer"],
                "los": sent["lo"],
                "his": sent["hi"],
                "nodes": sent["nodes"],
                "seconds": sent["seconds"],
                "proved": sent["proved"],
            },
        )
        await self._statements.promise("tell_of_results", {})
        receipts = {place: receipt for place, receipt, _ in rows}
        return [receipts.get(place, "unknown") for place in range(1, len(results) + 1)]

    async def heartbeat(self, beats: Sequence[Beat]) -> list[Directive]:
        sent = columns(beats, Beat)
        rows = await self._statements.promise(
            "heartbeat",
            {
                "hosts": sent["host"],
                "leases": sent["lease"],
                "nodes": sent["nodes"],
                "lease_seconds": self._lease_seconds,
            },
        )
        directives = {row[0]: Directive(*row[1:]) for row in rows}
        return [
            directives.get(place) or Directive(beat.lease, "unknown", 0, None, None)
            for place, beat in enumerate(beats, 1)
        ]

    async def return_leases(self, beats: Sequence[Beat]) -> set[LeaseId]:
        """End leases unfinished; those that were still open."""
        sent = columns(beats, Beat)
        rows = await self._statements.run(
            "return_leases",
            {"hosts": sent["host"], "leases": sent["lease"], "nodes": sent["nodes"]},
        )
        return {row[0] for row in rows}

    async def return_other_leases(self, host: HostId, held: Sequence[LeaseId]) -> None:
        """End every open lease of a host but those it holds on to."""
        await self._statements.run("return_other_leases", {"host": host, "held": list(held)})

    async def expire_leases(self) -> int:
        rows = await self._statements.promise("expire_leases", {})
        return int(rows[0][0])
