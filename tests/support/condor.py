"""A personal HTCondor on loopback: master, collector, negotiator, schedd and startd."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.coordinator import wait_until
from tests.support.daemons import daemon
from zermelo.server.ports import free_port

_PROGRAMS = ("condor_master", "condor_submit", "condor_q", "condor_status", "condor_rm")
#: Under which root's condor runs: jobs of root, and of an account named condor, are refused.
_ACCOUNT = "daemon"
_CONFIGURATION = """\
LOCAL_DIR = {folder}
{folders}
CONDOR_HOST = 127.0.0.1
COLLECTOR_HOST = 127.0.0.1:{port}
NETWORK_INTERFACE = 127.0.0.1
BIND_ALL_INTERFACES = False
ENABLE_IPV6 = False
NO_DNS = True
DEFAULT_DOMAIN_NAME = test
USE_SHARED_PORT = False
DAEMON_LIST = MASTER COLLECTOR NEGOTIATOR SCHEDD STARTD
SEC_DEFAULT_AUTHENTICATION = REQUIRED
SEC_READ_AUTHENTICATION = NEVER
SEC_CLIENT_AUTHENTICATION = OPTIONAL
SEC_DEFAULT_AUTHENTICATION_METHODS = FS
ALLOW_READ = *
ALLOW_WRITE = *
ALLOW_DAEMON = *
ALLOW_NEGOTIATOR = *
ALLOW_ADMINISTRATOR = *
NUM_CPUS = {jobs}
MEMORY = {memory}
MAIL = /bin/true
LIBEXEC = {libexec}
NEGOTIATOR_INTERVAL = 2
NEGOTIATOR_MIN_INTERVAL = 1
NEGOTIATOR_CYCLE_DELAY = 1
SCHEDD_INTERVAL = 2
UPDATE_INTERVAL = 2
START = True
PREEMPT = False
"""


class Condor:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = os.environ | {"CONDOR_CONFIG": str(folder / "condor_config")}

    def as_account(self, *command: str) -> list[str]:
        """A command as the account of this condor, which owns the same files."""
        if os.geteuid() != 0:
            return list(command)
        account = pwd.getpwnam(_ACCOUNT)
        ids = (f"--map-user={account.pw_uid}", f"--map-group={account.pw_gid}")
        return ["unshare", "--user", *ids, "--", *command]

    def try_(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.as_account(*command), env=self.environment, cwd=self.folder,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    def ask(self, *command: str) -> str:
        """What a command of HTCondor says."""
        done = self.try_(*command)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout.strip()

    def states(self) -> list[str]:
        """Of each job in the queue: 1 waits, 2 runs, 5 is held."""
        return self.ask("condor_q", "-allusers", "-af", "JobStatus").split()


@contextmanager
def condor_pool(folder: Path, jobs: int) -> Iterator[Condor]:
    """A pool for one block; the test is skipped where HTCondor is not installed."""
    if any(shutil.which(program) is None for program in _PROGRAMS):
        pytest.skip("needs HTCondor (Debian 13: condor)")
    libexec = subprocess.check_output(["condor_config_val", "LIBEXEC"], text=True).strip()
    names = ("LOG", "SPOOL", "EXECUTE", "LOCK", "RUN")
    for name in names:
        (folder / name).mkdir(parents=True)
    (folder / "condor_config").write_text(_CONFIGURATION.format(
        folder=folder, folders="\n".join(f"{name} = {folder}/{name}" for name in names),
        port=free_port(), jobs=jobs, memory=1024 * jobs, libexec=libexec,
    ))  # fmt: skip
    condor = Condor(folder)
    with daemon(
        condor.as_account("condor_master", "-f"), folder / "master.out", condor.environment
    ) as master:
        wait_until(
            lambda: master.poll() is not None or condor.try_("condor_status", "-af", "Name").stdout,
            120,
        )
        logs = (folder / "master.out", folder / "LOG" / "MasterLog")
        assert master.poll() is None, "".join(log.read_text() for log in logs if log.exists())
        yield condor
