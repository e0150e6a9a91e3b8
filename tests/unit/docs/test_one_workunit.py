"""docs/one-workunit.md names one file for each step, and what to look at in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"
STEP = re.compile(
    r"^## (?P<number>\d+)\. .*\n\n"
    r"\[(?P<shown>[^\]]+)\]\((?P<target>[^)]+)\)(, `(?P<name>[\w.]+)`)?",
    re.MULTILINE,
)
STEPS = list(STEP.finditer((DOCS / "one-workunit.md").read_text()))


def test_the_steps_are_numbered() -> None:
    text = (DOCS / "one-workunit.md").read_text()
    assert [int(step["number"]) for step in STEPS] == [*range(1, text.count("\n## ") + 1)]
    assert len(STEPS) > 10


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step["shown"])
def test_a_step_names_what_its_file_defines(step: re.Match[str]) -> None:
    file = (DOCS / step["target"]).resolve()
    assert file == DOCS.parent / step["shown"]
    for name in (step["name"] or "").split("."):
        assert re.search(rf"\b(class|def) {name}\b" if name else "", file.read_text()), name
