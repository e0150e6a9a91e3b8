"""The expression grammar: parsed by recursive descent into a small syntax tree.

    expression  = conjunction { "or" conjunction }
    conjunction = negation { "and" negation }
    negation    = "not" negation | comparison
    comparison  = sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ]
    sum         = term { ("+" | "-" | "|") term }
    term        = factor { ("*" | "/" | "%" | "&") factor }
    factor      = "-" factor | atom
    atom        = number | name | owner name | name "(" [ expression { "," expression } ] ")"
                | "(" expression ")"
    owner       = "own" | "enemy" | "first" | "second"

An owner may stand alone: all pieces of that side. What a name means, and whether it is a
number, a truth or a set of cells, is decided where the expression is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from zermelo.games.definition.errors import DefinitionError, shorten
from zermelo.games.definition.limits import MOST_EXPRESSION, MOST_NESTING, MOST_NUMBER

OWNERS = ("own", "enemy", "first", "second")
WORDS = ("and", "or", "not")
_TOKEN = re.compile(r"\s*(?:([0-9]+)|([a-z][a-z0-9_]*)|(==|!=|<=|>=|[-+*/%&|<>(),]))", re.ASCII)
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Number:
    value: int


@dataclass(frozen=True, slots=True)
class Name:
    name: str
    #: One of OWNERS, or nothing.
    owner: str = ""

    def __str__(self) -> str:
        return f"{self.owner} {self.name}".strip()


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator with one or two operands."""

    operator: str
    operands: tuple[Node, ...]


Node = Number | Name | Call | Operation


def parse_expression(text: str) -> Node:
    """The syntax tree; `DefinitionError` tells what is wrong, without naming the place."""
    if len(text) > MOST_EXPRESSION:
        raise DefinitionError(
            f"an expression of {len(text)} characters; at most {MOST_EXPRESSION} are allowed"
        )
    parser = _Parser(text)
    tree = parser.expression()
    if parser.token:
        raise parser.error("an operator or the end")
    return tree


class _Parser:
    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth = text, 0, 0
        self.token = ""
        self._next()

    def error(self, expected: str) -> DefinitionError:
        found = f"found {self.token!r}" if self.token else "it ends"
        return DefinitionError(f"'{shorten(self._text)}': expected {expected}, but {found}")

    def _next(self) -> None:
        matched = _TOKEN.match(self._text, self._at)
        if matched:
            self.token, self._at = matched[0].strip(), matched.end()
            return
        rest = self._text[self._at :].strip()
        if rest:
            raise DefinitionError(
                f"'{shorten(self._text)}': the sign '{shorten(rest[0])}' means nothing here;"
                " expressions have lower-case names, numbers, and + - * / % & | < > = ! ( ) ,"
            )
        self.token = ""

    def _take(self, *tokens: str) -> str:
        """The token, if it is one of these."""
        found = self.token
        if found not in tokens:
            return ""
        self._next()
        return found

    def _deeper(self, parse: Callable[[], Node]) -> Node:
        self._depth += 1
        if self._depth > MOST_NESTING:
            raise DefinitionError(
                f"'{shorten(self._text)}': nested deeper than {MOST_NESTING} levels"
            )
        tree = parse()
        self._depth -= 1
        return tree

    def _chain(self, parse: Callable[[], Node], *operators: str) -> Node:
        tree = parse()
        while operator := self._take(*operators):
            tree = Operation(operator, (tree, parse()))
        return tree

    def expression(self) -> Node:
        return self._chain(self._conjunction, "or")

    def _conjunction(self) -> Node:
        return self._chain(self._negation, "and")

    def _negation(self) -> Node:
        if self._take("not"):
            return Operation("not", (self._deeper(self._negation),))
        return self._comparison()

    def _comparison(self) -> Node:
        tree = self._sum()
        if operator := self._take(*_COMPARISONS):
            tree = Operation(operator, (tree, self._sum()))
        return tree

    def _sum(self) -> Node:
        return self._chain(self._term, "+", "-", "|")

    def _term(self) -> Node:
        return self._chain(self._factor, "*", "/", "%", "&")

    def _factor(self) -> Node:
        if self._take("-"):
            return Operation("-", (self._deeper(self._factor),))
        return self._atom()

    def _atom(self) -> Node:
        token = self.token
        if self._take("("):
            tree = self._deeper(self.expression)
            if not self._take(")"):
                raise self.error("')'")
            return tree
        if token[:1].isdigit():
            if len(token) > len(str(MOST_NUMBER)) or int(token) > MOST_NUMBER:
                raise DefinitionError(f"the number {shorten(token)} is above {MOST_NUMBER}")
            self._next()
            return Number(int(token))
        if not token[:1].isalpha() or token in WORDS:
            raise self.error("a number, a name or '('")
        self._next()
        if self._take("("):
            return Call(token, self._arguments())
        if token in OWNERS:
            if self.token[:1].isalpha() and self.token not in WORDS:
                name = self.token
                self._next()
                return Name(name, token)
            return Name("", token)
        return Name(token)

    def _arguments(self) -> tuple[Node, ...]:
        arguments: list[Node] = []
        if self._take(")"):
            return ()
        while True:
            arguments.append(self._deeper(self.expression))
            if self._take(")"):
                return tuple(arguments)
            if not self._take(","):
                raise self.error("',' or ')'")
