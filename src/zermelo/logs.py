"""Lines of a log: text for people, JSON objects for programs."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import NamedTuple

TEXT, JSON = FORMATS = ("text", "json")
LEVELS = ("debug", "info", "warning", "error")
TEXT_FORMAT = "%(asctime)s %(process)d %(name)s %(levelname)s: %(message)s"

#: What every record has anyway; anything else was given as `extra`.
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """One object a line: time, level, the part that speaks, message, and any extra facts."""

    def __init__(self, **always: object) -> None:
        """`always` are facts that every line tells."""
        super().__init__()
        self._always = always

    def format(self, record: logging.LogRecord) -> str:
        facts: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            **self._always,
            "part": record.name.removeprefix("zermelo."),
            "message": record.getMessage(),
        }
        facts |= {key: value for key, value in vars(record).items() if key not in _STANDARD}
        if record.exc_info:
            facts["traceback"] = self.formatException(record.exc_info)
        return json.dumps(facts, default=str)


class LogStyle(NamedTuple):
    """How a service tells what happens, on its standard error."""

    format: str = TEXT
    level: str = "info"

    def start(self, service: str) -> None:
        """Log so from now on, whatever was set up before."""
        handler = logging.StreamHandler(sys.stderr)
        if self.format == JSON:
            handler.setFormatter(JsonFormatter(service=service))
        else:
            handler.setFormatter(logging.Formatter(TEXT_FORMAT))
        logging.basicConfig(handlers=[handler], level=self.level.upper(), force=True)
        # What Python warns of goes where everything else goes, in the same form.
        logging.captureWarnings(self.format == JSON)


PLAIN = LogStyle()
