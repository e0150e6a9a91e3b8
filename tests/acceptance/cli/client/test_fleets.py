"""Fleets of the unchanged client: on a Dask cluster, as a Slurm array, as jobs of HTCondor."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.support.client_process import hard_question, searching, value
from tests.support.command import ZERMELO, zermelo
from tests.support.condor import condor_pool
from tests.support.coordinator import Queue, running_coordinator, wait_until
from tests.support.places import REPOSITORY
from tests.support.slurm import slurm_cluster
from zermelo.client.control import NotRunningError, ask
from zermelo.client.folder import ClientFolder
from zermelo.server.database import Connection

needs_dask = pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is optional")
SCRIPT = REPOSITORY / "deploy" / "client" / "slurm-array.sh"
SUBMIT_FILE = REPOSITORY / "deploy" / "client" / "htcondor.sub"


def scheduler_of(file: Path) -> str:
    try:
        return str(json.loads(file.read_text())["address"])
    except (OSError, ValueError, KeyError):
        return ""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """The scheduler of a Dask cluster with two workers, each a process."""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    dask: list[subprocess.Popen[Any]] = []

    def start(module: str, *options: str) -> None:
        command = [sys.executable, "-m", f"distributed.cli.{module}", *options]
        nowhere = subprocess.DEVNULL
        dask.append(subprocess.Popen(command, env=environment, stdout=nowhere, stderr=nowhere))

    file = tmp_path / "scheduler.json"
    common = ("--scheduler-file", str(file), "--no-dashboard")
    start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", *common)
    try:
        wait_until(lambda: scheduler_of(file))
        for number in range(2):
            folder = tmp_path / f"dask-{number}"
            start("dask_worker", "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny",
                  "--local-directory", str(folder), *common)  # fmt: skip
        yield wait_until(lambda: scheduler_of(file))
    finally:
        for process in dask:
            process.kill()
            process.wait()


@pytest.mark.long
@needs_dask
def test_a_dask_cluster_works_and_stops_in_good_order(
    coordinator: str, cluster: str, queue: Queue, connection: Connection
) -> None:
    queue.add(20, node_budget=10**9)
    fleet = subprocess.Popen(
        [*ZERMELO, "client", "fleet", "--dask", cluster, "--server", coordinator,
         "--workers", "1", "--memory-mb", "2"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "ZERMELO_PRIORITY": "normal", "PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    try:
        wait_until(lambda: len(queue.results()) == 20 or fleet.poll() is not None)
        wait_until(
            lambda: value(connection, "SELECT count(*) FROM hosts") == 2 or fleet.poll() is not None
        )
        fleet.send_signal(signal.SIGINT)
        output, errors = fleet.communicate(timeout=120)
    finally:
        fleet.kill()
        fleet.communicate()
    assert fleet.returncode == 0, errors
    assert "2 clients ended in good order" in output
    assert value(connection, "SELECT count(*) FROM leases WHERE state = 'open'") == 0


@needs_dask
def test_without_a_scheduler_there_is_a_sentence() -> None:
    done = zermelo(
        "client", "fleet", "--dask", "nonsense://127.0.0.1:1", "--server", "127.0.0.1:9"
    )
    assert done.returncode == 6
    assert "no Dask scheduler at" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_tasks_of_a_slurm_array_stop_in_good_order(
    coordinator: str, queue: Queue, connection: Connection, tmp_path: Path
) -> None:
    hard_question(connection, queue)
    queue.add(1, node_budget=10**12)
    program = program_in(tmp_path)
    numbers = ("7", "8")
    tasks = [
        subprocess.Popen(
            [str(SCRIPT)],
            env={
                **os.environ, "ZERMELO": str(program), "ZERMELO_SERVER": coordinator,
                "ZERMELO_ROOT": str(tmp_path / "array"), "SLURM_ARRAY_TASK_ID": number,
                "SLURM_CPUS_PER_TASK": "1", "ZERMELO_PRIORITY": "normal",
                "ZERMELO_QUIT_SECONDS": "0", "ZERMELO_MEMORY_MB": "2",
                "ZERMELO_LEAVE_SECONDS": "120",
            },
            stderr=subprocess.PIPE, text=True,
        )
        for number in numbers
    ]
    folders = [tmp_path / "array" / f"task-{number}" for number in numbers]
    try:
        wait_until(lambda: all(connected(folder) for folder in folders))
        wait_until(lambda: any(searching(folder) for folder in folders))
        for task in tasks:
            # As Slurm does with B:, to the script alone.
            task.send_signal(signal.SIGTERM)
        errors = [task.communicate(timeout=120)[1] for task in tasks]
    finally:
        for task in tasks:
            task.kill()
            task.communicate()
    assert [task.returncode for task in tasks] == [0, 0], errors
    # Two hosts, each with a folder of its own, and nothing is left with either.
    assert value(connection, "SELECT count(*) FROM hosts") == 2
    states = connection.execute("SELECT DISTINCT state::text FROM leases").fetchall()
    assert states == [("abandoned",)]


@pytest.mark.long
def test_a_real_slurm_runs_an_array_of_clients(
    coordinator: str, queue: Queue, connection: Connection, tmp_path: Path
) -> None:
    hard_question(connection, queue)
    queue.add(3, node_budget=10**12)
    folders = [tmp_path / "array" / f"task-{number}" for number in range(2)]
    with slurm_cluster(tmp_path) as slurm:
        job = slurm.ask(
            "sbatch", "--parsable", "--array=0-1", "--cpus-per-task=1", "--mem=0",
            f"--output={tmp_path}/task-%a.out", "--export=ALL", str(SCRIPT),
            environment={
                "ZERMELO": str(program_in(tmp_path)), "ZERMELO_SERVER": coordinator,
                "ZERMELO_ROOT": str(tmp_path / "array"), "ZERMELO_PRIORITY": "normal",
                "ZERMELO_QUIT_SECONDS": "0", "ZERMELO_MEMORY_MB": "2",
            },
        )  # fmt: skip
        wait_until(lambda: slurm.running(job) == 2)
        wait_until(lambda: all(connected(folder) for folder in folders))
        wait_until(lambda: all(searching(folder) for folder in folders))
        assert value(connection, "SELECT count(*) FROM hosts") == 2
        # As at the end of its time: to the script alone, which sees to its client.
        slurm.ask("scancel", "--signal=TERM", "--batch", job)
        wait_until(lambda: not slurm.jobs())
    said = [(tmp_path / f"task-{number}.out").read_text() for number in range(2)]
    assert not any("Traceback" in text for text in said), said
    # Nothing is left with either.
    assert value(connection, "SELECT count(*) FROM leases WHERE state = 'open'") == 0


@pytest.mark.long
def test_a_real_htcondor_runs_clients_and_moves_them(
    database: str, coordinator: str, queue: Queue, connection: Connection, tmp_path: Path
) -> None:
    hard_question(connection, queue)
    queue.add(3, node_budget=10**12)
    eager = {"ZERMELO_PRIORITY": "normal", "ZERMELO_QUIT_SECONDS": "0"}
    program = f"program={program_in(tmp_path, **eager)}"
    with condor_pool(tmp_path / "condor", jobs=2) as condor:

        def held_leases() -> int:
            hosts = "SELECT count(DISTINCT host) FROM leases WHERE state = 'open'"
            return int(value(connection, hosts))

        missing = condor.try_("condor_submit", "clients=2", str(SUBMIT_FILE))
        assert missing.returncode != 0
        assert "which coordinator?" in missing.stderr
        condor.ask(
            "condor_submit", f"server={coordinator}", "clients=2", program, str(SUBMIT_FILE)
        )
        wait_until(lambda: held_leases() == 2)
        assert condor.states() == ["2", "2"]

        # Sent away, they hand back their work and come again as the hosts that they were.
        before = value(connection, "SELECT max(id) FROM leases")
        condor.ask("condor_vacate_job", "-all")
        abandoned = "SELECT count(*) FROM leases WHERE state = 'abandoned'"
        wait_until(lambda: value(connection, abandoned) >= 2)
        wait_until(lambda: held_leases() == 2)
        assert value(connection, "SELECT min(id) FROM leases WHERE state = 'open'") > before
        assert value(connection, "SELECT count(*) FROM hosts") == 2

        condor.ask("condor_rm", "-all")
        wait_until(lambda: not condor.states())
        assert held_leases() == 0

        # A client that is refused waits for its owner, who reads why.
        program_in(tmp_path, **{"ZERMELO_TOKEN": "nonsense"})
        with running_coordinator(database, require_token=True) as closed:
            condor.ask("condor_submit", f"server={closed}", "clients=1", program, str(SUBMIT_FILE))
            wait_until(lambda: condor.states() == ["5"])
        assert "ended with code 6" in condor.ask("condor_q", "-allusers", "-af", "HoldReason")
        said = (condor.folder / "zermelo.2.0.err").read_text()
        assert "does not accept this token" in said
        condor.ask("condor_rm", "-all")


def program_in(folder: Path, **environment: str) -> Path:
    """This program as a command of its own."""
    program = folder / "zermelo"
    exports = "".join(f"export {name}={value}\n" for name, value in environment.items())
    program.write_text(f"#!/bin/sh\n{exports}exec {sys.executable} -c '{ZERMELO[2]}' \"$@\"\n")
    program.chmod(0o755)
    return program


def connected(folder: Path) -> bool:
    """Whether the client in a folder has been welcomed by its coordinator."""
    try:
        state = ask(ClientFolder(folder).control, "status")["state"]
    except NotRunningError:
        return False
    return state in ("working", "preparing", "waiting")
