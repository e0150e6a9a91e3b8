"""A Slurm cluster of one node, all on loopback: munged, slurmctld, slurmd."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.support.coordinator import wait_until
from tests.support.daemons import daemon
from zermelo.server.ports import free_port

_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")
_CONFIGURATION = """\
ClusterName=zermelo
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldPort={controller_port}
SlurmdPort={node_port}
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
KillWait=30
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    def __init__(self, folder: Path) -> None:
        self._environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}

    def ask(self, *command: str, environment: Mapping[str, str] | None = None) -> str:
        """What a command of Slurm says."""
        done = subprocess.run(
            command, env=self._environment | (environment or {}), capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stderr)
        return done.stdout.strip()

    def jobs(self) -> list[str]:
        """All tasks that wait, run or are about to end."""
        return self.ask("squeue", "-h", "-r").splitlines()

    def running(self, job: str) -> int:
        """How many tasks of a job run at the moment."""
        return len(self.ask("squeue", "-h", "-r", "-t", "R", "-j", job).splitlines())


@contextmanager
def slurm_cluster(folder: Path) -> Iterator[Slurm]:
    """A cluster for one block; the test is skipped where Slurm is not installed."""
    missing = [program for program in _PROGRAMS if not shutil.which(program)]
    if os.geteuid() != 0 or missing:
        pytest.skip("needs root and a Slurm (Debian: slurm-wlm, munge)")
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "munge.key").touch(mode=0o600)
    (folder / "munge.key").write_bytes(secrets.token_bytes(1024))
    (folder / "slurm.conf").write_text(_CONFIGURATION.format(
        folder=folder, host=socket.gethostname().partition(".")[0], cpus=os.cpu_count(),
        controller_port=free_port(), node_port=free_port(),
    ))  # fmt: skip
    cluster = Slurm(folder)
    with ExitStack() as stack:
        for command in (
            ["munged", "--foreground", "--force", "--num-threads=1",
             *(f"--{file}-file={folder}/munge.{file}" for file in ("key", "pid", "log", "seed")),
             f"--socket={folder}/munge.socket"],
            ["slurmctld", "-D", "-f", f"{folder}/slurm.conf"],
            ["slurmd", "-D", "-f", f"{folder}/slurm.conf"],
        ):  # fmt: skip
            stack.enter_context(daemon(command, folder / f"{command[0]}.out"))
            if command[0] == "munged":
                wait_until((folder / "munge.socket").exists, 30)
        wait_until(lambda: "idle" in cluster.ask("sinfo", "-h", "-o", "%T"), 120)
        try:
            yield cluster
        finally:
            # Daemons that end leave the tasks of a job alone.
            cluster.ask("scancel", "--signal=KILL", "--full", "--state=RUNNING")
            wait_until(lambda: not cluster.jobs(), 60)
