"""Engines: solving one position on one machine."""

from zermelo.engine.factory import open_engine
from zermelo.engine.interface import (
    ALGORITHMS,
    Answer,
    CheckpointError,
    Efforts,
    Engine,
    EngineError,
    Expansion,
    Known,
    Progress,
    Status,
    Window,
)
from zermelo.engine.shared_table import SharedTable

__all__ = [
    "ALGORITHMS",
    "Answer",
    "CheckpointError",
    "Efforts",
    "Engine",
    "EngineError",
    "Expansion",
    "Known",
    "Progress",
    "SharedTable",
    "Status",
    "Window",
    "open_engine",
]
