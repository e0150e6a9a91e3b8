"""`zermelo solve` from outside: real processes, killed ones too."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.support.command import zermelo
from tests.support.coordinator import wait_until
from tests.support.databases import copy_folder
from tests.support.definitions import TIC_TAC_TOE, play_text
from tests.support.effort import first_of
from tests.support.preloaded import Command
from zermelo.games.definition.library import remember
from zermelo.server.campaigns import create_campaign
from zermelo.server.database import connect_once
from zermelo.server.embedded import embedded_database

SERVICES = ("generator", "coordinator", "validator", "assimilator", "client")
Prepare = Callable[..., None]
FIELDS = {
    "game", "goal", "value", "bounds", "outcome", "line", "workunits", "splits", "withdrawn",
    "nodes", "wasted_nodes", "split_nodes", "seconds",
}  # fmt: skip


@pytest.fixture
def folder(open_path: Path) -> Path:
    return open_path / "data"


def solve(folder: Path, spec: str, *options: str) -> dict[str, Any]:
    done = zermelo("solve", spec, "--data-dir", str(folder), "--json", *options)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def prepare(folder: Path, used_cluster: Path) -> Prepare:
    """Makes a campaign whose workunits are so small that it takes hundreds of steps."""

    def prepare(spec: str, *, node_budget: int) -> None:
        folder.mkdir()
        copy_folder(used_cluster, folder)
        with embedded_database(folder) as url, connect_once(url) as connection:
            create_campaign(connection, spec, node_budget=node_budget, replication="none")

    return prepare


def query(folder: Path, text: str) -> Any:
    with embedded_database(folder) as url, psycopg.connect(url) as connection:
        row = connection.execute(text).fetchone()  # type: ignore[arg-type]
    return row[0] if row else None


class Running:
    """A solve that goes on in the background."""

    def __init__(self, folder: Path, spec: str, *options: str) -> None:
        self.folder = folder
        self.process = Command(
            "solve", spec, "--data-dir", folder, "--json", *options,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def answered(self) -> int:
        """How many workunits have been answered; 0 while the database is not there."""
        if (self.folder / "lock").read_text().strip() != str(self.process.pid):
            return 0  # asking now would make us the owner of the directory
        try:
            return int(query(self.folder, "SELECT sum(answered) FROM totals") or 0)
        except psycopg.Error:
            return 0

    def wait_for_progress(self, more: int = 5) -> None:
        before = self.answered()

        def moved() -> bool:
            return self.process.poll() is not None or self.answered() >= before + more

        wait_until(moved)

    def children(self) -> dict[str, int]:
        """The processes below the solve, by what they are."""
        pids = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        found: dict[str, int] = {}
        for pid in map(int, pids.split()):
            title = Path(f"/proc/{pid}/comm").read_text().strip()
            for name in (*SERVICES, "postgres"):
                if title == "postgres" == name or title == f"zermelo {name}"[:15]:
                    found[name] = pid
        return found

    def child(self, name: str) -> int:
        pid: int = wait_until(lambda: self.children().get(name))
        return pid

    def finish(self) -> dict[str, Any]:
        out, errors = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, errors
        result: dict[str, Any] = json.loads(out)
        return result


@pytest.fixture
def clean(folder: Path) -> Iterator[None]:
    """Whatever happened, the database is sound afterwards."""
    yield
    done = zermelo("db", "check", "--data-dir", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr


def processes_of(folder: Path) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if str(folder) in command:
                found.append(command)
    return found


@pytest.mark.usefixtures("clean")
def test_from_nothing_to_a_value_and_at_once_the_second_time(folder: Path) -> None:
    first = solve(folder, "reversi:4x4")
    assert set(first) == FIELDS
    assert (first["game"], first["goal"]) == ("reversi:4x4", "score")
    assert (first["value"], first["bounds"]) == (-8, [-8, -8])
    assert first["outcome"] == "the second player wins"
    assert len(first["line"]) >= 8
    assert first["workunits"] >= 1
    assert processes_of(folder) == []
    again = solve(folder, "reversi:4x4")
    assert again["workunits"] == first["workunits"]
    assert again["value"] == -8


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("workers", first_of([1, 4]))
def test_tiny_workunits_and_any_number_of_workers(
    folder: Path, workers: int, prepare: Prepare
) -> None:
    prepare("reversi:4x4", node_budget=15)
    found = solve(folder, "reversi:4x4", "--workers", str(workers))
    assert found["value"] == -8
    assert found["workunits"] > 5


@pytest.mark.long
@pytest.mark.usefixtures("clean")
def test_the_outcome_alone(folder: Path) -> None:
    found = solve(folder, "reversi:4x4", "--goal", "outcome")
    assert found["outcome"] == "the second player wins"
    assert found["bounds"][1] < 0
    other = zermelo("solve", "reversi:4x4", "--data-dir", str(folder), "--json")
    assert other.returncode != 0
    assert "--name" in other.stderr
    assert solve(folder, "reversi:4x4", "--name", "exactly")["value"] == -8


@pytest.mark.long
@pytest.mark.usefixtures("clean")
def test_every_process_killed_in_turn(folder: Path, prepare: Prepare) -> None:
    prepare("reversi:4x5", node_budget=250)
    run = Running(folder, "reversi:4x5")
    killed = []
    for name in (*SERVICES, "postgres"):
        run.wait_for_progress(2)
        if run.process.poll() is None:
            os.kill(run.child(name), signal.SIGKILL)
            killed.append(name)
    assert run.finish()["value"] == 16
    assert killed == [*SERVICES, "postgres"]


@pytest.mark.long
@pytest.mark.usefixtures("clean")
def test_postgres_restarted_and_the_whole_run_killed(folder: Path, prepare: Prepare) -> None:
    prepare("reversi:4x5", node_budget=400)
    run = Running(folder, "reversi:4x5")
    run.wait_for_progress()
    os.kill(run.child("postgres"), signal.SIGINT)
    run.wait_for_progress()
    run.process.kill()
    run.process.communicate()
    again = Running(folder, "reversi:4x5")
    assert again.finish()["value"] == 16


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("number", first_of([signal.SIGINT, signal.SIGTERM]))
def test_an_interrupted_solve_goes_on_where_it_stopped(
    folder: Path, number: int, prepare: Prepare
) -> None:
    prepare("reversi:4x5", node_budget=1000)
    run = Running(folder, "reversi:4x5")
    run.wait_for_progress(3)
    run.process.send_signal(number)
    _, errors = run.process.communicate(timeout=120)
    assert run.process.returncode == 130
    assert "the same command goes on" in errors
    assert processes_of(folder) == []
    assert query(folder, "SELECT count(*) FROM leases WHERE state = 'open'") == 0
    done = query(folder, "SELECT count(*) FROM results")
    found = Running(folder, "reversi:4x5").finish()
    assert found["value"] == 16
    assert query(folder, "SELECT count(*) FROM results") > done > 0


def test_a_second_run_in_the_same_directory(folder: Path, prepare: Prepare) -> None:
    prepare("reversi:4x5", node_budget=40)
    run = Running(folder, "reversi:4x5")
    run.wait_for_progress(1)
    assert query(folder, "SHOW fsync") == "on"
    second = zermelo("solve", "reversi:4x4", "--data-dir", str(folder))
    assert second.returncode == 4
    assert f"in use by another run (process {run.process.pid})" in second.stderr
    assert "Traceback" not in second.stderr
    run.process.send_signal(signal.SIGINT)
    run.process.communicate(timeout=120)


def test_an_existing_database(database: str, folder: Path) -> None:
    found = solve(folder, "reversi:4x4", "--database", database)
    assert found["value"] == -8
    assert not (folder / "postgres").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint", "code"),
    [
        (("solve", "chess:8x8"), "unknown game 'chess'", 2),
        (("solve", "reversi:9x9"), "each side must be", 2),
        (("solve", "reversi:4x4", "--database", "postgresql://127.0.0.1:9/x"), "cannot reach", 3),
    ],
)
def test_mistakes_end_in_one_line(
    folder: Path, arguments: tuple[str, ...], complaint: str, code: int
) -> None:
    done = zermelo(*arguments, "--data-dir", str(folder))
    assert done.returncode == code
    assert complaint in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.long
@pytest.mark.usefixtures("clean")
def test_a_definition_in_a_file_killed_in_the_middle_and_proved(
    folder: Path, tmp_path: Path, prepare: Prepare
) -> None:
    """The client loses its life, then everything does; the text is in the database."""
    file, proof = tmp_path / "mine.toml", tmp_path / "mine.proof"
    file.write_text(TIC_TAC_TOE.replace("tic-tac-toe", "mine"))
    game = play_text(file.read_text())
    remember(game.definition)
    prepare(game.spec, node_budget=10)
    run = Running(folder, str(file))
    run.wait_for_progress(2)
    os.kill(run.child("client"), signal.SIGKILL)
    run.wait_for_progress(2)
    run.process.kill()
    run.process.communicate()
    file.rename(tmp_path / "elsewhere.toml")
    assert solve(folder, str(tmp_path / "elsewhere.toml"))["value"] == 0
    place = ("--data-dir", str(folder))
    exported = zermelo("proof", "export", game.short_spec, "-o", str(proof), "--full", *place)
    assert exported.returncode == 0, exported.stderr
    verified = zermelo("proof", "verify", str(proof), "--json")
    assert verified.returncode == 0, verified.stderr
    assert json.loads(verified.stdout)["game"] == game.spec
