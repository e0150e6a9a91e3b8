"""The reference rules: plain Python over the ground tables, to be read and tested against."""

from __future__ import annotations

from dataclasses import dataclass

from zermelo.games.definition.board import Mask, cells_of
from zermelo.games.definition.evaluation import Evaluator, Function, State
from zermelo.games.definition.ground import result_score
from zermelo.games.definition.limits import MOST_MOVES
from zermelo.games.definition.tables import NO_RULE, Change, Instance, Tables
from zermelo.games.interface import GameError, Move

PASS: Move = MOST_MOVES


@dataclass(frozen=True, slots=True)
class DefinedPosition:
    """A position of a definition. `planes[v]` are the cells with the value v; 0 is empty."""

    planes: tuple[Mask, ...]
    counters: tuple[int, ...]
    #: The piece that must go on, as a mask of one cell; 0: none.
    pending: Mask
    turn: int
    #: Whether the side to move has to pass because the other moves again.
    passing: bool


@dataclass(slots=True)
class _Draft:
    """A position while a move is being made."""

    planes: list[Mask]
    counters: list[int]
    pending: Mask

    def put(self, mask: Mask, value: int) -> None:
        for at in range(len(self.planes)):
            self.planes[at] &= ~mask
        self.planes[value] |= mask


@dataclass(frozen=True, slots=True)
class _Change:
    change: Change
    amount: Function
    condition: Function
    most: int

    def apply(self, draft: _Draft) -> None:
        if self.condition(draft):
            before = draft.counters[self.change.counter] if self.change.operator == "+=" else 0
            draft.counters[self.change.counter] = max(
                0, min(self.most, before + self.amount(draft))
            )


@dataclass(frozen=True, slots=True)
class _Case:
    """An instance with its functions."""

    instance: Instance
    guard: Function
    changes: tuple[_Change, ...]
    again: Function


class Reference:
    """Moves, what they do, and how games end."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self._evaluator = Evaluator(tables)
        function = self._evaluator.function
        self._cases = [
            [[self._case(instance) for instance in instances] for instances in moves]
            for moves in tables.instances
        ]
        self._guards = [
            [[case.guard for case in cases] for cases in moves] for moves in self._cases
        ]
        self._ends = [
            [(function(end.condition), function(end.score)) for end in ends]
            for ends in tables.ends
        ]
        self._scores = [None if score is None else function(score) for score in tables.scores]

    def _case(self, instance: Instance) -> _Case:
        function, counters = self._evaluator.function, self.tables.model.counters
        changes = tuple(
            _Change(each, function(each.amount), function(each.condition),
                    counters[each.counter].most)
            for each in instance.changes
        )
        return _Case(instance, function(instance.guard), changes, function(instance.again))

    def initial(self) -> DefinedPosition:
        start = self.tables.start
        return DefinedPosition(start.planes, start.counters, 0, 0, False)

    def moves(self, position: DefinedPosition) -> list[Move]:
        if self.end_score(position) is not None:
            return []
        if position.passing:
            return [PASS]
        found = self.real_moves(position, position.turn)
        if not found and self.tables.model.stuck == "pass":
            return [PASS] if self.real_moves(position, 1 - position.turn) else []
        return found

    def real_moves(self, position: State, side: int) -> list[Move]:
        """All moves of a side but the pass, whether the game goes on or not."""
        found = []
        for move, guards in enumerate(self._guards[side]):
            for guard in guards:
                if guard(position):
                    found.append(move)
                    break
        return found

    def play(self, position: DefinedPosition, move: Move) -> DefinedPosition:
        """The position after a move that must be legal while the game goes on."""
        side = position.turn
        if move == PASS:
            return DefinedPosition(
                position.planes, position.counters, position.pending, 1 - side, False
            )
        case = self._applying(position, move)
        instance = case.instance
        draft = _Draft(list(position.planes), list(position.counters), 0)
        turned = 0
        for ray in instance.rays:
            turned |= self._evaluator.enclosed(position, side, ray)
        if instance.lifts:
            draft.put(draft.planes[instance.lifts], 0)
        for put in instance.puts:
            draft.put(put.mask, put.value)
        if turned:
            draft.put(turned, instance.puts[0].value)
        if instance.forfeits != NO_RULE:
            draft.put(self._forfeited(position, instance), 0)
        for change in case.changes:
            change.apply(draft)
        if self.tables.limit is not None:
            clock = self.tables.limit.clock
            ticked = min(draft.counters[clock] + 1, self.tables.limit.plies)
            draft.counters[clock] = 0 if instance.resets else ticked
        again = self._again(case, draft, side)
        return DefinedPosition(
            tuple(draft.planes), tuple(draft.counters), draft.pending, 1 - side, again
        )

    def _forfeited(self, position: DefinedPosition, instance: Instance) -> Mask:
        """Where the pieces that could have used the forfeiting rule are after the move."""
        could = changed = 0
        for cases in self._cases[position.turn]:
            for case in cases:
                if case.instance.rule == instance.forfeits and case.guard(position):
                    could |= case.instance.source
        for put in instance.puts:
            changed |= put.mask
        return could & ~changed | (instance.target if could & instance.source else 0)

    def instance(self, position: DefinedPosition, move: Move) -> Instance:
        """What happens when the side to move makes this move, which must not be the pass."""
        return self._applying(position, move).instance

    def _applying(self, position: DefinedPosition, move: Move) -> _Case:
        cases = self._cases[position.turn]
        if 0 <= move < len(cases):
            for case in cases[move]:
                if case.guard(position):
                    return case
        raise GameError(f"there is no move number {move} here")

    def _again(self, case: _Case, draft: _Draft, side: int) -> bool:
        if case.instance.chain:
            draft.pending = case.instance.chain
            goes_on = any(
                other.guard(draft)
                for cases in self._cases[side] for other in cases
                if other.instance.rule == case.instance.rule and other.instance.chain
            )
            if goes_on:
                return True
            draft.pending = 0
        return bool(case.again(draft))

    # -- the end ----------------------------------------------------------------------

    def end_score(self, position: DefinedPosition) -> int | None:
        """The score if an end or the limit is reached, whatever moves there are."""
        for condition, score in self._ends[position.turn]:
            if condition(position):
                return score(position)
        limit = self.tables.limit
        if limit is not None and position.counters[limit.clock] >= limit.plies:
            return limit.score
        return None

    def score(self, position: DefinedPosition) -> int:
        """The score of a final position, for the side to move."""
        found = self.end_score(position)
        if found is not None:
            return found
        stuck = self.tables.model.stuck
        if stuck in ("score", "pass"):
            return self.counted(position) or 0
        score: int = result_score(stuck, position.turn)[1]
        return score

    def counted(self, position: DefinedPosition) -> int | None:
        """What the score expression says now, if there is one."""
        function = self._scores[position.turn]
        return None if function is None else function(position)


def drawn_cells(position: DefinedPosition) -> list[int]:
    """The value of every cell."""
    size = sum(plane.bit_count() for plane in position.planes)
    values = [0] * size
    for value, plane in enumerate(position.planes):
        for cell in cells_of(plane):
            values[cell] = value
    return values
