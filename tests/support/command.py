"""The command line as a real process."""

from __future__ import annotations

import subprocess
import sys

ZERMELO = [sys.executable, "-c", "from zermelo.cli import main; main()"]


def zermelo(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command from its start to its end, however it ends."""
    return subprocess.run(
        [*ZERMELO, *arguments], capture_output=True, text=True, timeout=120, check=False
    )
