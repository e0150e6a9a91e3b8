"""Rules as a definition writes them: the keys of one ``[[move]]``, checked for form."""

from __future__ import annotations

import re
from dataclasses import dataclass

from zermelo.games.definition.board import read_directions
from zermelo.games.definition.document import Expression, Table
from zermelo.games.definition.errors import nearest, shorten, unknown
from zermelo.games.definition.limits import MOST_RULES
from zermelo.games.definition.model import Model

#: Kinds of moves, and the keys that only they know.
KINDS = {
    "place": ("to", "shape", "turn", "outflank", "lift"),
    "drop": ("to", "along"),
    "remove": (),
    "step": ("to", "along", "forfeit"),
    "slide": ("to", "along", "forfeit"),
    "hop": ("to", "over", "along", "capture", "repeat", "chain", "forfeit"),
    "take": (),
    "split": (),
    "sow": ("capture",),
    "skip": (),
}
#: The kinds by which a piece that is on the board goes elsewhere.
MOVING = ("step", "slide", "hop")
COMMON = ("name", "by", "if", "unless", "then", "again")
_EFFECT = re.compile(
    r"\s*((?:(?:own|enemy)\s+)?[a-z][a-z0-9_]*)\s*(\+=|-=|=)(?!=)\s*(.*)", re.ASCII
)
_NAME = re.compile(r"[a-z][a-z0-9_]{0,23}", re.ASCII)
MOST_EFFECTS = 16
MOST_SHAPE = 5  # so that the name of a move stays short


@dataclass(frozen=True, slots=True)
class Effect:
    """A counter that a move changes: ``own boxes += lines(filled, to) if phase == 0``."""

    owner: str
    counter: str
    operator: str
    amount: Expression
    condition: Expression | None


@dataclass(frozen=True, slots=True)
class Rule:
    kind: str
    name: str
    #: The sides that may use the rule.
    sides: tuple[int, ...]
    table: Table
    conditions: tuple[Expression, ...]
    exceptions: tuple[Expression, ...]
    effects: tuple[Effect, ...]
    again: Expression | None
    #: The rule above this one whose pieces are lost: all that could have used it; "": none.
    forfeit: str

    @property
    def piece(self) -> str:
        return self.table.text(self.kind)

    def directions(self) -> list[str] | None:
        if "along" not in self.table:
            return None
        return read_directions(self.table, "along", self.table.text("along"))


def read_rules(document: Table, model: Model) -> list[Rule]:
    tables = document.tables("move")
    if not 1 <= len(tables) <= MOST_RULES:
        document.place("move").fail(f"{len(tables)} rules; write 1 to {MOST_RULES} [[move]]")
    rules: list[Rule] = []
    for number, table in enumerate(tables):
        rule = _read_rule(table, model, number)
        if any(rule.name == other.name for other in rules):
            table.place("name").fail(f"two rules are called {rule.name!r}")
        moving = [other.name for other in rules if other.kind in MOVING]
        if "forfeit" in table and rule.forfeit not in moving:
            table.place("forfeit").fail(
                unknown("rule above this one that moves a piece", rule.forfeit, moving)
            )
        rules.append(rule)
    return rules


def _read_rule(table: Table, model: Model, number: int) -> Rule:
    kinds = [kind for kind in KINDS if kind in table]
    if not kinds:
        for key in table:
            if key not in COMMON and nearest(key, KINDS):
                table.place(key).fail(unknown("key", key, KINDS))
    if len(kinds) != 1:
        table.place().fail(f"{len(kinds) or 'no'} kinds of move; write exactly one of"
                           f" {', '.join(KINDS)}")
    kind = kinds[0]
    table.only(kind, *KINDS[kind], *COMMON)
    name = table.text("name", f"{kind}_{number + 1}")
    if not _NAME.fullmatch(name):
        table.place("name").fail(f"'{shorten(name)}' is no name of a rule; use a-z, 0-9 and _")
    if kind in ("place", "drop", "step", "slide", "hop"):
        piece = table.text(kind)
        if piece not in model.kinds:
            table.place(kind).fail(unknown("piece", piece, model.kinds))
    boards = {"take": "heaps", "split": "heaps", "sow": "pits"}
    if kind in boards and model.board.kind != boards[kind]:
        table.place(kind).fail(f"{kind!r} needs a board of {boards[kind]}")
    by = table.choice("by", ("both", "first", "second"), "both")
    sides = {"both": (0, 1), "first": (0,), "second": (1,)}[by]
    if model.solo:
        sides = tuple(side for side in sides if side == 0)
    return Rule(
        kind, name, sides, table,
        conditions=tuple(table.parsed("if", text) for text in table.texts("if")),
        exceptions=tuple(table.parsed("unless", text) for text in table.texts("unless")),
        effects=_read_effects(table, model),
        again=table.expression("again") if "again" in table else None,
        forfeit=table.text("forfeit", ""),
    )


def _read_effects(table: Table, model: Model) -> tuple[Effect, ...]:
    texts = table.texts("then")
    if len(texts) > MOST_EFFECTS:
        table.place("then").fail(f"{len(texts)} effects; at most {MOST_EFFECTS}")
    found = []
    for text in texts:
        matched = _EFFECT.fullmatch(text)
        if not matched:
            table.place("then").fail(
                f"'{shorten(text)}' is no effect; write COUNTER = NUMBER, += or -=,"
                " with `if CONDITION` behind it where it is not for every case"
            )
        *owner, counter = matched[1].split()
        changeable = [each for each in model.counters if each.name in model.declared]
        of_sides = {each.name for each in changeable if each.side is not None}
        shared = {each.name for each in changeable if each.side is None}
        known = of_sides if owner else shared
        if counter not in known:
            listed = [*shared, *(f"own {name}" for name in sorted(of_sides))]
            table.place("then").fail(unknown("counter", matched[1], listed))
        amount, guarded, condition = matched[3].partition(" if ")
        found.append(Effect(
            owner[0] if owner else "", counter, matched[2], table.parsed("then", amount),
            table.parsed("then", condition) if guarded else None,
        ))
    return tuple(found)


def read_shapes(table: Table) -> list[list[tuple[int, int]]]:
    """The cells of a shape, as rows and columns from its upper left; turned if it may be."""
    if "shape" not in table:
        return [[(0, 0)]]
    rows = table.texts("shape")
    cells = [(r, c) for r, row in enumerate(rows) for c, sign in enumerate(row) if sign == "#"]
    if not 1 <= len(cells) <= MOST_SHAPE or any(set(row) - {"#", "."} for row in rows):
        table.place("shape").fail(
            f"{shorten(rows)} is no shape; write rows of # and . with 1 to {MOST_SHAPE} #"
        )
    found: dict[tuple[tuple[int, int], ...], None] = {}
    for _ in range(4 if table.flag("turn") else 1):
        cells = [(c, -r) for r, c in cells] if found or table.flag("turn") else cells
        for turned in (cells, [(r, -c) for r, c in cells]) if table.flag("turn") else (cells,):
            top, left = min(r for r, _ in turned), min(c for _, c in turned)
            found[tuple(sorted((r - top, c - left) for r, c in turned))] = None
    return [list(shape) for shape in found]
