"""Running the command line: inside the test process, or as a real one."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any, NamedTuple

from click.testing import CliRunner

import zermelo as package
from tests.support.preloaded import Command
from zermelo.cli import zermelo


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
    return Command(
        "engine", *args,
        env=inherited | env,
        stdout=stdout,
        stderr=stderr,
        text=True,
    )
