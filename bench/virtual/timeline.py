"""Where the virtual time of a run goes: what happened in each stretch of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

#: Virtual seconds of a stretch, until a run has MOST_STRETCHES of them: then two become one.
FIRST_STRETCH = 0.25
MOST_STRETCHES = 256


class State(NamedTuple):
    """A run so far; all but the last three are sums since it began."""

    seconds: float
    #: Time that clients worked, the nodes they searched in it, and the answers given back.
    busy_seconds: float
    nodes: float
    answers: int
    exhausted: int
    #: Workunits handed out, and the sum of their budgets.
    leases: int
    budgets: float
    generator: float
    services: float
    tree_nodes: int
    #: What the test seems to cost still, its open questions, and whether clients found too little.
    expected: float
    open_questions: int
    short: bool


class Timeline:
    """The states of a run at moments about equally far apart."""

    def __init__(self) -> None:
        self._stretch = FIRST_STRETCH
        self.states: list[State] = []

    def due(self, seconds: float) -> bool:
        return not self.states or seconds >= self.states[-1].seconds + self._stretch

    def note(self, state: State) -> None:
        self.states.append(state)
        if len(self.states) > MOST_STRETCHES:
            self.states = self.states[::2]
            self._stretch *= 2


def table(states: Sequence[State], clients: int, count: int) -> Iterator[str]:
    """A table of about `count` stretches of equal length."""
    yield (
        f"{'seconds':>9} {'M nodes':>8} {'idle':>6} {'answers':>8} {'ran out':>8} {'k budget':>9}"
        f" {'tree':>8} {'plan':>6} {'others':>7} {'M expected':>11} {'open':>8} {'short':>6}"
    )
    if len(states) < 2:
        return
    length = states[-1].seconds / count
    former = states[0]
    short: Counter[bool] = Counter()
    for state in states[1:]:
        short[state.short] += 1
        if state.seconds < former.seconds + length and state is not states[-1]:
            continue
        passed = max(1e-9, state.seconds - former.seconds)
        leases = state.leases - former.leases
        answers = state.answers - former.answers
        yield (
            f"{state.seconds:>9.1f} {state.nodes / 1e6:>8,.0f}"
            f" {1 - (state.busy_seconds - former.busy_seconds) / passed / clients:>6.1%}"
            f" {answers:>8,} {(state.exhausted - former.exhausted) / max(1, answers):>8.1%}"
            f" {(state.budgets - former.budgets) / 1e3 / max(1, leases):>9.0f}"
            f" {state.tree_nodes - former.tree_nodes:>8,}"
            f" {(state.generator - former.generator) / passed:>6.0%}"
            f" {(state.services - former.services) / passed:>7.0%}"
            f" {state.expected / 1e6:>11,.0f} {state.open_questions:>8,}"
            f" {short[True] / short.total():>6.0%}"
        )
        former = state
        short.clear()
