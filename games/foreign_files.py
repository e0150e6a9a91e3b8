"""Reading files that others wrote: never more of them than a limit, whatever they are."""

from __future__ import annotations

import errno
from pathlib import Path

MIB = 1 << 20
#: Lists of positions, and a line of one: a position with its history.
MAX_TEXT_BYTES = 16 * MIB
MAX_LINE = 1 << 16
#: The record of one game.
MAX_RECORD_BYTES = MIB


def read_limited(path: Path, max_bytes: int) -> bytes:
    """The content of a file; `OSError` also if it has more bytes, such as a device."""
    pieces, size = [], 0
    with path.open("rb") as file:
        while piece := file.read(MIB):  # all at once, Python would reserve the limit
            pieces.append(piece)
            size += len(piece)
            if size > max_bytes:
                raise OSError(errno.EFBIG, f"it has more than {max_bytes:,} bytes", str(path))
    return b"".join(pieces)


def read_lines(path: Path) -> list[str]:
    """The lines of a text file in UTF-8; `OSError` if it is too long or no text."""
    try:
        lines = read_limited(path, MAX_TEXT_BYTES).decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise OSError(errno.EILSEQ, "not a text file", str(path)) from None
    longest = max(map(len, lines), default=0)
    if longest > MAX_LINE:
        raise OSError(
            errno.EFBIG, f"it has a line of {longest:,} signs; at most {MAX_LINE:,} are allowed",
            str(path),
        )
    return lines
