"""Below the frontier: the engine continues a strategy, ply by ply, to where it is asked.

A leaf "at least b" becomes the engine's move and a statement about the position after
it; a leaf "at most b" statements about all positions after it. Each new leaf is a
question that the engine has just answered, so what is written was searched here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from zermelo.checker import Entry, Leaf
from zermelo.checker.definition.game import CheckedDefinition
from zermelo.engine import Window, open_engine
from zermelo.engine.capabilities import Secured, WritesStrategies
from zermelo.engine.securing import securing_move
from zermelo.games import Move
from zermelo.proof.moves import MoveFinder, Place, Step
from zermelo.proof.strategy import ProofError

HASH_MB = 64

Statement = tuple[Place, bool]
Report = Callable[[int], None]


class Descent:
    def __init__(self, moves: MoveFinder, to_depth: int | None) -> None:
        self._game, self._moves, self._to_depth = moves.game, moves, to_depth
        self._engine = open_engine(moves.game, hash_mb=HASH_MB)
        self._entries: dict[Statement, Entry] = {}

    def continue_from(
        self, start: Any, entries: Iterable[Entry], report: Report
    ) -> list[Entry]:
        """The entries with every leaf above the depth continued; no depth: to the end."""
        self._entries = {((e.key, e.history), e.at_least): e for e in entries}
        if self._to_depth is None and isinstance(self._engine, WritesStrategies):
            self._read_strategies(self._engine, report)
            return list(self._entries.values())
        root = self._game.canonical(start)
        place = (self._game.encode(root), self._game.history(root))
        level = {statement for at_least in (True, False)
                 if (statement := (place, at_least)) in self._entries}
        seen = set(level)
        depth = 0
        while level:
            following: set[Statement] = set()
            for count, statement in enumerate(level):
                if not count % 64:
                    report(len(self._entries))
                following |= self._expand(statement, depth)
            level = following - seen
            seen |= level
            depth += 1
        return list(self._entries.values())

    def _read_strategies(self, engine: WritesStrategies, report: Report) -> None:
        """Put what the engine writes down in the place of every leaf."""
        checked = self._moves.checked
        assert isinstance(checked, CheckedDefinition)  # noqa: S101 - who writes plays definitions
        number = cache(lambda move: checked.move_number(self._game.move_name(move)))
        leaves = [Secured(entry.key, entry.at_least, entry.bound, None)
                  for entry in self._entries.values() if entry.leaf is not None]
        for count, (key, at_least, bound, move) in enumerate(engine.strategies(leaves)):
            if not count % 4096:
                report(len(self._entries))
            known = self._entries.get(((key, b""), at_least))
            if known is None or known.leaf is not None:
                self._entries[(key, b""), at_least] = Entry(
                    key, b"", at_least, bound, None if move is None else number(move), None
                )

    def _expand(self, statement: Statement, depth: int) -> set[Statement]:
        """The statements that this one rests on, after continuing it if it is a leaf."""
        entry = self._entries[statement]
        place, at_least = statement
        if entry.leaf is not None:
            if self._to_depth is not None and depth >= self._to_depth:
                return set()
            entry = entry._replace(leaf=None, move=self._choose(place, entry.bound)
                                   if at_least else None)
            self._entries[statement] = entry
            for step in self._steps(entry):
                if step.score is None and (step.after, not at_least) not in self._entries:
                    self._add_leaf(step.after, not at_least, -entry.bound)
        return {(step.after, not at_least) for step in self._steps(entry) if step.score is None}

    def _steps(self, entry: Entry) -> list[Step]:
        """The moves that an entry rests on."""
        steps = self._moves.steps((entry.key, entry.history))
        return [step for step in steps if entry.move is None or step.move == entry.move]

    def _choose(self, place: Place, bound: int) -> Move:
        """A move that secures the bound."""
        position = self._game.decode(*place)
        move = securing_move(self._engine, position, bound)
        if move is None:
            raise ProofError(
                f"the engine finds no move that secures {bound:+d}, which the tree has proved,"
                f" in {self._game.format(position)}"
            )
        # The checker may number moves in its own way.
        after = self._game.canonical(self._game.play(position, move))
        return self._moves.find(place, (self._game.encode(after), self._game.history(after)))

    def _answer(self, place: Place, threshold: int) -> tuple[bool | None, int]:
        """Whether the position is worth at least the threshold, and the nodes that took."""
        position = self._game.decode(*place)
        answer = self._engine.solve(position, Window.question(threshold))
        return answer.bounds.answers(threshold), answer.nodes

    def _add_leaf(self, place: Place, at_least: bool, bound: int) -> None:
        answer, nodes = self._answer(place, bound if at_least else bound + 1)
        if answer is not at_least:
            raise ProofError(
                "the engine does not agree with the tree about"
                f" {self._game.format(self._game.decode(*place))}"
            )
        self._entries[place, at_least] = Entry(
            *place, at_least, bound, None, Leaf(nodes, 0, 0)
        )
