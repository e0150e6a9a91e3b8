"""The command line as a process."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from tests.support.preloaded import Command

#: One that is started from nothing, as users do.
ZERMELO = [sys.executable, "-c", "from zermelo.cli import main; main()"]


def zermelo(
    *arguments: object, said: str = "", seconds: float = 120, **options: Any
) -> subprocess.CompletedProcess[str]:
    """The command from its start to its end, however it ends; `said` to it on its input."""
    with Command(
        *arguments, **options, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            output, errors = process.communicate(said, timeout=seconds)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)
