"""Expressions over numbers that are known before any position is: sizes, regions, limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from zermelo.games.definition.document import Expression
from zermelo.games.definition.errors import DefinitionError, unknown
from zermelo.games.definition.expression import Call, Name, Node, Number, Operation
from zermelo.games.definition.limits import MOST_NUMBER

_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "and": lambda a, b: bool(a) and bool(b),
    "or": lambda a, b: bool(a) or bool(b),
}
_FUNCTIONS: dict[str, Callable[[int, int], int]] = {"min": min, "max": max}


def number(expression: Expression, names: Mapping[str, int]) -> int:
    """The value of an expression of which everything is known."""
    try:
        return evaluate(expression.tree, names)
    except DefinitionError as error:
        expression.place.fail(f"'{expression.text}': {error}")


def evaluate(tree: Node, names: Mapping[str, int]) -> int:
    match tree:
        case Number(value):
            return value
        case Name(name, ""):
            if name not in names:
                raise DefinitionError(unknown("number", name, names))
            return names[name]
        case Operation("not", (operand,)):
            return int(not evaluate(operand, names))
        case Operation("-", (operand,)):
            return -evaluate(operand, names)
        case Operation(operator, (left, right)) if operator in _BINARY:
            return calculate(operator, evaluate(left, names), evaluate(right, names))
        case Call(name, (left, right)) if name in _FUNCTIONS:
            return _FUNCTIONS[name](evaluate(left, names), evaluate(right, names))
        case Call(name, _):
            raise DefinitionError(f"{name}() with these arguments is not known before the game")
        case Name():
            raise DefinitionError(f"{tree!s} is not known before the game")
    raise DefinitionError("only numbers can stand here")


def calculate(operator: str, left: int, right: int) -> int:
    """One operation on numbers; division rounds down, as everywhere in definitions."""
    if operator in ("/", "%") and right == 0:
        raise DefinitionError("a division by zero")
    result = int(_BINARY[operator](left, right))
    if abs(result) > MOST_NUMBER:
        raise DefinitionError(f"a number above {MOST_NUMBER}")
    return result
