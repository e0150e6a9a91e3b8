"""A performance told line by line, for terminals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from zermelo.theatre.events import Event, Kind
from zermelo.theatre.messages import messages
from zermelo.theatre.performance import Performance


class Line(NamedTuple):
    """One line of the story, indented by ply."""

    kind: Kind
    ply: int
    text: str


def tell(
    performance: Performance, steps: int | None = None, language: str = "en"
) -> Iterator[Line]:
    """What happens, event by event, the first `steps` of them."""
    for event in performance.events[:steps]:
        yield tell_event(performance, event, language)


def tell_event(performance: Performance, event: Event, language: str = "en") -> Line:
    sentence = messages(language)["events"][event.kind]
    text = sentence.format(**_words(performance, event)).strip()
    return Line(event.kind, performance.tree[event.node].ply, text)


def window(performance: Performance, event: Event) -> str:
    """The window of an event, as in books; empty where the algorithm has none."""
    if event.alpha is None or event.beta is None:
        return ""
    lowest, highest = performance.whole_window
    low = "-∞" if event.alpha == lowest else str(event.alpha)
    high = "∞" if event.beta == highest else str(event.beta)
    return f"({low}, {high})"


def _words(performance: Performance, event: Event) -> dict[str, object]:
    tree = performance.tree
    named = event.node if event.child is None else event.child
    return {
        "move": tree.move_name(named),
        "side": "MAX" if tree[event.node].is_max else "MIN",
        "position": tree.label(event.node),
        "window": window(performance, event),
        "value": event.value,
        "beta": event.beta,
        "left": " ".join(tree.move_name(child) for child in event.cut),
    }
