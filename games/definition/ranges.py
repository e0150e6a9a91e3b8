"""Which values a term can take: interval arithmetic over all positions, reachable or not."""

from __future__ import annotations

from zermelo.games.definition.errors import DefinitionError
from zermelo.games.definition.limits import MOST_NUMBER
from zermelo.games.definition.model import Model
from zermelo.games.definition.terms import Term

Range = tuple[int, int]


def range_of(term: Term, model: Model) -> Range:
    """The least and the greatest value; `DefinitionError` if it could be too large."""
    low, high = _range(term, model)
    if max(-low, high) > MOST_NUMBER:
        raise DefinitionError(f"a value can reach {max(-low, high)}; at most {MOST_NUMBER}")
    return low, high


def _range(term: Term, model: Model) -> Range:
    match term:
        case ("const", value):
            return value, value
        case ("counter", at):
            return 0, model.counters[at].most
        case ("sum", counters):
            pits = [at for at in counters if is_pit(model, at)]
            free = sum(model.counters[at].most for at in counters if at not in pits)
            return 0, free + (seeds_of(model) if pits else 0)
        case ("largest", counters):
            return 0, len(counters)
        case ("count", ("isect", parts)):
            masks = [part[1].bit_count() for part in parts if part[0] == "mask"]
            return 0, min([model.board.cells, *masks])
        case ("count", _):
            return 0, model.board.cells
        case ("lines", _, lines):
            return 0, len(lines)
        case ("+" | "-" | "*" | "/" | "%" as operator, left, right):
            return _operation(operator, range_of(left, model), range_of(right, model))
    return 0, 1


def is_pit(model: Model, counter: int) -> bool:
    """Whether a counter is a hole or a store: their seeds are neither made nor lost."""
    return model.board.kind == "pits" and counter < 2 * model.board.holes + 2


def seeds_of(model: Model) -> int:
    """All seeds on a board with pits."""
    return 2 * model.board.holes * model.board.heaps[0]


def _operation(operator: str, left: Range, right: Range) -> Range:
    if operator == "+":
        return left[0] + right[0], left[1] + right[1]
    if operator == "-":
        return left[0] - right[1], left[1] - right[0]
    if operator == "%":
        return 0, right[1] - 1
    if operator == "/":
        return left[0] // right[1], left[1] // right[1]
    products = [a * b for a in left for b in right]
    return min(products), max(products)
