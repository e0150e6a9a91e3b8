"""Choosing, at run time, the build of a compiled engine that suits this processor."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

from zermelo.cext.cpu import instruction_sets
from zermelo.engine.interface import EngineError


def available_instructions() -> list[str]:
    """The instruction sets with a build that this processor can run, the fastest first."""
    return instruction_sets()


def compiled(engine: str) -> ModuleType:
    """The fastest build of an engine; ZERMELO_INSTRUCTIONS names another."""
    available = available_instructions()
    wanted = os.environ.get("ZERMELO_INSTRUCTIONS", available[0])
    if wanted not in available:
        raise EngineError(
            f"ZERMELO_INSTRUCTIONS={wanted!r}: this processor has {' and '.join(available)}"
        )
    return import_module(f"zermelo.cext.{engine}_{wanted}")
