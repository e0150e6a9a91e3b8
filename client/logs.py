"""Logs: lines for people on the terminal, JSON objects for programs in files that rotate."""

from __future__ import annotations

import json
import logging
import logging.handlers
import sys
from datetime import UTC, datetime
from pathlib import Path

NAME = "client.log"
FILE_BYTES = 2 << 20
FILES = 5
TERMINAL_FORMAT = "%(asctime)s %(levelname)s: %(message)s"

#: What every record has anyway; anything else was given as `extra`.
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """One object a line: time, level, the part that speaks, message, and any extra facts."""

    def format(self, record: logging.LogRecord) -> str:
        facts: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "part": record.name.removeprefix("zermelo."),
            "message": record.getMessage(),
        }
        facts |= {key: value for key, value in vars(record).items() if key not in _STANDARD}
        if record.exc_info:
            facts["traceback"] = self.formatException(record.exc_info)
        return json.dumps(facts, default=str)


def start_logging(
    folder: Path, *, verbose: bool = False, terminal: logging.Handler | None = None
) -> None:
    """Log to the terminal, or to who shows it there, and to the client's folder."""
    if terminal is None:
        terminal = logging.StreamHandler(sys.stderr)
        terminal.setFormatter(logging.Formatter(TERMINAL_FORMAT))
    handlers: list[logging.Handler] = [terminal]
    trouble = None
    try:
        rotating = logging.handlers.RotatingFileHandler(
            folder / NAME, maxBytes=FILE_BYTES, backupCount=FILES, delay=False
        )
        rotating.setFormatter(JsonFormatter())
        handlers.append(rotating)
    except OSError as error:
        trouble = error
    level = logging.DEBUG if verbose else logging.INFO
    logging.basicConfig(level=level, handlers=handlers, force=True)
    # A full disk must not fill the terminal with tracebacks of the logging itself.
    logging.raiseExceptions = False
    if trouble is not None:
        logging.getLogger(__name__).warning("no log is written to %s: %s", folder, trouble.strerror)
