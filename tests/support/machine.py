"""The compiled engines that this machine can run, for annotations and parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.effort import first_of
from zermelo.cext.cpu import instruction_sets
from zermelo.engine.reversi import ReversiEngine

INSTRUCTIONS = instruction_sets()

#: For searches that repeat the same thing on each instruction set: the short run takes the
#: one that users get. The kernels and the values of 4x4 are compared on all of them.
BEST_ALONE = pytest.mark.parametrize(
    "make_engine",
    first_of(INSTRUCTIONS), indirect=True, scope="module",
)

MakeCore = Callable[..., Any]
MakeEngine = Callable[..., ReversiEngine]
