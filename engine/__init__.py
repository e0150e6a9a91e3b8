"""Engines: solving one position on one machine."""

from zermelo.engine.factory import open_engine
from zermelo.engine.interface import (
    ALGORITHMS,
    EVERY_ALGORITHM,
    CheckpointError,
    Efforts,
    Engine,
    EngineError,
    Expansion,
    Known,
    Progress,
    SearchReport,
    Status,
    Window,
)
from zermelo.engine.shared_table import SharedTable

__all__ = [
    "ALGORITHMS",
    "EVERY_ALGORITHM",
    "CheckpointError",
    "Efforts",
    "Engine",
    "EngineError",
    "Expansion",
    "Known",
    "Progress",
    "SearchReport",
    "SharedTable",
    "Status",
    "Window",
    "open_engine",
]
