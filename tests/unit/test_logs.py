"""Lines of logs, for people and for programs."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator

import pytest

from zermelo.logs import JSON, TEXT, LogStyle


@pytest.fixture(autouse=True)
def root_log() -> Iterator[None]:
    """Everything as it was before, afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    logging.captureWarnings(False)
    root.handlers[:], root.level = handlers, level


def test_json_is_one_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    LogStyle(JSON, "info").start("generator")
    log = logging.getLogger("zermelo.server.generator")
    log.info("%d questions\nasked", 3, extra={"campaign": "reversi:6x6"})
    log.debug("too much")
    try:
        raise ValueError("no")
    except ValueError:
        log.exception("failed")
    first, second = map(json.loads, capsys.readouterr().err.splitlines())
    time = first.pop("time")
    assert time.endswith("+00:00")
    assert first == {
        "level": "info", "service": "generator", "part": "server.generator",
        "message": "3 questions\nasked", "campaign": "reversi:6x6",
    }  # fmt: skip
    assert second["level"] == "error"
    assert "ValueError: no" in second["traceback"]


def test_warnings_of_python_are_lines_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    LogStyle(JSON).start("web")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        logging.captureWarnings(True)
        warnings.warn("old", stacklevel=1)
    assert json.loads(capsys.readouterr().err)["level"] == "warning"


@pytest.mark.parametrize(("level", "lines"), [("debug", 2), ("info", 1), ("error", 0)])
def test_levels(level: str, lines: int, capsys: pytest.CaptureFixture[str]) -> None:
    LogStyle(TEXT, level).start("web")
    logging.getLogger("zermelo").info("said")
    logging.getLogger("zermelo").debug("whispered")
    assert len(capsys.readouterr().err.splitlines()) == lines
