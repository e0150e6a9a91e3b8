"""`zermelo solve --demo`: shows its work each time, and says what to try next."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.support.command import zermelo
from zermelo.server.database import connect_once
from zermelo.server.embedded import embedded_database


def workunits(output: str) -> int:
    found = re.search(r"([\d,]+) workunits", output)
    assert found is not None, output
    return int(found[1].replace(",", ""))


@pytest.mark.long
def test_it_works_each_time_and_what_it_suggests_works(tmp_path: Path) -> None:
    data = tmp_path / "with a space"
    for _ in range(2):
        done = zermelo("solve", "reversi:4x4", "--demo", "--data-dir", str(data), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "reversi:4x4: -8" in done.stdout
        assert workunits(done.stdout) > 0
        assert "watch it in a browser: http://127.0.0.1:" in done.stderr
        # A solve that resumed would find its campaign finished and ask no client at all.
        log = (data / "demo" / "zermelo.log").read_text()
    assert log.count("client") > 1
    lines = [line.strip() for line in done.stdout.partition("What to try next:")[2].splitlines()]
    commands = [line for line in lines if line and not line.startswith("#")]
    assert [shlex.split(command)[1] for command in commands] == [
        "web", "play", "query", "proof", "proof", "solve",
    ]  # fmt: skip
    with embedded_database(data / "demo") as url, connect_once(url) as connection:
        assert connection.execute("SHOW fsync").fetchone() == ("on",)
    for command in commands[1:5]:
        program, *arguments = shlex.split(command)
        assert program == "zermelo"
        tried = zermelo(*arguments, cwd=tmp_path, said="quit\n")
        assert tried.returncode == 0, f"{command}: {tried.stderr}"
    assert (tmp_path / "reversi-4x4.proof").exists()


@pytest.mark.long
def test_a_plain_solve_resumes(tmp_path: Path) -> None:
    for _ in range(2):
        done = zermelo("solve", "reversi:4x4", "--data-dir", str(tmp_path / "d"), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "What to try next" not in done.stdout
    assert not (tmp_path / "d" / "demo").exists()


@pytest.mark.parametrize("options", [["--database", "postgresql://nowhere"]])
def test_it_deletes_nothing_in_somebodys_database(tmp_path: Path, options: list[str]) -> None:
    done = zermelo("solve", "reversi:4x4", "--demo", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("zermelo: --demo deletes the last demo")
