"""Programs of others that run beside a test."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def daemon(
    command: Sequence[str], output: Path, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A program for one block; what it says goes to a file."""
    with output.open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, env=environment)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
