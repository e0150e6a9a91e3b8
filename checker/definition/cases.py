"""Grounding a definition: the cases of every move, the ends and the score, for each side."""

from __future__ import annotations

import re
from dataclasses import dataclass

from zermelo.checker.definition.boards import read_board
from zermelo.checker.definition.candidates import Candidate, Change, Moves
from zermelo.checker.definition.expressions import Tree, number_of
from zermelo.checker.definition.guards import Guards
from zermelo.checker.definition.limits import MOST_CASES, MOST_RULES
from zermelo.checker.definition.meanings import Ground, Meaning
from zermelo.checker.definition.parameters import read_values
from zermelo.checker.definition.pieces import (
    EMPTY,
    RESULTS,
    Setup,
    read_setup,
    read_start,
    result_value,
)
from zermelo.checker.definition.reading import Section, read_text
from zermelo.checker.definition.terms import (
    FALSE,
    TRUE,
    Constant,
    Idle,
    Member,
    Negation,
    Number,
    PendingCell,
    Ray,
    Truth,
    arithmetic,
    conjunction,
    disjunction,
    negation,
)

#: The kinds of rules, and the keys that mean something to each of them alone.
_KINDS = {
    "place": ("to", "shape", "turn", "outflank", "lift"), "drop": ("to", "along"), "remove": (),
    "step": ("to", "along", "forfeit"), "slide": ("to", "along", "forfeit"),
    "hop": ("to", "over", "along", "capture", "repeat", "chain", "forfeit"),
    "take": (), "split": (), "sow": ("capture",), "skip": (),
}  # fmt: skip
_MOVING = ("step", "slide", "hop")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,23}", re.ASCII)
_GAME = re.compile(r"[a-z][a-z0-9-]{0,31}", re.ASCII)
_EFFECT = re.compile(
    r"\s*(?:(own|enemy)\s+)?([a-z][a-z0-9_]*)\s*(\+=|-=|=)(?!=)\s*(.*)", re.ASCII
)
_MOST_EFFECTS = 16
STOP = "stop"
#: The rule that a case without `forfeit` names.
NO_RULE = -1


@dataclass(frozen=True, slots=True)
class Case:
    """One way in which a move can happen; it is done in the order of the fields."""

    rule: int
    guard: Truth
    lifts: int
    puts: tuple[tuple[int, int], ...]
    rays: frozenset[Ray]
    #: The cells that a piece leaves and reaches; -1: none does.
    source: int
    target: int
    #: A rule: the mover's pieces that could have used it are lost, also the one that moves.
    forfeits: int
    changes: tuple[Change, ...]
    #: Whether the clock of the limit starts again.
    resets: bool
    #: The cell that must go on if its rule still applies there; -1: none.
    chain: int
    #: Whether the same side moves again.
    again: Truth


@dataclass(frozen=True, slots=True)
class End:
    condition: Truth
    score: Number


@dataclass(slots=True)
class Tables:
    """A definition with all its parameters fixed."""

    name: str
    setup: Setup
    start: list[int]
    #: The names of all moves that any rule could make, possible or not, in alphabetical order.
    moves: list[str]
    #: For each side and move its cases; the first that applies is what happens.
    cases: tuple[dict[int, list[Case]], dict[int, list[Case]]]
    ends: tuple[list[End], list[End]]
    scores: tuple[Number, Number] | None
    chains: bool

    def every(self) -> list[tuple[int, Case]]:
        return [(side, case) for side in (0, 1) for cases in self.cases[side].values()
                for case in cases]


def read_tables(text: str, params: str) -> Tables:
    """Everything that a text says about a game with these parameters."""
    document = read_text(text)
    name = document.text("game")
    if not _GAME.fullmatch(name):
        document.fail("game", "it is no name")
    document.leave("title", "picture")  # for people: no rule depends on them
    values = read_values(document, params)
    for tree in document.trees("require"):
        if not number_of(tree, values.numbers):
            document.fail("require", "it does not hold for this spec")
    setup = read_setup(document, read_board(document, values), values.numbers)
    grounding = _Grounding(document, setup)
    grounding.read_rules()
    tables = grounding.tables(name)
    document.finish()
    return tables


class _Grounding:
    def __init__(self, document: Section, setup: Setup) -> None:
        self._document, self._setup, self._ground = document, setup, Ground(setup)
        self._since: list[str] = []
        if "limit" in document:
            limit = document.section("limit")
            self._since = limit.texts("since")
            limit.leave("plies", "is")
            limit.finish()
        self._sections = document.sections("move")
        self._chains = any("chain" in section for section in self._sections)
        self._names: set[str] = set()
        #: The rules so far that move a piece.
        self._moving: dict[str, int] = {}
        self._found: tuple[list[tuple[str, Case]], list[tuple[str, Case]]] = ([], [])

    def read_rules(self) -> None:
        if not 1 <= len(self._sections) <= MOST_RULES:
            self._document.fail("move", f"there are 1 to {MOST_RULES} rules")
        for number, section in enumerate(self._sections):
            kinds = [kind for kind in _KINDS if kind in section]
            if len(kinds) != 1:
                section.fail("", f"exactly one of {', '.join(_KINDS)} is needed")
            name = section.text("name", f"{kinds[0]}_{number + 1}")
            if not _NAME.fullmatch(name) or name in self._ground.rules:
                section.fail("name", "it is no name, or another rule's")
            # Where a side lacks the piece nobody looks at them.
            section.leave(kinds[0], *_KINDS[kinds[0]])
            self._read_rule(section, kinds[0], name, number)
            section.finish()
        if any(name not in self._ground.rules for name in self._since):
            self._document.fail("limit", "since names no rule")

    def _read_rule(self, section: Section, kind: str, name: str, number: int) -> None:
        by = section.choice("by", ("both", "first", "second"), "both")
        sides = {"both": [0, 1], "first": [0], "second": [1]}[by]
        guards = Guards(), Guards()
        rule = _Rule(self._ground, section, number, chains=self._chains,
                     resets=name in self._since, chain=self._chain(section, kind),
                     forfeits=self._forfeited(section, kind))
        for side in sides:
            if side and self._setup.solo:
                continue
            for move, case in rule.cases(kind, side):
                self._names.add(move)
                if case is not None:
                    self._found[side].append((move, case))
                    guards[side].add(case.guard, number)
            if sum(map(len, self._found)) > MOST_CASES:
                section.fail("", f"more than {MOST_CASES} cases of moves")
        # Only the rules below may ask for this one.
        self._ground.rules[name] = number, guards
        if kind in _MOVING:
            self._moving[name] = number

    def _chain(self, section: Section, kind: str) -> str:
        if "chain" not in section or kind != "hop":
            return ""
        return section.choice("chain", ("must", "may"))

    def _forfeited(self, section: Section, kind: str) -> int:
        if "forfeit" not in section or kind not in _MOVING:
            return NO_RULE
        name = section.text("forfeit")
        if name not in self._moving:
            section.fail("forfeit", "it is no rule above this one that moves a piece")
        return self._moving[name]

    def tables(self, name: str) -> Tables:
        document, setup = self._document, self._setup
        moves = sorted(self._names)
        numbers = {move: at for at, move in enumerate(moves)}
        cases: tuple[dict[int, list[Case]], dict[int, list[Case]]] = ({}, {})
        for side in (0, 1):
            for move, case in self._found[side]:
                cases[side].setdefault(numbers[move], []).append(case)
        scores = None
        if "score" in document:
            tree = document.tree("score")
            scores = (Meaning(self._ground, 0).number(tree), Meaning(self._ground, 1).number(tree))
        if setup.stuck in ("score", "pass") and scores is None:
            document.fail("players", f"stuck = {setup.stuck!r} needs a score")
        ends: tuple[list[End], list[End]] = ([], [])
        for section in document.sections("end"):
            condition, result = section.tree("if"), section.choice("is", RESULTS)
            section.finish()
            for side in (0, 1):
                end = End(Meaning(self._ground, side).truth(condition),
                          self._result(result, side, scores))
                if end.condition != FALSE:
                    ends[side].append(end)
        return Tables(name, setup, read_start(document, setup), moves, cases, ends, scores,
                      self._chains)

    def _result(
        self, result: str, side: int, scores: tuple[Number, Number] | None
    ) -> Number:
        if result != "score":
            return Constant(result_value(result, side))
        if scores is None:
            self._document.fail("end", "the result score needs a score")
        return scores[side]


class _Rule:
    """One rule as the text has it."""

    def __init__(
        self, ground: Ground, section: Section, number: int, *, chains: bool, resets: bool,
        chain: str, forfeits: int,
    ) -> None:  # fmt: skip
        self._ground, self._section, self._number = ground, section, number
        self._chains, self._resets, self._chain = chains, resets, chain
        self._forfeits = forfeits
        self._conditions, self._exceptions = section.trees("if"), section.trees("unless")
        self._again: Tree | None = section.tree("again") if "again" in section else None
        self._effects = [self._effect(text) for text in section.texts("then")]
        if len(self._effects) > _MOST_EFFECTS:
            section.fail("then", f"there are at most {_MOST_EFFECTS} effects")

    def _effect(self, text: str) -> tuple[str, str, str, Tree, Tree | None]:
        matched = _EFFECT.fullmatch(text)
        if not matched:
            self._section.fail("then", "this is no effect")
        owner, counter, operator, rest = matched.groups()
        amount, guarded, condition = rest.partition(" if ")
        if counter not in self._ground.setup.changeable:
            self._section.fail("then", "there is no such counter")
        parsed = self._section.parsed
        return (owner or "", counter, operator, parsed("then", amount),
                parsed("then", condition) if guarded else None)

    def cases(self, kind: str, side: int) -> list[tuple[str, Case | None]]:
        """The cases of a side by the names of their moves; None where one is impossible."""
        found: list[tuple[str, Case | None]] = []
        solo = self._ground.setup.solo
        for candidate in Moves(self._section, kind, Meaning(self._ground, side)).all():
            meaning = Meaning(self._ground, side, candidate.numbers, candidate.cells)
            guard = candidate.guard if candidate.guard == FALSE else self._guard(
                candidate, meaning)
            if guard == FALSE:
                found.append((candidate.name, None))
                continue
            again = meaning.truth(self._again) if self._again else FALSE
            found.append((candidate.name, Case(
                self._number, guard, candidate.lifts, candidate.puts, candidate.rays,
                candidate.source, candidate.target, self._forfeits,
                (*candidate.changes, *self._changes(meaning)), self._resets,
                candidate.target if self._chain else -1, TRUE if solo else again,
            )))
        if self._chain == "may" and any(case is not None for _, case in found):
            found.append((STOP, Case(
                self._number, Negation(Idle()), EMPTY, (), frozenset(), -1, -1, NO_RULE, (),
                resets=False, chain=-1, again=TRUE if solo else FALSE,
            )))
        return found

    def _guard(self, candidate: Candidate, meaning: Meaning) -> Truth:
        guard = [candidate.guard]
        if self._chain:
            guard.append(disjunction([Idle(), Member(candidate.source, PendingCell())]))
        elif self._chains:
            guard.append(Idle())
        guard += [meaning.truth(tree) for tree in self._conditions]
        guard += [negation(meaning.truth(tree)) for tree in self._exceptions]
        return conjunction(guard)

    def _changes(self, meaning: Meaning) -> list[Change]:
        found = []
        for owner, name, operator, tree, guard in self._effects:
            side = {"": None, "own": meaning.side, "enemy": 1 - meaning.side}[owner]
            counter = self._ground.setup.counter(name, side)
            if counter is None:
                self._section.fail("then", "there is no such counter")
            amount = meaning.number(tree)
            if operator == "-=":
                amount = arithmetic("-", Constant(0), amount)
            condition = TRUE if guard is None else meaning.truth(guard)
            found.append(Change(counter, operator != "=", amount, condition))
        return found
