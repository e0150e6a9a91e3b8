"""Two revisions of the reversi engine in turns: nodes exactly, user time as a ratio.

Both solve the same position one right after the other, so that a slower spell of the machine
meets both. The least user time of several rounds counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from zermelo.cli.suite import load_suite
from zermelo.games import open_game

HERE = Path(__file__).resolve().parent
START_6X6 = "6x6"
#: By task: the suites of its positions.
TASKS: dict[str, tuple[str, ...]] = {
    START_6X6: (),
    "FFO 20-39": ("ffo20-39",),
    "FFO 40-49": ("ffo40-44", "ffo45-49"),
    "FFO 50-55": ("ffo50-55",),
}


@dataclass(frozen=True, slots=True)
class Problem:
    """A position to solve, as every revision reads it."""

    game: str
    position: str
    score: int | None


@dataclass(frozen=True, slots=True)
class Ratio:
    """What a task takes here and in the other revision."""

    task: str
    positions: int
    nodes: int
    nodes_before: int
    seconds: float
    seconds_before: float

    @property
    def of_nodes(self) -> float:
        return self.nodes / self.nodes_before

    @property
    def of_seconds(self) -> float:
        return self.seconds / self.seconds_before


def problems(task: str) -> list[Problem]:
    if task == START_6X6:
        game = open_game("reversi:6x6")
        return [Problem(game.spec, game.format(game.initial()), -4)]
    found = []
    for name in TASKS[task]:
        suite = load_suite(name)
        found += [
            Problem(suite.game.spec, suite.game.format(listed.position), listed.score)
            for listed in suite.positions
        ]
    return found


@contextmanager
def built(revision: str) -> Iterator[Path]:
    """A folder with the compiled engine of a revision; a folder that has one stays as it is."""
    if Path(revision).is_dir():
        yield Path(revision)
        return
    with tempfile.TemporaryDirectory(prefix="zermelo-against-") as folder:
        tree = Path(folder) / "tree"
        _git("worktree", "add", "--detach", str(tree), revision)
        try:
            click.echo(f"compiling {revision} ...", err=True)
            subprocess.run(
                [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
                cwd=tree, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
            yield tree
        finally:
            _git("worktree", "remove", "--force", str(tree))


def _git(*arguments: str) -> None:
    done = subprocess.run(
        ["git", "-C", str(HERE), *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise click.ClickException(f"git {arguments[0]}: {done.stderr.strip()}")


class Solver:
    """A process that solves with the engine of one folder."""

    def __init__(self, tree: Path) -> None:
        environment = os.environ | {"PYTHONPATH": str(tree.resolve() / "src")}
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "solver_process.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )
        self._tree = tree

    def call(self, command: str, game: str, **task: Any) -> dict[str, Any]:
        """What the process answers to a command; the engine of each game is made once."""
        task |= {"command": command, "game": game}
        to, back = self._process.stdin, self._process.stdout
        if to is None or back is None:
            raise click.ClickException("the solver has no pipes")
        to.write(json.dumps(task) + "\n")
        to.flush()
        line = back.readline()
        if not line:
            raise click.ClickException(f"the engine in {self._tree} stopped")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def solve(self, problem: Problem, hash_mb: int) -> dict[str, Any]:
        answer = self.call("solve", problem.game, position=problem.position, hash_mb=hash_mb)
        if problem.score is not None and answer["score"] != problem.score:
            raise click.ClickException(
                f"{self._tree}: {problem.position} came out as {answer['score']},"
                f" not as {problem.score}"
            )
        return answer

    def close(self) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait()


def compare(
    tasks: Iterable[str], other: Path, *, rounds: int, hash_mb: int
) -> Iterator[Ratio]:
    """For each task the sums over its positions, here and in the other folder."""
    solvers = Solver(HERE.parent), Solver(other)
    try:
        for task in tasks:
            listed = problems(task)
            nodes, seconds = [0, 0], [0.0, 0.0]
            for problem in listed:
                turns = [[solver.solve(problem, hash_mb) for solver in solvers]
                         for _ in range(rounds)]
                for side in range(2):
                    nodes[side] += turns[0][side]["nodes"]
                    seconds[side] += min(turn[side]["seconds"] for turn in turns)
            yield Ratio(task, len(listed), *nodes, *seconds)
    finally:
        for solver in solvers:
            solver.close()
