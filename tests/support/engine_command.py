"""Running the command line: inside the test process, or as a real one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

import zermelo as package
from zermelo.cli import zermelo

SOURCE = Path(package.__file__).parent.parent


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def invoke(*args: object, env: dict[str, str] | None = None) -> Outcome:
    """`zermelo engine` in this process, with errors as `main` shows them."""
    result = CliRunner(env=env).invoke(zermelo, ["engine", *map(str, args)])
    if isinstance(result.exception, package.ZermeloError):
        return Outcome(result.exception.exit_code, result.stdout, str(result.exception))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Outcome(result.exit_code, result.stdout, result.stderr)


def start(*args: str, stdout: int = subprocess.PIPE, stderr: int = subprocess.PIPE,
          **env: str) -> subprocess.Popen[str]:
    """`zermelo engine` as a process of its own."""
    inherited = {name: value for name, value in os.environ.items()
                 if not name.startswith("ZERMELO_")}
    return subprocess.Popen(
        [sys.executable, "-c", "from zermelo.cli import main; main()", "engine", *args],
        env={**inherited, "PYTHONPATH": str(SOURCE), **env},
        stdout=stdout,
        stderr=stderr,
        text=True,
    )
