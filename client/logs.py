"""Logs: lines for people on the terminal, JSON objects for programs in files that rotate."""

from __future__ import annotations

import logging
import logging.handlers
import sys
from pathlib import Path

from zermelo.logs import JSON, TEXT, JsonFormatter

NAME = "client.log"
FILE_BYTES = 2 << 20
FILES = 5
TERMINAL_FORMAT = "%(asctime)s %(levelname)s: %(message)s"


def start_logging(
    folder: Path, *, verbose: bool = False, terminal: logging.Handler | None = None,
    log_format: str = TEXT,
) -> None:  # fmt: skip
    """Log to the terminal, or to who shows it there, and to the client's folder."""
    if terminal is None:
        terminal = logging.StreamHandler(sys.stderr)
        terminal.setFormatter(
            JsonFormatter(service="client") if log_format == JSON
            else logging.Formatter(TERMINAL_FORMAT)
        )  # fmt: skip
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
