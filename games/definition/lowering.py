"""From syntax trees to ground terms, for one side and the cells that a move binds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from zermelo.games.definition.document import Expression, Place
from zermelo.games.definition.errors import DefinitionError, shorten, unknown
from zermelo.games.definition.expression import Call, Name, Node, Number, Operation
from zermelo.games.definition.limits import MOST_WORK
from zermelo.games.definition.model import FIRST, SECOND, Model
from zermelo.games.definition.static import calculate
from zermelo.games.definition.terms import (
    NOTHING,
    Term,
    conjunction,
    const,
    difference,
    disjunction,
    intersection,
    negation,
    union,
    within,
)

NUMBER, TRUTH, CELLS = "a number", "a condition", "a set of cells"
FUNCTIONS = ("count", "any", "none", "lines", "in_lines", "beside", "connected", "can")
_MIRRORED = {">": "<", ">=": "<="}


class Meter:
    """Counts the work of grounding, so that a definition of any kind ends within a second."""

    def __init__(self, place: Place) -> None:
        self._place, self.work = place, 0
        self._through: dict[int, frozenset[int]] = {}

    def spend(self, amount: int = 1) -> None:
        self.work += amount
        if self.work > MOST_WORK:
            self._place.fail(
                f"grounding the rules takes more than {MOST_WORK} steps;"
                " make the board smaller or the conditions shorter"
            )


    def through(self, lines: Sequence[int], mask: int) -> frozenset[int]:
        """The lines that have a cell in a mask; all later work is done on each of them."""
        if mask not in self._through:
            self.spend(len(lines) // 8)
            self._through[mask] = frozenset(line for line in lines if line & mask)
        found = self._through[mask]
        self.spend(1 + len(found) // 4)
        return found


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean where an expression stands."""

    model: Model
    side: int
    meter: Meter
    #: Numbers and cells that the move binds.
    numbers: Mapping[str, int] = field(default_factory=dict)
    cells: Mapping[str, int] = field(default_factory=dict)
    #: The rules that `can` may ask for: those above.
    rules: Mapping[str, int] = field(default_factory=dict)

    def condition(self, expression: Expression) -> Term:
        return self._lowered(expression, TRUTH)

    def number(self, expression: Expression) -> Term:
        return self._lowered(expression, NUMBER)

    def set(self, expression: Expression) -> Term:
        return self._lowered(expression, CELLS)

    def _lowered(self, expression: Expression, wanted: str) -> Term:
        try:
            return _as(wanted, *self._lower(expression.tree))
        except DefinitionError as error:
            expression.place.fail(f"'{shorten(expression.text)}': {error}")

    # -- one node after the other -----------------------------------------------------

    def _lower(self, tree: Node) -> tuple[str, Term]:
        self.meter.spend()
        match tree:
            case Number(value):
                return NUMBER, const(value)
            case Name():
                return self._name(tree)
            case Call(name, arguments):
                return self._call(name, arguments)
            case Operation("not", (operand,)):
                return TRUTH, negation(self._of(TRUTH, operand))
            case Operation("-", (operand,)):
                return NUMBER, _arithmetic("-", const(0), self._of(NUMBER, operand))
            case Operation(operator, (left, right)):
                return self._operation(operator, left, right)
        raise DefinitionError("this cannot stand here")

    def _of(self, kind: str, tree: Node) -> Term:
        return _as(kind, *self._lower(tree))

    def _operation(self, operator: str, left: Node, right: Node) -> tuple[str, Term]:
        if operator in ("and", "or"):
            join = conjunction if operator == "and" else disjunction
            return TRUTH, join((self._of(TRUTH, left), self._of(TRUTH, right)))
        if operator in ("&", "|"):
            one, other = self._of(CELLS, left), self._of(CELLS, right)
            return CELLS, intersection(one, other) if operator == "&" else union((one, other))
        kind, one = self._lower(left)
        if operator == "-" and kind == CELLS:
            return CELLS, difference(one, self._of(CELLS, right))
        one, other = _as(NUMBER, kind, one), self._of(NUMBER, right)
        if operator in _MIRRORED:
            operator, one, other = _MIRRORED[operator], other, one
        truth = operator in ("<", "<=", "==", "!=")
        return TRUTH if truth else NUMBER, _arithmetic(operator, one, other)

    def _side(self, owner: str) -> int:
        return {"own": self.side, "enemy": 1 - self.side, "first": FIRST, "second": SECOND}[owner]

    def _name(self, tree: Name) -> tuple[str, Term]:
        model, name = self.model, tree.name
        if tree.owner:
            side = self._side(tree.owner)
            if not name:
                return CELLS, _planes(model, lambda value: value.side == side)
            if name in model.kinds:
                return CELLS, _planes(
                    model, lambda value: value.side == side and value.kind == name
                )
            at = model.counter(name, side)
            if at is not None:
                return NUMBER, ("counter", at)
            if name == "seeds" and model.board.kind == "pits":
                return NUMBER, ("sum", frozenset(
                    at for at, each in enumerate(model.counters)
                    if each.side == side and each.name.startswith("hole")
                ))
            known = {*model.kinds, *(each.name for each in model.counters if each.side is not None)}
            raise DefinitionError(unknown(f"name after {tree.owner!r}", name, known))
        if name in self.numbers:
            return NUMBER, const(self.numbers[name])
        if name in model.numbers:
            return NUMBER, const(model.numbers[name])
        if name in self.cells:
            return CELLS, ("mask", self.cells[name])
        if name in model.regions:
            return CELLS, ("mask", model.region(name, self.side))
        if name in model.kinds:
            return CELLS, _planes(model, lambda value: value.kind == name)
        at = model.counter(name, None)
        if at is not None:
            return NUMBER, ("counter", at)
        return self._word(name)

    def _word(self, name: str) -> tuple[str, Term]:
        model = self.model
        heaps = [at for at, each in enumerate(model.counters) if each.name.startswith("heap")]
        if model.board.kind == "heaps" and name == "largest":
            return NUMBER, ("largest", tuple(heaps))
        if model.board.kind == "heaps" and name == "heaps":
            return NUMBER, ("sum", frozenset(heaps))
        words = {"empty": ("plane", 0), "board": ("mask", model.board.all), "pending": ("pending",)}
        if name in words:
            return CELLS, words[name]
        if name == "filled":
            return CELLS, _planes(model, lambda value: True)
        known = {
            *self.numbers, *model.numbers, *self.cells, *model.regions, *model.kinds, *words,
            "filled", "own", "enemy", "first", "second",
            *(each.name for each in model.counters if each.side is None),
        }  # fmt: skip
        raise DefinitionError(unknown("name", name, known))

    def _call(self, name: str, arguments: tuple[Node, ...]) -> tuple[str, Term]:
        if name not in FUNCTIONS:
            raise DefinitionError(unknown("function", name, FUNCTIONS))
        if name == "can":
            return TRUTH, self._can(arguments)
        counts = {"lines": (1, 2), "connected": (3,)}.get(name, (1,))
        if len(arguments) not in counts:
            needed = " or ".join(map(str, counts))
            raise DefinitionError(f"{name}() takes {needed} sets of cells, not {len(arguments)}")
        first, *rest = [self._of(CELLS, argument) for argument in arguments]
        if name in ("count", "any", "none"):
            number: Term = const(first[1].bit_count()) if first[0] == "mask" else ("count", first)
            if name == "count":
                return NUMBER, number
            return TRUTH, _arithmetic("!=" if name == "any" else "==", number, const(0))
        masks = [self._static(name, term) for term in rest]
        if name == "beside":
            return CELLS, ("beside", first)
        if name == "connected":
            return TRUTH, ("connected", first, frozenset(masks))
        lines = self.model.board.lines
        if not lines:
            raise DefinitionError(f"{name}(): the board has no lines; board.lines must"
                                  " declare some that fit on it")
        through = self.meter.through(lines, masks[0] if masks else self.model.board.all)
        return (NUMBER if name == "lines" else CELLS), (name, first, through)

    def _static(self, function: str, term: Term) -> int:
        if term[0] != "mask":
            raise DefinitionError(
                f"{function}(): all sets but the first must be regions or cells of the move"
            )
        mask: int = term[1]
        return mask

    def _can(self, arguments: tuple[Node, ...]) -> Term:
        match arguments:
            case (Name(rule, ""),):
                if rule not in self.rules:
                    raise DefinitionError(unknown("rule above this one", rule, self.rules))
                return ("can", self.side, self.rules[rule])
        raise DefinitionError("can() takes the name of one rule")

    # -- what moves need --------------------------------------------------------------

    def all_within(self, cells: list[int], term: Term) -> Term:
        mask = 0
        for cell in cells:
            mask |= 1 << cell
        self.meter.spend(len(cells))
        return within(mask, cells, term, range(len(self.model.values)))


def _as(wanted: str, kind: str, term: Term) -> Term:
    if kind == wanted:
        return term
    if wanted == TRUTH and kind == NUMBER:
        return _arithmetic("!=", term, const(0))
    raise DefinitionError(f"{wanted} is needed where {kind} stands{_hint(wanted, kind)}")


def _hint(wanted: str, kind: str) -> str:
    if kind == CELLS and wanted == TRUTH:
        return "; write any(...) or none(...)"
    return "; write count(...)" if kind == CELLS else ""


def _arithmetic(operator: str, left: Term, right: Term) -> Term:
    if left[0] == right[0] == "const":
        return const(calculate(operator, left[1], right[1]))
    if operator in ("/", "%") and (right[0] != "const" or right[1] < 1):
        raise DefinitionError(f"{operator} needs a number of at least 1 on its right")
    if operator == "+" and {left[0], right[0]} <= {"counter", "sum"}:
        one, other = (
            term[1] if term[0] == "sum" else frozenset((term[1],)) for term in (left, right)
        )
        if not one & other:
            return ("sum", one | other)
    return (operator, left, right)


def _planes(model: Model, wanted: Callable[..., bool]) -> Term:
    planes: list[Term] = [
        ("plane", at) for at, value in enumerate(model.values) if at and wanted(value)
    ]
    return union(planes) if planes else NOTHING
