"""A computer of its own under a real systemd: this one's files in a container, changes thrown away.

`systemd-nspawn` boots systemd as the first process over a copy-on-write view of this file system,
with nothing but a loopback interface. Units that run there run on a computer.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import zermelo
from tests.support.coordinator import wait_until

_PATH = "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_BOOT = """
mount --make-rprivate /
mount --bind / "$ROOT"
echo $$ > "$GROUP/cgroup.procs"
exec systemd-nspawn --quiet --boot --directory="$ROOT" --volatile=overlay --register=no \
    --keep-unit --machine="$NAME" --console=pipe --link-journal=no --resolv-conf=off \
    --timezone=off --private-network systemd.unit=basic.target
"""


class Machine:
    """A booted container; `run` runs a command in it as its root."""

    def __init__(self, leader: int) -> None:
        self._enter = ["nsenter", "-t", str(leader), "-m", "-u", "-i", "-n", "-p", "-r", "-w", "--"]

    def run(self, *command: str, check: bool = True) -> str:
        done = subprocess.run(
            [*self._enter, "env", "-i", f"PATH={_PATH}", *command],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert not check or done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout.strip()

    def write(self, path: str, text: str, mode: str = "644") -> None:
        subprocess.run(
            [*self._enter, "install", "-D", "-m", mode, "/dev/stdin", path],
            input=text, text=True, timeout=60, check=True,
        )  # fmt: skip

    def active(self, unit: str) -> bool:
        return self.run("systemctl", "is-active", unit, check=False) == "active"

    def show(self, unit: str, what: str) -> str:
        return self.run("systemctl", "show", "--value", "--property", what, unit)

    def journal(self, unit: str) -> str:
        return self.run("journalctl", "--no-pager", "--output=cat", "--unit", unit)

    def install_zermelo(self) -> None:
        """This installation as /usr/local/bin/zermelo, for all accounts; what root's solves on this
        computer left is not seen there."""
        self.run("rm", "-rf", "/var/lib/zermelo")
        python = Path(sys.executable)
        for folder in {*python.parents, *python.resolve().parents, *Path(zermelo.__file__).parents}:
            self.run("chmod", "a+x", str(folder))
        script = f'#!/bin/sh\nexec {python} -c "from zermelo.cli import main; main()" "$@"\n'
        self.write("/usr/local/bin/zermelo", script, "755")


@contextmanager
def booted(folder: Path) -> Iterator[Machine]:
    """A machine for one block; the test is skipped where none can be booted."""
    if os.geteuid() != 0 or not shutil.which("systemd-nspawn") or not shutil.which("nsenter"):
        pytest.skip("needs root and systemd-nspawn (Debian: systemd-container)")
    hierarchy = _unified_hierarchy()
    if hierarchy is None:
        pytest.skip("needs the second version of control groups")
    name = f"zermelo-test-{os.getpid()}"
    group, root = hierarchy / name, folder / "root"
    for new in (group, group / "machine", root):
        new.mkdir()
    nspawn = subprocess.Popen(
        ["unshare", "-m", "sh", "-eu", "-c", _BOOT], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=os.environ | {
            "ROOT": str(root), "GROUP": str(group / "machine"), "NAME": name,
            "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1",
        },
    )  # fmt: skip
    leader = 0
    try:
        leader = wait_until(lambda: nspawn.poll() is not None or _first_process(nspawn.pid), 60)
        if nspawn.poll() is not None:
            pytest.skip(f"no machine here: {nspawn.communicate()[0].decode()[-300:]}")
        machine = Machine(leader)
        wait_until(lambda: machine.active("basic.target"), 120)
        yield machine
    finally:
        _end(nspawn, leader)
        _remove(group)


def _unified_hierarchy() -> Path | None:
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, place, kind, options, *_ = line.split()
        if kind == "cgroup2" and "rw" in options.split(","):
            return Path(place)
    return None


def _first_process(nspawn: int) -> int:
    """The systemd that nspawn started, once it is one."""
    with suppress(OSError, ValueError):
        children = Path(f"/proc/{nspawn}/task/{nspawn}/children").read_text().split()
        for child in map(int, children):
            if Path(f"/proc/{child}/comm").read_text().strip() == "systemd":
                return child
    return 0


def _end(nspawn: subprocess.Popen[bytes], leader: int) -> None:
    nspawn.terminate()  # the machine is shut down
    try:
        nspawn.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        if leader:
            with suppress(ProcessLookupError):
                os.kill(leader, signal.SIGKILL)
        nspawn.kill()
        nspawn.communicate()


def _remove(group: Path) -> None:
    """Control groups go from the innermost one outwards, once nobody is in them."""
    for inner in sorted(group.rglob("*/"), key=lambda path: -len(path.parts)):
        with suppress(OSError):
            inner.rmdir()
    with suppress(OSError):
        group.rmdir()
