"""Doing something else between the imports of a module."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from types import ModuleType


class _Interruption(MetaPathFinder):
    """Finds no module, and is asked for each of them before it is loaded."""

    def __init__(self, action: Callable[[], None]) -> None:
        self._action = action
        self._acting = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        if self._acting:
            return  # what is done needs a module itself
        self._acting = True
        try:
            self._action()
        finally:
            self._acting = False


@contextmanager
def between_imports(action: Callable[[], None]) -> Iterator[None]:
    """Take the action, which must not wait, whenever the block is about to load a module: a
    package may load a hundred of them."""
    interruption = _Interruption(action)
    sys.meta_path.insert(0, interruption)
    try:
        yield
    finally:
        sys.meta_path.remove(interruption)
