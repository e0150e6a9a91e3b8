"""Options that several commands share, each with its twin in the environment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def option(*names: str, **attributes: Any) -> Callable[[F], F]:
    """A click option with an environment twin: ``--hash-mb`` is also ``ZERMELO_HASH_MB``."""
    longest = max((name for name in names if name.startswith("-")), key=len).partition("/")[0]
    twin = "ZERMELO_" + longest.lstrip("-").upper().replace("-", "_")
    attributes.setdefault("show_default", True)
    return click.option(*names, envvar=twin, show_envvar=True, **attributes)


def json_option(command: F) -> F:
    return option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")(
        command
    )
