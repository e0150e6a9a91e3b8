"""The commands of one volunteer, run here instead of in a process each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from zermelo import ZermeloError
from zermelo.cli import zermelo


class Client:
    """Commands of one volunteer, whose client is in a folder of its own."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir

    def text(self, *arguments: str, given: str | None = None) -> str:
        command = ["client", *arguments, "--data-dir", str(self.data_dir)]
        run = CliRunner().invoke(zermelo, command, input=given)
        if run.exception and not isinstance(run.exception, SystemExit):
            raise run.exception
        assert run.exit_code == 0, run.output
        return run.output

    def code(self, *arguments: str) -> int:
        """How a command ends that does not find everything in order."""
        command = ["client", *arguments, "--data-dir", str(self.data_dir)]
        run = CliRunner().invoke(zermelo, command)
        if isinstance(run.exception, ZermeloError):
            return run.exception.exit_code
        return run.exit_code

    def __call__(self, *arguments: str, given: str | None = None) -> Any:
        return json.loads(self.text(*arguments, "--json", given=given))
