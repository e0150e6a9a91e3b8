"""What the daemon is doing and why, as plain data for `zermelo client status`."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from zermelo import __version__

if TYPE_CHECKING:
    from zermelo.client.crew_member import CrewMember
    from zermelo.client.daemon import Daemon


def snapshot(daemon: Daemon) -> dict[str, Any]:
    state, reason = _state(daemon)
    limits = daemon.allowance.limits
    return {
        "version": __version__,
        "pid": os.getpid(),
        "server": daemon.settings.address.server,
        "host_name": daemon.settings.host_name,
        "state": state,
        "reason": reason,
        "seconds": round(time.monotonic() - daemon.started_at, 1),
        "in_use": daemon.allowance.in_use,
        "limits": {
            "cores": daemon.allowance.workers,
            "cpu_share": limits.cpu_share,
            "memory_mb": limits.memory_mb,
        },
        "speed": daemon.speed.current,
        "workers": [
            _worker(daemon, number, member)
            for number, member in enumerate(daemon.crew.members, 1)
        ],
        "waiting_workunits": len(daemon.ledger.waiting),
        "unsent_results": daemon.outbox.waiting,
        "handed_in": daemon.outbox.handed_in,
        "late": daemon.outbox.late,
        "disk_trouble": daemon.outbox.trouble,
        "standing": daemon.standing.known,
    }


def _state(daemon: Daemon) -> tuple[str, str]:
    """One word, and the sentence that explains it."""
    if daemon.stopping.begun:
        return "stopping", "finishing or saving what is running"
    if daemon.allowance.reason:
        return "paused", daemon.allowance.reason
    if daemon.connection.trouble:
        return ("working" if daemon.crew.busy else "offline"), daemon.connection.trouble
    if not daemon.welcome:
        return "connecting", f"talking to {daemon.settings.address.server}"
    if daemon.crew.busy:
        return "working", ""
    if daemon.crew.preparing:
        return "preparing", "opening the engine and measuring its speed"
    if daemon.intake.backoff.failures:
        return "waiting", "searches failed on this computer; trying again after a pause"
    return "waiting", _why_no_work(daemon)


def _why_no_work(daemon: Daemon) -> str:
    if not daemon.intake.no_work:
        return "waiting for the coordinator to have work"
    seconds = max(0, round(daemon.intake.retry_at - time.monotonic()))
    return f"{daemon.intake.no_work}; asking again" + (f" in {seconds} s" if seconds else "")


def _worker(daemon: Daemon, number: int, member: CrewMember) -> dict[str, Any]:
    facts: dict[str, Any] = {"number": number, "pid": member.pid, "search": None}
    held = member.held
    if held is None:
        facts["state"] = "preparing" if member.preparing else "free"
        return facts
    facts["state"] = (
        "stopping" if held.ending
        else "paused" if daemon.crew.stands_still(held)
        else "searching"
    )  # fmt: skip
    workunit = held.workunit
    facts["search"] = {
        "lease": held.lease,
        "game": workunit.game,
        "position": workunit.position.hex(),
        "history": workunit.history.hex(),
        "threshold": workunit.threshold,
        "nodes": held.nodes,
        "node_budget": workunit.node_budget,
        "done": held.permille / 1000,
        "seconds": round(held.seconds, 1),
        "speed": round(held.nodes_here / held.seconds) if held.seconds else 0,
        "lease_seconds": round(max(0.0, held.deadline - time.monotonic()), 1),
        "resumed": held.resume,
    }
    return facts
