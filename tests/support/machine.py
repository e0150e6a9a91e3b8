"""The compiled engines that this machine can run, for annotations and parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zermelo.cext.cpu import instruction_sets
from zermelo.engine.reversi import ReversiEngine

INSTRUCTIONS = instruction_sets()

MakeCore = Callable[..., Any]
MakeEngine = Callable[..., ReversiEngine]
