"""How much a process gives way to everything else on the computer."""

from __future__ import annotations

import os
from contextlib import suppress

_NICE = {"lowest": 19, "low": 10, "below-normal": 3, "normal": 0}


def set_priority(pid: int, priority: str) -> None:
    """As far as the system lets us: to rise again can need more rights than to fall."""
    with suppress(PermissionError, ProcessLookupError):
        if hasattr(os, "SCHED_IDLE"):
            # Runs only when nothing else wants to, where nice 19 still takes its small share.
            policy = os.SCHED_IDLE if priority == "lowest" else os.SCHED_OTHER
            os.sched_setscheduler(pid, policy, os.sched_param(0))
        os.setpriority(os.PRIO_PROCESS, pid, _NICE[priority])
