"""Compiling the tables of a definition for the kernel in C: bytecode and arrays of numbers.

Nothing here is a program that an operating system could run; the kernel interprets it
(cext/definition_program.h), and its instructions work on whole sets of cells.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from zermelo.engine.definition_code import MOVABLE, Code, ints, mask_of, words
from zermelo.engine.definition_filling import FillingGame
from zermelo.engine.definition_groups import (
    NONE,
    Case,
    Group,
    Groups,
    counter_values,
    group_cases,
    rank,
)
from zermelo.engine.definition_joining import JoiningGame
from zermelo.engine.definition_keys import Keys
from zermelo.engine.definition_lines import LineGame
from zermelo.games.definition.definition import Compiled
from zermelo.games.definition.tables import NO_RULE, Change, Instance
from zermelo.games.definition.terms import FALSE, TRUE, Term

SMALL_CELLS = 64
ALWAYS = -2
MOST_INDEXED = 255  # values of a counter by which cases are found
STUCK = {"loss": -1, "draw": 0, "win": 1, "pass": 2, "score": 3}
_SIDES = (0, 1)


class Program:
    """The parts that `Core` of the kernel takes."""

    def __init__(self, compiled: Compiled) -> None:
        self._tables, self._model = compiled.tables, compiled.tables.model
        #: Whether masks of 64 bits suffice.
        self.small = self._model.board.cells <= SMALL_CELLS
        self._mask_bytes = 8 if self.small else 16
        self._code = Code()
        self._groups = Groups(self._code, self._model.board.cells)
        self._cases: list[int] = []
        self._tests: list[int] = []
        self._changes: list[int] = []
        self._effects: list[int] = []
        self._before: list[int] = []
        self._list: list[int] = []
        self.parts = self._assemble(compiled)

    def _assemble(self, compiled: Compiled) -> dict[str, Any]:
        tables, model, code = self._tables, self._model, self._code
        cases = [self._side(side) for side in _SIDES]
        used = _used_rules(compiled)
        moves, side_groups, rule_groups, rule_cases = [], [], [], []
        for found in cases:
            rows, groups = self._moves(found)
            moves.append(ints(rows))
            side_groups.append(self._groups.add(groups))
            of_rule = [
                [case for case in found if case.instance.rule == rule] if rule in used else []
                for rule in range(len(tables.rules))
            ]
            ranges = [self._rule(each) for each in of_rule]
            rule_groups.append(ints(number for groups, _ in ranges for number in groups))
            rule_cases.append(ints(number for _, others in ranges for number in others))
        ends = [
            ints(at for end in tables.ends[side]
                 for at in (code.offset(end.condition), code.offset(end.score)))
            for side in _SIDES
        ]
        scores = [NONE if score is None else code.offset(score) for score in tables.scores]
        limit = tables.limit
        beside = [0] * model.board.cells
        for cell, _, after in model.board.links:
            beside[cell] |= 1 << after
        keys = Keys(compiled, self._mask_bytes).parts()
        lines = LineGame(tables, code, cases)
        steady = bool(keys["plane_keys"]) and not any(moves)
        kinds = (
            lines.parts(self._mask_bytes, steady)
            | FillingGame(tables, cases, compiled.symmetries).parts()
            | JoiningGame(tables, cases).parts()
        )
        return keys | kinds | {
            "facts": (
                len(model.values), len(model.counters), model.board.cells, int(model.chains),
                STUCK[model.stuck], limit.clock if limit else NONE, limit.plies if limit else 0,
                limit.score if limit else 0,
            ),
            "tests": ints(self._tests), "changes": ints(self._changes),
            "cases": ints(self._cases), "effects": self._sized(self._effects),
            "before": self._sized(self._before), "moves": moves, "list": ints(self._list),
            "groups": ints(self._groups.rows), "needs": ints(self._groups.needs),
            "at": ints(self._groups.at), "ways": ints(self._groups.ways),
            "side_groups": side_groups, "rule_groups": rule_groups, "rule_cases": rule_cases,
            "ends": ends, "scores": scores,
            "all_cells": code.mask((1 << model.board.cells) - 1),
            "replies_vary": int(not all(_fills_any(case) for each in cases for case in each)),
            "own": [mask_of(at for at, value in enumerate(model.values) if value.side == side)
                    for side in _SIDES],
            "beside": self._sized(beside),
            "code": ints(code.code), "masks": self._sized(code.masks), "rays": ints(code.rays),
            "sets": ints(code.sets),
            "most": ints(counter.most for counter in model.counters),
        }  # fmt: skip

    def _sized(self, masks: Iterable[int]) -> bytes:
        """Masks as the kernel that fits the board has them."""
        return words(masks, self._mask_bytes)

    # -- cases ------------------------------------------------------------------------

    def _side(self, side: int) -> list[Case]:
        return [
            self._case(instance, move)
            for move, instances in enumerate(self._tables.instances[side])
            for instance in instances
        ]

    def _case(self, instance: Instance, move: int) -> Case:
        code = self._code
        parts = instance.guard[1] if instance.guard[0] == "and" else (instance.guard,)
        tests: list[tuple[int, int]] = []
        rest: set[Term] = set()
        for part in sorted(parts, key=repr):
            test = _as_test(part)
            if test is not None and code.set_of(test[0]) is not None:
                tests.append(test)
            elif part != TRUE:
                rest.add(part)
        guard = NONE
        if rest:
            guard = code.offset(
                next(iter(rest)) if len(rest) == 1 else ("and", frozenset(rest))
            )
        number = len(self._before)
        first_test, first_change = len(self._tests) // 2, len(self._changes) // 6
        for values, mask in tests:
            self._tests += [code.sets[values], code.mask(mask)]
        for changed in instance.changes:
            self._change(changed)
        self._effect(instance)
        again = {FALSE: NONE, TRUE: ALWAYS}.get(instance.again)
        plain = not (
            instance.lifts or instance.rays or instance.changes or instance.chain
            or again != NONE or instance.forfeits != NO_RULE or self._model.counters
        )
        self._cases += [
            instance.rule, move, first_test, len(tests), guard, instance.lifts,
            instance.puts[0].value if instance.puts else 0,
            code.ray_offset(instance.rays), len(instance.rays),
            first_change, len(instance.changes),
            code.mask(instance.chain) if instance.chain else NONE,
            code.offset(instance.again) if again is None else again, int(instance.resets),
            int(plain), code.mask(instance.source), code.mask(instance.target), instance.forfeits,
        ]
        self._before.append(0)
        return Case(number, move, instance, tests, frozenset(rest), guard)

    def _effect(self, instance: Instance) -> None:
        """The cells that puts change, and those that have each value afterwards."""
        changed = 0
        after = [0] * len(self._model.values)
        for put in instance.puts:
            changed |= put.mask
            after = [mask & ~put.mask for mask in after]
            after[put.value] |= put.mask
        self._effects += [changed, *after]

    def _change(self, change: Change) -> None:
        fixed = change.amount[0] == "const"
        self._changes += [
            change.counter, int(change.operator == "+="),
            change.amount[1] if fixed else self._code.offset(change.amount),
            NONE if change.condition == TRUE else self._code.offset(change.condition),
            self._model.counters[change.counter].most, int(fixed),
        ]

    # -- moves ------------------------------------------------------------------------

    def _moves(self, cases: list[Case]) -> tuple[list[int], list[Group]]:
        """The moves whose cases are tried one by one, and the groups of all others."""
        of_move: dict[int, list[Case]] = {}
        for case in cases:
            of_move.setdefault(case.move, []).append(case)
        alone: set[int] = set()
        while True:
            groups, others = group_cases(case for case in cases if case.move not in alone)
            before, left = rank(
                groups, {move: each for move, each in of_move.items() if move not in alone}
            )
            left |= {case.move for case in others}
            if not left:
                break
            alone |= left
        for number, mask in before.items():
            self._before[number] = mask
        rows = [number for move in sorted(alone) for number in self._tried(of_move[move])]
        return rows, groups

    def _tried(self, cases: list[Case]) -> list[int]:
        """A move by the value of a counter that all of its cases need, if there is one."""
        needed = [counter_values(case.rest) for case in cases]
        shared = {
            counter for counter in set(needed[0]).intersection(*needed[1:])
            if self._model.counters[counter].most <= MOST_INDEXED
        }
        first = len(self._list)
        if not shared:
            self._list += [case.number for case in cases]
            return [NONE, 0, first, len(cases)]
        counter = min(shared)
        values = self._model.counters[counter].most + 1
        offset = first
        self._list += [0] * (values + 1)
        for value in range(values):
            self._list[offset + value] = len(self._list)
            self._list += [case.number for case, need in zip(cases, needed, strict=True)
                           if need[counter] == value]
        self._list[offset + values] = len(self._list)
        return [counter, offset, 0, 0]

    def _rule(self, cases: list[Case]) -> tuple[tuple[int, int], tuple[int, int]]:
        """The groups of a rule, and where its other cases are listed."""
        groups, others = group_cases(cases)
        first = len(self._list)
        self._list += [case.number for case in others]
        return self._groups.add(groups), (first, len(others))


def _fills_any(case: Case) -> bool:
    """Whether a case applies exactly if one cell is empty, which it fills."""
    puts = case.instance.puts
    return (
        len(puts) == 1 and puts[0].value != 0 and not case.rest
        and case.tests == [(1, puts[0].mask)] and puts[0].mask.bit_count() == 1
    )


def _as_test(term: Term) -> tuple[int, int] | None:
    """The condition that cells are in a union of planes, or a piece among those that may move."""
    match term:
        case ("within", mask, ("plane", value)):
            return 1 << value, mask
        case ("within", mask, ("union", planes)) if all(each[0] == "plane" for each in planes):
            return mask_of(each[1] for each in planes), mask
        case ("or", parts) if len(parts) == 2:
            idle = ("==", ("count", ("pending",)), ("const", 0))
            for part in parts - {idle}:
                if idle in parts and part[0] == "within" and part[2] == ("pending",):
                    return MOVABLE, part[1]
    return None


def _used_rules(compiled: Compiled) -> set[int]:
    """The rules that `can` asks for, that chains go on with or that pieces are forfeited by."""
    used: set[int] = set()
    for _, _, instance in compiled.tables.every():
        if instance.chain:
            used.add(instance.rule)
        used.add(instance.forfeits)
        for term in (instance.guard, instance.again):
            _find_can(term, used)
        for change in instance.changes:
            _find_can(change.amount, used)
            _find_can(change.condition, used)
    for ends in compiled.tables.ends:
        for end in ends:
            _find_can(end.condition, used)
            _find_can(end.score, used)
    for score in compiled.tables.scores:
        if score is not None:
            _find_can(score, used)
    return used


def _find_can(term: Any, used: set[int]) -> None:
    if isinstance(term, frozenset):
        for part in term:
            _find_can(part, used)
    elif isinstance(term, tuple) and term:
        if term[0] == "can":
            used.add(term[2])
        elif term[0] in ("lines", "in_lines", "within"):
            _find_can(term[1 if term[0] != "within" else 2], used)
        elif isinstance(term[0], str):
            for part in term[1:]:
                _find_can(part, used)
