"""How much a process gives way to everything else on the computer."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_NICE = {"lowest": 19, "low": 10, "below-normal": 3, "normal": 0}


def set_priority(pid: int, priority: str) -> None:
    """As far as the system lets us: to rise again can need more rights than to fall."""
    done: set[int] = set()
    # A thread that begins meanwhile may have inherited what its parent had before.
    while threads := _threads(pid) - done:
        for thread in threads:
            with suppress(PermissionError, ProcessLookupError):
                _set_priority_of_thread(thread, priority)
        done |= threads


def _set_priority_of_thread(thread: int, priority: str) -> None:
    if hasattr(os, "SCHED_IDLE"):
        # Runs only when nothing else wants to, where nice 19 still takes its small share.
        policy = os.SCHED_IDLE if priority == "lowest" else os.SCHED_OTHER
        os.sched_setscheduler(thread, policy, os.sched_param(0))
    os.setpriority(os.PRIO_PROCESS, thread, _NICE[priority])


def _threads(pid: int) -> set[int]:
    """On Linux each thread has a priority of its own; elsewhere the process has one."""
    try:
        return {int(thread.name) for thread in Path("/proc", str(pid), "task").iterdir()}
    except OSError:
        return {pid}
