"""What happens in a search, as the theatre shows it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    #: A new pass of MTD(f) begins; `beta` is its threshold.
    PASS = "pass"  # noqa: S105 - no password
    #: The search comes to a node, with a window if the algorithm has one.
    ENTER = "enter"
    #: The table knows enough of this position.
    HIT = "hit"
    #: The node has a new best value so far, by `child`.
    BEST = "best"
    #: The children from `child` on need not be looked at.
    CUT = "cut"
    #: The search leaves a node with its value.
    VALUE = "value"


class Event(NamedTuple):
    """One step. Values and windows are as the algorithm sees them, see `Performance.view`."""

    kind: Kind
    node: int
    value: int | None = None
    alpha: int | None = None
    beta: int | None = None
    child: int | None = None
    #: Of a cut: the children that are left out.
    cut: tuple[int, ...] = ()
