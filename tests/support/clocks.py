"""Clocks of a test's own, for single modules."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest


def replace_in(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, used: str, **functions: Callable[..., Any]
) -> None:
    """Give a module other functions of a module that it uses, such as `time`.

    No other module sees them: servers that tests share run in threads of this process, and their
    event loops would sleep until some other day.
    """
    usual = vars(getattr(module, used))
    monkeypatch.setattr(module, used, SimpleNamespace(**{**usual, **functions}))
