"""Expressions by precedence climbing: operators have a strength, and the stronger one binds.

    or < and < not < == != < <= > >= < + - | < * / % & < unary -

Comparisons do not chain: `a < b < c` is no expression.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from zermelo.checker.definition.limits import DEEPEST, LARGEST, LONGEST_EXPRESSION, TextError

OWNERS = ("own", "enemy", "first", "second")
KEYWORDS = ("and", "or", "not")
_NOT, _COMPARISON, _MINUS = 3, 4, 7
_STRENGTH = {
    "or": 1, "and": 2,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), _COMPARISON),
    **dict.fromkeys("+-|", 5), **dict.fromkeys("*/%&", 6),
}  # fmt: skip
_WORD = re.compile(r"[a-z][a-z0-9_]*|[0-9]+|[=!<>]=|[-+*/%&|<>(),]", re.ASCII)


class Tree(NamedTuple):
    """A number, a name (perhaps of an owner), a call, or an operator with operands."""

    #: "number", "name", "call", or the operator; "negative" is the minus in front.
    kind: str
    parts: tuple[Tree, ...] = ()
    word: str = ""
    owner: str = ""
    number: int = 0


def parse(text: str) -> Tree:
    if len(text) > LONGEST_EXPRESSION:
        raise TextError(f"an expression of more than {LONGEST_EXPRESSION} characters")
    reader = _Reader(_words(text))
    tree = reader.expression(0, 0)
    if reader.word:
        raise TextError(f"an expression goes on with {reader.word!r}")
    return tree


def _words(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text):
        matched = _WORD.match(text, at)
        if matched:
            found.append(matched[0])
            at = matched.end()
        elif text[at] in " \t\n\r\f\v":
            at += 1
        else:
            raise TextError(f"the sign {text[at]!a} in an expression")
    return found


class _Reader:
    def __init__(self, words: list[str]) -> None:
        self._words, self._at = words, 0

    @property
    def word(self) -> str:
        return self._words[self._at] if self._at < len(self._words) else ""

    def _accept(self, word: str) -> bool:
        if self.word != word:
            return False
        self._at += 1
        return True

    def _expect(self, word: str) -> None:
        if not self._accept(word):
            raise TextError(f"an expression has {self.word!r} where {word!r} is needed")

    def expression(self, weakest: int, depth: int) -> Tree:
        """An expression whose operators are all stronger than `weakest`."""
        if depth > DEEPEST:
            raise TextError(f"an expression is nested deeper than {DEEPEST} levels")
        tree = self._operand(weakest, depth)
        bound = _MINUS
        while weakest < (strength := _STRENGTH.get(self.word, 0)) <= bound:
            operator = self.word
            self._at += 1
            tree = Tree(operator, (tree, self.expression(strength, depth)))
            # What stands behind a comparison is no comparison.
            bound = strength - 1 if strength == _COMPARISON else strength
        return tree

    def _operand(self, weakest: int, depth: int) -> Tree:
        if weakest < _COMPARISON and self._accept("not"):
            return Tree("not", (self.expression(_NOT - 1, depth + 1),))
        if self._accept("-"):
            return Tree("negative", (self.expression(_MINUS, depth + 1),))
        if self._accept("("):
            tree = self.expression(0, depth + 1)
            self._expect(")")
            return tree
        word = self.word
        self._at += 1
        if word[:1].isdigit():
            if len(word) > len(str(LARGEST)) or int(word) > LARGEST:
                raise TextError(f"a number above {LARGEST}")
            return Tree("number", number=int(word))
        if not word[:1].isalpha() or word in KEYWORDS:
            raise TextError(f"an expression has {word!r} where a number or a name is needed")
        if self._accept("("):
            return Tree("call", self._arguments(depth), word)
        if word not in OWNERS:
            return Tree("name", word=word)
        name = ""
        if self.word[:1].isalpha() and self.word not in KEYWORDS:
            name = self.word
            self._at += 1
        return Tree("name", word=name, owner=word)

    def _arguments(self, depth: int) -> tuple[Tree, ...]:
        found: list[Tree] = []
        if self._accept(")"):
            return ()
        while True:
            found.append(self.expression(0, depth + 1))
            if self._accept(")"):
                return tuple(found)
            self._expect(",")


def number_of(tree: Tree, known: dict[str, int]) -> int:
    """The value of an expression over numbers that are known before the game."""
    if tree.kind == "number":
        return tree.number
    if tree.kind == "name":
        if tree.owner or tree.word not in known:
            raise TextError(f"{tree.owner or tree.word!r} is no number that is known here")
        return known[tree.word]
    parts = [number_of(part, known) for part in tree.parts]
    if tree.kind == "call":
        if tree.word not in ("min", "max") or len(parts) != 2:
            raise TextError(f"{tree.word}() is not known before the game")
        return min(parts) if tree.word == "min" else max(parts)
    if tree.kind == "not":
        return int(not parts[0])
    if tree.kind == "negative":
        return -parts[0]
    return calculate(tree.kind, *parts)


def calculate(operator: str, left: int, right: int) -> int:
    """Two numbers joined by an operator; division rounds down."""
    if operator in ("/", "%") and not right:
        raise TextError("a division by zero")
    result: int
    match operator:
        case "+":
            result = left + right
        case "-":
            result = left - right
        case "*":
            result = left * right
        case "/":
            result = left // right
        case "%":
            result = left % right
        case "and":
            result = bool(left) and bool(right)
        case "or":
            result = bool(left) or bool(right)
        case "==" | "!=" | "<" | "<=" | ">" | ">=":
            result = compare(operator, left, right)
        case _:
            raise TextError(f"{operator} joins no numbers")
    if abs(result) > LARGEST:
        raise TextError(f"a number above {LARGEST}")
    return int(result)


def compare(operator: str, left: int, right: int) -> bool:
    return (
        (left == right and operator in ("==", "<=", ">="))
        or (left < right and operator in ("<", "<=", "!="))
        or (left > right and operator in (">", ">=", "!="))
    )
