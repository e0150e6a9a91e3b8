"""Processes that must not outlive each other."""

from __future__ import annotations

import ctypes
import sys

PR_SET_PDEATHSIG = 1


def die_with_parent(signal_number: int) -> None:
    """Ask the kernel to send this process a signal when its parent ends (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal_number)
