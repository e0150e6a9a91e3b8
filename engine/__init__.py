"""Engines: solving one position on one machine."""

from zermelo.engine.factory import open_engine
from zermelo.engine.interface import (
    ALGORITHMS,
    Answer,
    CheckpointError,
    Engine,
    EngineError,
    Expansion,
    Known,
    Progress,
    Status,
    Window,
)

__all__ = [
    "ALGORITHMS",
    "Answer",
    "CheckpointError",
    "Engine",
    "EngineError",
    "Expansion",
    "Known",
    "Progress",
    "Status",
    "Window",
    "open_engine",
]
