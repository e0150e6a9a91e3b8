"""The certificates that come with the project are accepted, with all leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.effort import REPEATED
from zermelo.checker import verify
from zermelo.games import open_game
from zermelo.games.definition.definition import read_definition

RESULTS = Path(__file__).parents[3] / "results"


GAME = "alquerque@07786cde5da5dc5dee74ee67fcafc68d"


@pytest.mark.parametrize(("file", "game", "value"), [
    ("alquerque-3x3.proof", f"{GAME}:3x3,plies=40", -1),
    pytest.param("alquerque-4x4-plies-4.proof", f"{GAME}:4x4,plies=4", 0, marks=REPEATED),
    pytest.param("alquerque-4x4.proof", f"{GAME}:4x4,plies=40", 0, marks=REPEATED),
    pytest.param("alquerque-5x5-plies-2.proof", f"{GAME}:5x5,plies=2", 0, marks=REPEATED),
])
def test_a_published_certificate(file: str, game: str, value: int) -> None:
    report = verify(RESULTS / file)
    assert report.complete
    assert report.header.game == game
    assert report.header.lo == report.header.hi == value


def test_the_library_has_the_rules_of_the_certificates() -> None:
    """Their text is from before the option huffing; its ground tables are those of `huffing=no`."""
    text = verify(RESULTS / "alquerque-3x3.proof").header.definition
    now = open_game("alquerque:3x3").compiled.tables  # type: ignore[attr-defined]
    definition = read_definition(text)
    then = definition.compile(definition.params.parse("3x3")).tables
    for part in ("moves", "instances", "ends", "scores", "limit", "start"):
        assert getattr(then, part) == getattr(now, part)


def test_every_certificate_is_checked() -> None:
    assert {path.name for path in RESULTS.glob("*.proof")} == {
        "alquerque-3x3.proof", "alquerque-4x4-plies-4.proof", "alquerque-4x4.proof",
        "alquerque-5x5-plies-2.proof",
    }
