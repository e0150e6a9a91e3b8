"""How much a run tries: `make test` enough to notice a mistake, `make test-long` all of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import settings

#: Set by `make test-long`.
LONG = os.environ.get("ZERMELO_TEST_LONG") == "1"

long = pytest.mark.long
#: Marks of parameters that repeat what the short run shows with others. A bounded long run, such
#: as that of `.ci/run`, leaves them out.
REPEATED = (pytest.mark.long, pytest.mark.repeated)


def examples(few: int, all_of_them: int) -> Callable[[Any], Any]:
    """A property test whose examples are costly: a few of them, or all in the long run."""

    def decorate(test: Any) -> Any:
        return pytest.mark.examples(settings(max_examples=all_of_them if LONG else few)(test))

    return decorate


def some(few: int, all_of_them: int) -> int:
    """How many samples a test with the mark `examples` takes: a few, or all in the long run."""
    return all_of_them if LONG else few


def first_of(values: Iterable[Any], few: int = 1) -> list[Any]:
    """Values of a parameter: the first few are tried always, the others in the long run."""
    return [
        value if place < few else pytest.param(value, marks=REPEATED)
        for place, value in enumerate(values)
    ]
