"""What a certificate may cost its reader; docs/proof.md states the same numbers.

A certificate comes from a stranger. Nothing it says decides how much memory or time it
takes: every quantity has a limit here, which is compared before anything is allocated.
"""

from __future__ import annotations

import time

from zermelo.checker.certificate import LimitError

#: A header in bytes, and each of its texts in characters but for the position.
MAX_HEADER_BYTES = 1 << 16
MAX_TEXT = 400
#: Entries of a block, and a block in bytes, compressed or not.
MAX_BLOCK_ENTRIES = 1 << 16
MAX_BLOCK_BYTES = 1 << 26
#: Bytes that one compressed byte may inflate to. Entries of real positions stay below 100, so
#: a small file cannot fill the memory that a large one may take.
MAX_RATIO = 4096
#: A history: 511 boards of Go, which is what the compiled prover has room for.
MAX_HISTORY_BYTES = 511 * 16
#: The columns of an entry, with those that only leaves have.
ENTRY_BYTES = 37
#: What Python needs for a history besides its bytes: the object and a place in a list.
HISTORY_OBJECT_BYTES = 41
#: All entries with their histories, unless the user says otherwise.
DEFAULT_MEMORY_BYTES = 1 << 30
#: The whole check, unless the user says otherwise: a day.
DEFAULT_SECONDS = 86_400.0
#: Plies that one leaf is searched, also by recursion.
MAX_SEARCH_PLIES = 200
#: What one solver on the plain rules remembers.
SOLVER_BYTES = 1 << 27


def unsettled() -> LimitError:
    """A leaf was searched as far as may be."""
    return LimitError(
        f"a leaf is not settled within {MAX_SEARCH_PLIES} plies, which is as far as the checker"
        " looks; export the proof deeper"
    )


class Memory:
    """What is left for entries and histories."""

    def __init__(self, limit: int = DEFAULT_MEMORY_BYTES) -> None:
        self._limit = self._left = limit

    def take(self, size: int) -> None:
        self.require(size)
        self._left -= size

    def require(self, size: int) -> None:
        """`LimitError` unless `size` bytes are left."""
        if size > self._left:
            raise LimitError(
                f"the certificate needs more than the {self._limit >> 20:,} MiB that its entries"
                " may take; allow more with --max-memory if you trust its author"
            )


class Deadline:
    """When a check must have come to an end."""

    def __init__(self, seconds: float = DEFAULT_SECONDS) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def passed(self) -> bool:
        return time.monotonic() >= self._end

    def check(self) -> None:
        """`LimitError` once the time is up."""
        if self.passed:
            raise LimitError(
                f"the check is not done after {self._seconds:,g} seconds, so it says nothing"
                " about the certificate; allow more with --max-seconds"
            )
