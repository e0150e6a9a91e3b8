"""Compiling the tables of a definition for the kernel in C: bytecode and arrays of numbers.

Nothing here is a program that an operating system could run; the kernel interprets it
(cext/definition_program.h), and its instructions work on whole sets of cells.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

from zermelo.games.definition.definition import Compiled
from zermelo.games.definition.symmetry import Symmetry
from zermelo.games.definition.tables import Change, Instance
from zermelo.games.definition.terms import FALSE, TRUE, Term

_OPERATIONS = (
    "end", "const", "counter", "sum", "largest", "count", "lines", "+", "-", "*", "/", "%", "<",
    "<=", "==", "!=", "not", "and", "or", "mask", "plane", "pending", "isect", "union", "minus",
    "beside", "in_lines", "within", "connected", "can", "outflanks",
)  # fmt: skip
CODES = {name: code for code, name in enumerate(_OPERATIONS)}
MOST_SETS = 64
SMALL_CELLS = 64
NEVER, ALWAYS = -1, -2
STUCK = {"loss": -1, "draw": 0, "win": 1, "pass": 2, "score": 3}
_BYTE = 8


class Program:
    """The parts that `Core` of the kernel takes."""

    def __init__(self, compiled: Compiled) -> None:
        self._tables, self._model = compiled.tables, compiled.tables.model
        #: Whether masks of 64 bits suffice.
        self.small = self._model.board.cells <= SMALL_CELLS
        self._code: list[int] = []
        self._at: dict[Term, int] = {}
        self._masks: list[int] = [0]
        self._mask_at: dict[int, int] = {0: 0}
        self._lines_at: dict[frozenset[int], int] = {}
        self._rays: list[int] = []
        self._rays_at: dict[frozenset[tuple[int, ...]], int] = {}
        self._sets: dict[int, int] = {}
        self._tests: list[int] = []
        self._puts: list[int] = []
        self._changes: list[int] = []
        self._cases: list[int] = []
        self._anchors: list[bytes] = []
        self._offsets: list[int] = []
        self._anchored: list[int] = []
        self.parts = self._assemble(compiled)

    def _assemble(self, compiled: Compiled) -> dict[str, Any]:
        tables, model = self._tables, self._model
        moves: list[bytes] = []
        of_rule: list[dict[int, list[int]]] = []
        count = 0
        for side in (0, 1):
            rows: list[int] = []
            by_rule: dict[int, list[int]] = {}
            by_anchor: dict[int, list[tuple[int, int]]] = {}
            for move, instances in enumerate(tables.instances[side]):
                anchors = []
                for instance in instances:
                    anchors.append(self._case(instance, move))
                    by_rule.setdefault(instance.rule, []).append(count + len(anchors) - 1)
                if len(anchors) == 1 and anchors[0] is not None:
                    values, cell = anchors[0]
                    by_anchor.setdefault(values, []).append((cell, count))
                elif anchors:
                    rows += [move, count, len(anchors)]
                count += len(anchors)
            moves.append(_ints(rows))
            self._anchor(by_anchor)
            of_rule.append(by_rule)
        rule_cases: list[int] = []
        rule_start = []
        for by_rule in of_rule:
            rows = []
            for rule in range(len(tables.rules)):
                rows += [len(rule_cases), len(by_rule.get(rule, []))]
                rule_cases += by_rule.get(rule, [])
            rule_start.append(_ints(rows))
        ends = [
            _ints([at for end in tables.ends[side]
                   for at in (self._offset(end.condition), self._offset(end.score))])
            for side in (0, 1)
        ]
        scores = [-1 if score is None else self._offset(score) for score in tables.scores]
        limit = tables.limit
        beside = [0] * model.board.cells
        for cell, _, after in model.board.links:
            beside[cell] |= 1 << after
        symmetries = compiled.symmetries
        numbers = _Numbers(compiled)
        return {
            "facts": (
                len(model.values), len(model.counters), model.board.cells, int(model.chains),
                STUCK[model.stuck], limit.clock if limit else -1, limit.plies if limit else 0,
                limit.score if limit else 0,
            ),
            "code": _ints(self._code), "masks": self._sized(self._masks), "rays": _ints(self._rays),
            "tests": _ints(self._tests), "puts": _ints(self._puts),
            "changes": _ints(self._changes), "cases": _ints(self._cases), "moves": moves,
            "anchors": self._anchors, "offsets": _ints(self._offsets),
            "anchored": _ints(self._anchored), "ends": ends, "scores": scores,
            "rule_cases": _ints(rule_cases),
            "rule_start": rule_start, "sets": _ints(self._sets),
            "own": [_values(at for at, value in enumerate(model.values) if value.side == side)
                    for side in (0, 1)],
            "beside": self._sized(beside),
            "bytes": numbers.bytes,
            "key_bytes": b"".join(numbers.plane_table(each) for each in symmetries),
            "counter_weights": _masks(
                weight for each in symmetries for weight in numbers.counter_weights(each)
            ),
            "pending_weights": _masks(
                weight for each in symmetries for weight in numbers.pending_weights(each)
            ),
            "exchanges": [int(each.exchange) for each in symmetries],
            "most": _ints([counter.most for counter in model.counters]),
        }

    def _sized(self, masks: Iterable[int]) -> bytes:
        """Masks as the kernel that fits the board has them."""
        size = 8 if self.small else 16
        return b"".join(mask.to_bytes(size, "little") for mask in masks)

    # -- cases ------------------------------------------------------------------------

    def _case(self, instance: Instance, move: int) -> tuple[int, int] | None:
        """Add a case; the set and the cell in it that it cannot do without, if there are such."""
        test, put, change = len(self._tests) // 2, len(self._puts) // 2, len(self._changes) // 5
        rest = []
        parts = instance.guard[1] if instance.guard[0] == "and" else (instance.guard,)
        for part in sorted(parts, key=repr):
            if not self._test(part):
                rest.append(part)
        guard = NEVER
        if rest and rest != [TRUE]:
            guard = self._offset(rest[0] if len(rest) == 1 else ("and", frozenset(rest)))
        for each in instance.puts:
            self._puts += [self._mask(each.mask), each.value]
        for changed in instance.changes:
            self._change(changed)
        again = {FALSE: NEVER, TRUE: ALWAYS}.get(instance.again)
        self._cases += [
            instance.rule, move, test, len(self._tests) // 2 - test, guard, instance.lifts,
            put, len(instance.puts), self._ray_offset(instance.rays), len(instance.rays),
            change, len(instance.changes), self._mask(instance.chain) if instance.chain else NEVER,
            self._offset(instance.again) if again is None else again, int(instance.resets),
        ]
        return self._choose_anchor(self._tests[2 * test :])

    def _choose_anchor(self, tests: Sequence[int]) -> tuple[int, int] | None:
        """Pieces are fewer than empty cells, so that a set of pieces is looked through sooner."""
        values = list(self._sets)
        choices = [
            (values[at] & 1, values[at].bit_count(), at, self._masks[mask])
            for at, mask in zip(tests[::2], tests[1::2], strict=True) if self._masks[mask]
        ]
        if not choices:
            return None
        _, _, at, cells = min(choices)
        return at, (cells & -cells).bit_length() - 1

    def _anchor(self, by_anchor: dict[int, list[tuple[int, int]]]) -> None:
        """The index of the moves of one side by set and cell."""
        rows: list[int] = []
        for values, found in by_anchor.items():
            cells = _values(cell for cell, _ in found)
            rows += [values, self._mask(cells), len(self._offsets)]
            for cell in range(self._model.board.cells):
                self._offsets.append(len(self._anchored))
                self._anchored += [case for at, case in found if at == cell]
            self._offsets.append(len(self._anchored))
        self._anchors.append(_ints(rows))

    def _test(self, term: Term) -> bool:
        """Make the quick test of a condition that cells are in a union of planes."""
        if term[0] != "within":
            return False
        planes = term[2][1] if term[2][0] == "union" else (term[2],)
        if any(plane[0] != "plane" for plane in planes):
            return False
        values = _values(plane[1] for plane in planes)
        if values not in self._sets and len(self._sets) >= MOST_SETS:
            return False
        self._tests += [self._set(values), self._mask(term[1])]
        return True

    def _set(self, values: int) -> int:
        self._sets.setdefault(values, len(self._sets))
        return self._sets[values]

    def _change(self, change: Change) -> None:
        condition = NEVER if change.condition == TRUE else self._offset(change.condition)
        self._changes += [
            change.counter, int(change.operator == "+="), self._offset(change.amount), condition,
            self._model.counters[change.counter].most,
        ]

    # -- pools ------------------------------------------------------------------------

    def _mask(self, mask: int) -> int:
        if mask not in self._mask_at:
            self._mask_at[mask] = len(self._masks)
            self._masks.append(mask)
        return self._mask_at[mask]

    def _lines(self, lines: frozenset[int]) -> int:
        if lines not in self._lines_at:
            self._lines_at[lines] = len(self._masks)
            self._masks += sorted(lines)
        return self._lines_at[lines]

    def _shapes(self, lines: frozenset[int]) -> list[int]:
        """Lines of equal shape together: where they begin, and how far on their cells are."""
        found: list[int] = []
        for shape, begins in sorted(_shapes_of(lines).items()):
            offsets = [at for at in range(1, shape.bit_length()) if shape >> at & 1]
            found += [self._mask(begins), len(offsets), *offsets]
        return found

    def _ray_offset(self, rays: frozenset[tuple[int, ...]]) -> int:
        if rays not in self._rays_at:
            self._rays_at[rays] = len(self._rays)
            for ray in sorted(rays):
                self._rays += [len(ray), *ray]
        return self._rays_at[rays]

    # -- code -------------------------------------------------------------------------

    def _offset(self, term: Term) -> int:
        """Where the code of a term begins; equal terms share it."""
        if term not in self._at:
            code: list[int] = []
            self._emit(term, code)
            start = len(self._code)
            for position, value in _jumps(code):
                code[position] = start + value
            self._code += [*_plain(code), CODES["end"]]
            self._at[term] = start
        return self._at[term]

    def _emit(self, term: Term, code: list[int]) -> None:
        operation = CODES[term[0]] if term[0] in CODES else CODES["const"]
        match term:
            case ("const", value):
                code += [operation, value]
            case ("counter", at) | ("plane", at):
                code += [operation, at]
            case ("mask", mask):
                code += [operation, self._mask(mask)]
            case ("pending",):
                code.append(operation)
            case ("sum", counters):
                code += [operation, len(counters), *sorted(counters)]
            case ("largest", counters):
                code += [operation, len(counters), *counters]
            case ("count" | "not" | "beside", inner):
                self._emit(inner, code)
                code.append(operation)
            case ("lines", inner, lines):
                self._emit(inner, code)
                shapes = self._shapes(lines)
                code += [operation, 3 + len(shapes), len(_shapes_of(lines)), *shapes]
            case ("in_lines", inner, lines):
                self._emit(inner, code)
                code += [operation, self._lines(lines), len(lines)]
            case ("within", mask, inner):
                self._emit(inner, code)
                code += [operation, self._mask(mask)]
            case ("connected", inner, sides):
                ordered = sorted(sides)
                self._emit(inner, code)
                code += [operation, self._mask(ordered[0]), self._mask(ordered[-1])]
            case ("can", side, rule):
                code += [operation, side, rule]
            case ("outflanks", side, rays):
                code += [operation, side, self._ray_offset(rays), len(rays)]
            case ("and" | "or", parts):
                self._emit_joined(operation, sorted(parts, key=_cost), code)
            case ("union" | "isect", parts):
                for number, part in enumerate(sorted(parts, key=repr)):
                    self._emit(part, code)
                    code += [operation] * (number > 0)
            case ("/" | "%", left, (_, divisor)):
                self._emit(left, code)
                code += [operation, divisor]
            case (_, left, right):
                self._emit(left, code)
                self._emit(right, code)
                code.append(operation)

    def _emit_joined(self, operation: int, parts: Sequence[Term], code: list[int]) -> None:
        jumps = []
        for number, part in enumerate(parts):
            self._emit(part, code)
            if number < len(parts) - 1:
                code += [operation, _Jump(0)]
                jumps.append(len(code) - 1)
        for at in jumps:
            code[at] = _Jump(len(code))


def _shapes_of(lines: frozenset[int]) -> dict[int, int]:
    """For each shape, shifted down to the first cell, the first cells of the lines that have it."""
    found: dict[int, int] = {}
    for line in lines:
        first = (line & -line).bit_length() - 1
        found[line >> first] = found.get(line >> first, 0) | 1 << first
    return found


class _Jump(int):
    """A place in the code of a term, relative to where the term will begin."""


def _jumps(code: list[int]) -> list[tuple[int, int]]:
    return [(at, int(value)) for at, value in enumerate(code) if isinstance(value, _Jump)]


def _plain(code: list[int]) -> list[int]:
    return [int(value) for value in code]


def _cost(term: Term) -> tuple[bool, int, str]:
    text = repr(term)
    return "'can'" in text, len(text), text


class _Numbers:
    """How keys are made: what every byte of a plane, counter and cell adds to the number."""

    def __init__(self, compiled: Compiled) -> None:
        model = compiled.tables.model
        self._model = model
        self.bytes = max(1, -(-model.board.cells // _BYTE))
        weight = model.board.cells + 1 if model.chains else 1
        self._counters = [0] * len(model.counters)
        for at in reversed(range(len(model.counters))):
            self._counters[at] = weight
            weight *= model.counters[at].most + 1
        self._cells = [0] * model.board.cells
        for cell in reversed(range(model.board.cells)):
            self._cells[cell] = weight
            weight *= len(model.values)

    def plane_table(self, symmetry: Symmetry) -> bytes:
        found: list[int] = []
        for value in range(len(self._model.values)):
            image = symmetry.values[value]
            for byte in range(self.bytes):
                row = [0]
                for bit in range(_BYTE):
                    cell = byte * _BYTE + bit
                    adds = 0
                    if cell < len(self._cells):
                        adds = image * self._cells[symmetry.cells[cell]]
                    row += [number + adds for number in row]
                found += row
        return _masks(found)

    def counter_weights(self, symmetry: Symmetry) -> list[int]:
        return [self._counters[image] for image in symmetry.counters]

    def pending_weights(self, symmetry: Symmetry) -> list[int]:
        return [image + 1 for image in symmetry.cells]


def _ints(numbers: Iterable[int]) -> bytes:
    return array("i", numbers).tobytes()


def _masks(masks: Iterable[int]) -> bytes:
    return b"".join(mask.to_bytes(16, "little") for mask in masks)


def _values(values: Iterable[int]) -> int:
    found = 0
    for value in values:
        found |= 1 << value
    return found
