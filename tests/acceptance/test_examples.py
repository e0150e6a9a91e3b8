"""Every script in examples/ runs as a user would run it, and prints what is true."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SECONDS = 300


def run(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run an example with the `zermelo` command of this interpreter on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), *map(str, arguments)],
        env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip


def printed(name: str, *arguments: str | Path) -> str:
    done = run(name, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_has_a_test() -> None:
    source = Path(__file__).read_text()
    for example in EXAMPLES.glob("*.py"):
        assert f'"{example.stem}"' in source, f"{example.name} is never run"


def test_the_engine_solves_a_small_board() -> None:
    text = printed("solve_with_engine")
    assert "value +16 " in text
    assert text.endswith("at least +9? yes\n")


def test_players_meet() -> None:
    text = printed("match")
    scores = [int(score) for score in re.findall(r"engine:5000 ([+-]\d+)\n", text)]
    assert len(scores) == 7
    assert sum(scores[:-1]) == scores[-1]
    assert scores[-1] > 0, "proving loses to looking two plies ahead"


def test_a_game_of_ones_own() -> None:
    lines = printed("own_game").splitlines()
    losing = [number for number, line in enumerate(lines, 1) if line.endswith("loses")]
    assert (len(lines), losing) == (12, [4, 8, 12])


@pytest.fixture
def solved(open_path: Path) -> tuple[Path, str]:
    """A folder with a solved campaign, and what the example printed."""
    folder = open_path / "data"
    return folder, printed("distributed_solve", folder)


@pytest.mark.long
def test_a_distributed_solve_and_its_certificate(
    solved: tuple[Path, str], tmp_path: Path
) -> None:
    folder, text = solved
    value = int(re.search(r"^root: ([+-]?\d+)$", text, re.MULTILINE)[1])  # type: ignore[index]
    best = re.findall(r"^  (\w+): ([+-]?\d+) \(best\)$", text, re.MULTILINE)
    assert best
    assert {int(score) for _, score in best} == {value}
    assert re.search(r"^\d+ results, [\d,]+ nodes$", text, re.MULTILINE)

    certificate = tmp_path / "reversi.proof"
    command = Path(sys.executable).parent / "zermelo"
    export = [str(command), "proof", "export", "reversi:4x6", "--data-dir", str(folder)]
    subprocess.run([*export, "-o", str(certificate)], check=True, capture_output=True)
    accepted = printed("verify_certificate", certificate)
    assert f"{value} <= score <= {value}\n" in accepted

    damaged = bytearray(certificate.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    certificate.write_bytes(damaged)
    refused = run("verify_certificate", certificate)
    assert refused.returncode == 1
    assert refused.stderr.startswith("refused: ")
