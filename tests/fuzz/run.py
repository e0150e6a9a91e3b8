"""Look for bytes that a reader of foreign files cannot cope with: coverage by atheris.

    python -m tests.fuzz.run READER [SECONDS] [CORPUS]

What is found is written to the current folder as crash-*, timeout-* or oom-*; mend the reader
and put the file into tests/fuzz/corpus/READER, where every run of the tests replays it.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["zermelo", "sgfmill", "csv", "json"]):
    from tests.fuzz.readers import CORPUS, READERS

#: An input may take _SECONDS of processor time and _MIB of memory; both are far above what honest
#: ones need. A busy machine can hold the process up for minutes, so only an input that no Python
#: code gets to interrupt is judged by the clock, after _STUCK_SECONDS.
_SECONDS, _STUCK_SECONDS, _MIB = 25, 900, 2048
_LONGEST_INPUT = 4096


class _TooSlow(BaseException):
    """No `Exception`, so that no reader takes it for a fault of its input."""


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in READERS:
        sys.exit(f"usage: python -m tests.fuzz.run READER [SECONDS] [CORPUS]; readers:"
                 f" {' '.join(READERS)}")
    seconds = sys.argv[2] if len(sys.argv) > 2 else "600"
    growing = Path(sys.argv[3] if len(sys.argv) > 3 else f"build/fuzz/{name}")
    growing.mkdir(parents=True, exist_ok=True)
    arguments = [
        sys.argv[0], f"-max_total_time={seconds}", f"-timeout={_STUCK_SECONDS}",
        f"-rss_limit_mb={_MIB}", f"-max_len={_LONGEST_INPUT}", "-print_final_stats=1",
        f"-artifact_prefix={growing.parent}/{name}-", str(growing), str(CORPUS / name),
    ]
    atheris.Setup(arguments, _within_processor_time(READERS[name]))
    atheris.Fuzz()


def _within_processor_time(reader: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """The reader, which fails at an input that takes longer than _SECONDS of processor time."""

    def too_slow(*_: object) -> None:
        raise _TooSlow(f"more than {_SECONDS} s of processor time")

    def read(data: bytes) -> None:
        signal.setitimer(signal.ITIMER_PROF, _SECONDS)
        try:
            reader(data)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    signal.signal(signal.SIGPROF, too_slow)
    return read


if __name__ == "__main__":
    main()
