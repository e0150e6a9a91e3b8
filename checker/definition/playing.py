"""The rules at work: legal moves, what they do, and what an ended game is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from zermelo.checker.definition.cases import NO_RULE, Case, Tables
from zermelo.checker.definition.guards import Guards
from zermelo.checker.definition.pieces import EMPTY, result_value
from zermelo.checker.definition.positions import Position
from zermelo.checker.definition.terms import enclosed
from zermelo.games import GameError

#: The number of the pass: behind that of every other move.
PASS = 65_534


@dataclass(slots=True)
class _Draft:
    """A position while a move is being made."""

    cells: bytearray
    counters: list[int]
    pending: int = -1
    known: dict[Any, bool] = field(default_factory=dict)


class Rules:
    def __init__(self, tables: Tables) -> None:
        self._tables, self._setup = tables, tables.setup
        self._owners = tuple(piece.side for piece in self._setup.pieces)
        self._moves = [
            Guards((case.guard, move) for move, cases in tables.cases[side].items()
                   for case in cases)
            for side in (0, 1)
        ]
        #: When the pieces on which cells can use a rule that may be forfeited.
        self._able: dict[tuple[int, int], Guards] = {}
        lost = {case.forfeits for _, case in tables.every()}
        for side, case in tables.every():
            if case.rule in lost and case.source >= 0:
                self._able.setdefault((side, case.rule), Guards()).add(case.guard, case.source)
        #: When the pieces of a rule go on, for each side and rule.
        self._chains: dict[tuple[int, int], Guards] = {}
        for side, case in tables.every():
            if case.chain >= 0:
                self._chains.setdefault((side, case.rule), Guards()).add(case.guard, case.rule)

    def start(self) -> Position:
        counters = tuple(counter.start for counter in self._setup.counters)
        return Position(bytes(self._tables.start), counters, -1, 0, passing=False)

    # -- moves -------------------------------------------------------------------------

    def moves(self, position: Position) -> list[int]:
        """The numbers of the legal moves, none if the game is over."""
        if self.ended(position) is not None:
            return []
        if position.passing:
            return [PASS]
        found = self._own_moves(position, position.turn)
        if found or self._setup.stuck != "pass":
            return found
        return [PASS] if self._can_move(position, 1 - position.turn) else []

    def is_over(self, position: Position) -> bool:
        """Whether there is no legal move; the first that is found tells."""
        if self.ended(position) is not None:
            return True
        if position.passing or self._can_move(position, position.turn):
            return False
        return self._setup.stuck != "pass" or not self._can_move(position, 1 - position.turn)

    def _can_move(self, position: Position, side: int) -> bool:
        return self._moves[side].any_holds(position)

    def _own_moves(self, position: Position, side: int) -> list[int]:
        return sorted(self._moves[side].allowed(position))

    def is_legal(self, position: Position, move: int) -> bool:
        """Whether a move is among `moves`, without looking at the others where it can."""
        if move == PASS or position.passing:
            return move in self.moves(position)
        return self.ended(position) is None and any(
            case.guard.holds(position) for case in self._tables.cases[position.turn].get(move, ())
        )

    def play(self, position: Position, move: int) -> Position:
        """The position after a legal move."""
        side = position.turn
        if move == PASS:
            return Position(position.cells, position.counters, position.pending, 1 - side,
                            passing=False)
        case = next((each for each in self._tables.cases[side].get(move, ())
                     if each.guard.holds(position)), None)
        if case is None:
            raise GameError(f"move number {move} is not legal here")
        draft = _Draft(bytearray(position.cells), list(position.counters))
        self._move_pieces(case, position, draft)
        self._change_counters(case, draft)
        again = self._goes_on(case, draft, side)
        return Position(bytes(draft.cells), tuple(draft.counters), draft.pending, 1 - side, again)

    def _move_pieces(self, case: Case, position: Position, draft: _Draft) -> None:
        turned = {cell for ray in case.rays
                  for cell in enclosed(position, self._owners, position.turn, ray)}
        if case.lifts != EMPTY:
            for cell, value in enumerate(draft.cells):
                if value == case.lifts:
                    draft.cells[cell] = EMPTY
        for cell, value in case.puts:
            draft.cells[cell] = value
        for cell in turned:
            draft.cells[cell] = case.puts[0][1]
        if case.forfeits != NO_RULE and (position.turn, case.forfeits) in self._able:
            moved = {cell for cell, _ in case.puts}
            for cell in self._able[position.turn, case.forfeits].allowed(position):
                if cell == case.source:
                    draft.cells[case.target] = EMPTY
                elif cell not in moved:
                    draft.cells[cell] = EMPTY

    def _change_counters(self, case: Case, draft: _Draft) -> None:
        for change in case.changes:
            draft.known.clear()
            if change.condition.holds(draft):
                before = draft.counters[change.counter] if change.adds else 0
                most = self._setup.counters[change.counter].most
                after = before + change.amount.of(draft)
                draft.counters[change.counter] = min(max(after, 0), most)
        clock = self._setup.clock
        if clock is not None:
            most = self._setup.counters[clock].most
            draft.counters[clock] = 0 if case.resets else min(draft.counters[clock] + 1, most)
        draft.known.clear()

    def _goes_on(self, case: Case, draft: _Draft, side: int) -> bool:
        """Whether the same side moves again; the piece that must go on is then pending."""
        if case.chain >= 0:
            draft.pending = case.chain
            if self._chains[side, case.rule].any_holds(draft):
                return True
            draft.pending = -1
            draft.known.clear()
        return case.again.holds(draft)

    # -- ends -------------------------------------------------------------------------

    def ended(self, position: Position) -> int | None:
        """The score for the side to move if an end or the limit is reached."""
        for end in self._tables.ends[position.turn]:
            if end.condition.holds(position):
                return end.score.of(position)
        clock = self._setup.clock
        if clock is not None and position.counters[clock] >= self._setup.counters[clock].most:
            return self._setup.limit_score
        return None

    def score(self, position: Position) -> int:
        """The score of a position without moves, for the side to move."""
        found = self.ended(position)
        if found is not None:
            return found
        if self._setup.stuck in ("score", "pass"):
            return self.counted(position)
        return result_value(self._setup.stuck, position.turn)

    def counted(self, position: Position) -> int:
        """What the score says now; 0 where there is none."""
        scores = self._tables.scores
        return 0 if scores is None else scores[position.turn].of(position)

    def names(self) -> Sequence[str]:
        return self._tables.moves
