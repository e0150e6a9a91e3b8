"""How much a run tries: `make test` enough to notice a mistake, `make test-long` all of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

#: Set by `make test-long`.
LONG = os.environ.get("ZERMELO_TEST_LONG") == "1"

long = pytest.mark.long


def examples(few: int, all_of_them: int) -> Callable[[Any], Any]:
    """A property test whose examples are costly: a few of them, or all in the long run."""

    def decorate(test: Any) -> Any:
        return pytest.mark.examples(settings(max_examples=all_of_them if LONG else few)(test))

    return decorate
