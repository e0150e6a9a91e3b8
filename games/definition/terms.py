"""Ground terms: what expressions become once cells, sides and parameters are known.

A term is a tuple whose first element names the operation. Sets of cells are bit masks; the
order of what is joined by `and`, `or`, `isect`, `union` does not matter, so that it is a
frozenset and two terms that mean the same by that are equal.

    numbers   ("const", n) ("counter", i) ("sum", {i}) ("largest", (i, ...)) ("count", set)
              ("lines", set, {mask}) ("+", a, b) ("-", a, b) ("*", a, b) ("/", a, n) ("%", a, n)
    truths    ("const", 0 or 1) ("<", a, b) ("<=", a, b) ("==", a, b) ("!=", a, b) ("not", t)
              ("and", {t}) ("or", {t}) ("within", mask, set) ("connected", set, {mask})
              ("can", side, rule) ("outflanks", side, {ray})
    sets      ("mask", m) ("plane", value) ("pending",) ("isect", {s}) ("union", {s})
              ("minus", s, s) ("beside", s) ("in_lines", s, {mask})
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Term = tuple[Any, ...]
#: Cells that follow each other in one direction.
Ray = tuple[int, ...]

TRUE: Term = ("const", 1)
FALSE: Term = ("const", 0)
NOTHING: Term = ("mask", 0)


def const(value: int) -> Term:
    return ("const", int(value))


def conjunction(terms: Iterable[Term]) -> Term:
    """All of these, simplified where that is obvious."""
    return _joined("and", terms, neutral=TRUE, deciding=FALSE)


def disjunction(terms: Iterable[Term]) -> Term:
    """At least one of these, simplified where that is obvious."""
    return _joined("or", terms, neutral=FALSE, deciding=TRUE)


def _joined(operator: str, terms: Iterable[Term], *, neutral: Term, deciding: Term) -> Term:
    found: set[Term] = set()
    for term in terms:
        if term == deciding:
            return deciding
        if term[0] == operator:
            found |= term[1]
        elif term != neutral:
            found.add(term)
    if len(found) == 1:
        return found.pop()
    return (operator, frozenset(found)) if found else neutral


def negation(term: Term) -> Term:
    if term[0] == "const":
        return const(not term[1])
    return term[1] if term[0] == "not" else ("not", term)


def union(terms: Iterable[Term]) -> Term:
    found: set[Term] = set()
    for term in terms:
        if term[0] == "union":
            found |= term[1]
        elif term != NOTHING:
            found.add(term)
    if len(found) == 1:
        return found.pop()
    return ("union", frozenset(found)) if found else NOTHING


def intersection(left: Term, right: Term) -> Term:
    if left[0] == right[0] == "mask":
        return ("mask", left[1] & right[1])
    if NOTHING in (left, right):
        return NOTHING
    return left if left == right else ("isect", frozenset((left, right)))


def difference(left: Term, right: Term) -> Term:
    if left[0] == right[0] == "mask":
        return ("mask", left[1] & ~right[1])
    return left if right == NOTHING else ("minus", left, right)


def may_hold(term: Term, cell: int, value: int) -> bool:
    """Whether a cell with this value can be in the set; True where that is not seen."""
    match term:
        case ("mask", mask):
            return bool(mask >> cell & 1)
        case ("plane", plane):
            return bool(plane == value)
        case ("isect", parts):
            return all(may_hold(part, cell, value) for part in parts)
        case ("union", parts):
            return any(may_hold(part, cell, value) for part in parts)
        case ("minus", left, right):
            return may_hold(left, cell, value) and not surely_holds(right, cell, value)
        case ("in_lines", inner, lines):
            return may_hold(inner, cell, value) and any(line >> cell & 1 for line in lines)
    return True


def surely_holds(term: Term, cell: int, value: int) -> bool:
    """Whether every cell with this value is in the set; False where that is not seen."""
    match term:
        case ("mask", mask):
            return bool(mask >> cell & 1)
        case ("plane", plane):
            return bool(plane == value)
        case ("isect", parts):
            return all(surely_holds(part, cell, value) for part in parts)
        case ("union", parts):
            return any(surely_holds(part, cell, value) for part in parts)
        case ("minus", left, right):
            return surely_holds(left, cell, value) and not may_hold(right, cell, value)
    return False


def within(mask: int, cells: Iterable[int], term: Term, values: range) -> Term:
    """That all these cells are in the set: decided at once where every value decides it."""
    cells = list(cells)
    if any(not any(may_hold(term, cell, value) for value in values) for cell in cells):
        return FALSE
    if all(surely_holds(term, cell, value) for cell in cells for value in values):
        return TRUE
    return ("within", mask, term)


def size_of(term: Any) -> int:
    """Operations that computing the term takes at most."""
    if isinstance(term, frozenset):
        return sum(map(size_of, term))
    if not isinstance(term, tuple) or not term:
        return 0
    if term[0] in ("lines", "in_lines"):
        return 1 + size_of(term[1]) + len(term[2])
    if term[0] == "outflanks":
        return sum(map(len, term[2]))
    return 1 + sum(size_of(part) for part in term[1:])
