"""Choosing, at run time, the build of a compiled engine that suits this processor."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

from zermelo.cext.cpu import instruction_sets
from zermelo.engine.interface import EngineError

EVERY_SET = ("avx512", "avx2")


def available_instructions() -> list[str]:
    """The instruction sets with a build that this processor can run, the fastest first."""
    return instruction_sets()


def compiled(engine: str, built: tuple[str, ...] = EVERY_SET) -> ModuleType:
    """The fastest build of an engine that is built for these instruction sets and `plain`;
    ZERMELO_INSTRUCTIONS names a set to be content with."""
    available = available_instructions()
    wanted = os.environ.get("ZERMELO_INSTRUCTIONS", available[0])
    if wanted not in available:
        raise EngineError(
            f"ZERMELO_INSTRUCTIONS={wanted!r}: this processor has {' and '.join(available)}"
        )
    suitable = available[available.index(wanted):]
    best = next((name for name in suitable if name in built), "plain")
    return import_module(f"zermelo.cext.{engine}_{best}")
