"""What a child process asks of the kernel before it runs a program.

These run between fork and exec, where only this thread is left: the C library is loaded
before, and nothing here takes a lock.
"""

from __future__ import annotations

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1
CLONE_NEWUSER = 0x10000000

_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent(signal_number: int) -> None:
    """Ask the kernel to send this process a signal when its parent ends (Linux only)."""
    if sys.platform == "linux":
        _libc.prctl(PR_SET_PDEATHSIG, signal_number)


def enter_user_namespace(uid: int) -> None:
    """Go on in a user namespace in which our user has the number `uid`; `OSError` if refused.

    Files, signals and limits stay those of our user. The program that is run next has no
    privileges inside either, unless `uid` is 0.
    """
    real_uid, real_gid = os.geteuid(), os.getegid()
    if sys.platform != "linux" or _libc.unshare(CLONE_NEWUSER):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    # The kernel demands this of whoever maps a group without being privileged outside.
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} {real_uid} 1")
    _write("/proc/self/gid_map", f"{uid} {real_gid} 1")


def _write(path: str, text: str) -> None:
    file = os.open(path, os.O_WRONLY)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)
