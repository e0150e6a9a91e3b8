"""A performance told line by line, for terminals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from zermelo.theatre.events import Event, Kind
from zermelo.theatre.performance import Performance


class Line(NamedTuple):
    """One line of the story, indented by ply."""

    kind: Kind
    ply: int
    text: str


def tell(performance: Performance, steps: int | None = None) -> Iterator[Line]:
    """What happens, event by event, the first `steps` of them."""
    for event in performance.events[:steps]:
        yield Line(event.kind, performance.tree[event.node].ply, _sentence(performance, event))


def window(performance: Performance, event: Event) -> str:
    """The window of an event, as in books; empty where the algorithm has none."""
    if event.alpha is None or event.beta is None:
        return ""
    lowest, highest = performance.whole_window
    low = "-∞" if event.alpha == lowest else str(event.alpha)
    high = "∞" if event.beta == highest else str(event.beta)
    return f"({low}, {high})"


def _sentence(performance: Performance, event: Event) -> str:
    tree = performance.tree
    side = "MAX" if tree[event.node].is_max else "MIN"
    if event.kind is Kind.PASS:
        return f"a new pass: is the value at least {event.beta}?"
    if event.kind is Kind.ENTER:
        move = tree.move_name(event.node)
        words = [f"{move}:" if move else "", side, tree.label(event.node)]
        return " ".join(filter(None, [*words, window(performance, event)]))
    if event.kind is Kind.HIT:
        return f"the table knows this position: {event.value}"
    if event.kind is Kind.BEST and event.child is not None:
        return f"best so far: {tree.move_name(event.child)}, worth {event.value}"
    if event.kind is Kind.CUT:
        left = " ".join(tree.move_name(child) for child in event.cut)
        return f"cut: {event.value} is enough, {left} need not be looked at"
    return f"value {event.value}"
