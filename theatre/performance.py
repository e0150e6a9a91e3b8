"""A performance: the events of one search, and what the audience sees after each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from zermelo.theatre.events import Event, Kind
from zermelo.theatre.tree import GameTree


class State(StrEnum):
    """What a node is at one moment."""

    CURRENT = "current"
    #: The game that is played came through here before the search began.
    REACHED = "reached"
    VISITED = "visited"
    #: The search may still come here.
    REACHABLE = "reachable"
    #: Its parent has its value, and this was not needed for it.
    UNREACHABLE = "unreachable"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class Counters:
    """How much work a search was."""

    #: How often nodes were entered, and how many different ones.
    entered: int
    visited: int
    #: Nodes of the tree below the cuts that nobody ever visited.
    cut: int
    hits: int
    passes: int


@dataclass(frozen=True, slots=True)
class Performance:
    tree: GameTree
    algorithm: str
    #: Whether values are from the view of the side to move; else from that of MAX.
    by_mover: bool
    events: tuple[Event, ...]
    #: Of the position where it starts, for MAX.
    value: int
    #: The window that excludes nothing.
    whole_window: tuple[int, int]
    #: Where the search begins; the moves before are played.
    start: int = 0

    @property
    def counters(self) -> Counters:
        entered = [event.node for event in self.events if event.kind is Kind.ENTER]
        visited = set(entered)
        cut = {
            number
            for event in self.events
            for child in event.cut
            for number in self.tree.subtree(child)
        }
        return Counters(
            entered=len(entered),
            visited=len(visited),
            cut=len(cut - visited),
            hits=sum(event.kind is Kind.HIT for event in self.events),
            passes=sum(event.kind is Kind.PASS for event in self.events),
        )

    @property
    def best(self) -> int | None:
        """The child of the start that the search chose; None where it had no choice."""
        chosen = [e.child for e in self.events if e.kind is Kind.BEST and e.node == self.start]
        return chosen[-1] if chosen else None

    def states(self, step: int) -> list[State]:
        """The state of each node when `step` events have happened."""
        states = [State.UNREACHABLE] * len(self.tree)
        for number in self.tree.path(self.start):
            states[number] = State.REACHED
        for number in self.tree.subtree(self.start):
            states[number] = State.REACHABLE
        for event in self.events[:step]:
            self._apply(event, states)
        if 0 < step <= len(self.events):
            states[self.events[step - 1].node] = State.CURRENT
        return states

    def values(self, step: int) -> dict[int, int]:
        """The values that nodes have when `step` events have happened."""
        told = (Kind.BEST, Kind.VALUE, Kind.HIT)
        return {
            event.node: event.value
            for event in self.events[:step]
            if event.kind in told and event.value is not None
        }

    def _apply(self, event: Event, states: list[State]) -> None:
        if event.kind is Kind.ENTER:
            states[event.node] = State.VISITED
        elif event.kind is Kind.CUT:
            for child in event.cut:
                self._mark(self.tree.subtree(child), State.CUT, states)
        elif event.kind is Kind.VALUE:
            self._mark(self.tree.subtree(event.node), State.UNREACHABLE, states)

    @staticmethod
    def _mark(numbers: Iterable[int], state: State, states: list[State]) -> None:
        for number in numbers:
            if states[number] is State.REACHABLE:
                states[number] = state


def as_data(performance: Performance) -> dict[str, Any]:
    """A performance as plain data, for programs and pages."""
    tree, counters = performance.tree, performance.counters
    return {
        "game": tree.game.short_spec,
        "algorithm": performance.algorithm,
        "view": "mover" if performance.by_mover else "max",
        "value": performance.value,
        "best": performance.best,
        "start": performance.start,
        "whole_window": list(performance.whole_window),
        "counters": {
            name: getattr(counters, name) for name in Counters.__dataclass_fields__
        },
        "nodes": _nodes_data(tree),
        "events": [_event_data(event) for event in performance.events],
    }  # fmt: skip


def _nodes_data(tree: GameTree) -> list[dict[str, Any]]:
    return [
        {
            "parent": node.parent, "move": tree.move_name(number), "position": tree.label(number),
            "ply": node.ply, "same": same,
        }
        for number, (node, same) in enumerate(zip(tree.nodes, tree.representatives, strict=True))
    ]  # fmt: skip


def _event_data(event: Event) -> dict[str, Any]:
    """An event without what it does not have."""
    told: dict[str, Any] = {"kind": event.kind, "node": event.node}
    if event.value is not None:
        told["value"] = event.value
    if event.alpha is not None:
        told |= {"alpha": event.alpha, "beta": event.beta}
    if event.child is not None:
        told["child"] = event.child
    if event.cut:
        told["cut"] = list(event.cut)
    return told
