"""Expressions in words. Parameters are the numbers that they are, so that what cannot happen with
them is not told."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from zermelo.games.definition.expression import Call, Name, Node, Number, Operation

#: A condition that is settled by the parameters.
Phrase = str | bool

_COMPARISONS: Mapping[str, tuple[str, Callable[[int, int], bool]]] = {
    "==": ("is", operator.eq), "!=": ("is not", operator.ne), "<": ("is less than", operator.lt),
    "<=": ("is at most", operator.le), ">": ("is more than", operator.gt),
    ">=": ("is at least", operator.ge),
}  # fmt: skip
_SETS = {
    "own": "own pieces", "enemy": "enemy pieces", "first": "pieces of the first player",
    "second": "pieces of the second player", "empty": "empty cells", "filled": "filled cells",
    "board": "the board", "to": "the cell moved to", "from": "the cell moved from",
    "over": "the cell jumped over", "pending": "the piece that goes on",
}  # fmt: skip
_NUMBERS = {
    "size": "the size of the heap", "taken": "what is taken", "rest": "what is left of the heap",
    "largest": "the largest heap", "heaps": "the number of heaps",
}  # fmt: skip
_TRUTHS = {"store": "the last seed falls into the store"}
#: Sums bind looser than products.
_SUMS = ("+", "-")


class Phrases:
    """Words for expressions, with the numbers that parameters have."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._numbers = numbers

    def condition(self, node: Node) -> Phrase:
        """A clause such as "there is a line of enemy pieces"; whether it holds if that is known."""
        if (value := self._value(node)) is not None:
            return value != 0
        match node:
            case Operation("and" | "or" as word, (left, right)):
                return _joined(word, self._operand(word, left), self._operand(word, right))
            case Operation("not", (inner,)):
                found = self.condition(inner)
                return not found if isinstance(found, bool) else f"it is not so that {found}"
            case Operation(sign, (left, right)) if sign in _COMPARISONS:
                return f"{self.number(left)} {_COMPARISONS[sign][0]} {self.number(right)}"
            case Call("any", (cells,)):
                return f"there are {self.cells(cells)}"
            case Call("none", (cells,)):
                return f"there are no {self.cells(cells)}"
            case Call("lines", (cells, *through)):
                place = f" through {self.cells(through[0])}" if through else ""
                return f"there is a line of {self.cells(cells)}{place}"
            case Call("connected", (cells, one, other)):
                return f"{self.cells(cells)} join {self.cells(one)} and {self.cells(other)}"
            case Call("can", (Name(rule),)):
                return f"{rule} is possible"
            case Name(name, "") if name in _TRUTHS:
                return _TRUTHS[name]
        return f"{self.number(node)} is not 0"

    def number(self, node: Node) -> str:
        if (value := self._value(node)) is not None:
            return str(value)
        match node:
            case Name(name, owner):
                return _NUMBERS.get(name, f"{owner} {name}".strip())
            case Call("count", (cells,)):
                return f"the number of {self.cells(cells)}"
            case Call("lines", (cells, *through)):
                place = f" through {self.cells(through[0])}" if through else ""
                return f"the number of lines of {self.cells(cells)}{place}"
            case Operation("-", (inner,)):
                return f"-{self._grouped(inner, _SUMS)}"
            case Operation(sign, (left, right)) if sign in _SUMS:
                last = self._grouped(right, _SUMS if sign == "-" else ())
                return f"{self.number(left)} {sign} {last}"
            case Operation(sign, (left, right)) if sign not in _COMPARISONS:
                return f"{self._grouped(left, _SUMS)} {sign} {self._grouped(right, _SUMS)}"
        return f"1 if {self.condition(node)}, else 0"

    def cells(self, node: Node) -> str:
        match node:
            case Name(name, owner):
                return _SETS.get(f"{owner}{name}", f"{owner} {name}".strip())
            case Operation("&", (left, right)):
                return f"{self.cells(left)} {self._place(right)}"
            case Operation("-", (left, right)):
                return f"{self.cells(left)} not {self._place(right)}"
            case Operation("|", (left, right)):
                return f"{self.cells(left)} or {self.cells(right)}"
            case Call("beside", (inner,)):
                return f"cells beside {self.cells(inner)}"
            case Call("in_lines", (inner,)):
                return f"cells of lines of {self.cells(inner)}"
        return self.number(node)

    def _place(self, node: Node) -> str:
        """Where cells are that are in this set."""
        match node:
            case Call("beside", (inner,)):
                return f"beside {self.cells(inner)}"
            case Call("in_lines", (inner,)):
                return f"in a line of {self.cells(inner)}"
        return f"in {self.cells(node)}"

    def _grouped(self, node: Node, looser: tuple[str, ...]) -> str:
        words = self.number(node)
        is_looser = isinstance(node, Operation) and node.operator in looser
        return f"({words})" if is_looser else words

    def _operand(self, word: str, node: Node) -> Phrase:
        found = self.condition(node)
        mixed = word == "and" and isinstance(node, Operation) and node.operator == "or"
        return f"either {found}" if mixed and isinstance(found, str) and " or " in found else found

    def _value(self, node: Node) -> int | None:
        """The number of an expression over numbers and parameters alone."""
        match node:
            case Number(value):
                return value
            case Name(name, ""):
                return self._numbers.get(name)
            case Operation(sign, (left, right)) if sign in _COMPARISONS:
                one, other = self._value(left), self._value(right)
                if one is not None and other is not None:
                    return int(_COMPARISONS[sign][1](one, other))
        return None


def _joined(word: str, left: Phrase, right: Phrase) -> Phrase:
    settling = word == "or"
    if settling in (left, right):
        return settling
    if isinstance(left, bool):
        return right
    return left if isinstance(right, bool) else f"{left} {word} {right}"
