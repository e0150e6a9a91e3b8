"""Bytecode and pools of a definition's program: terms, masks, sets and rays as numbers."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import pairwise

from zermelo.games.definition.terms import Ray, Term

_OPERATIONS = (
    "end", "const", "counter", "sum", "largest", "count", "lines", "+", "-", "*", "/", "%", "<",
    "<=", "==", "!=", "not", "and", "or", "mask", "plane", "pending", "isect", "union", "minus",
    "beside", "in_lines", "within", "connected", "can", "outflanks", "any", "none", "any lines",
    "meets", "lacks",
)  # fmt: skip
CODES = {name: code for code, name in enumerate(_OPERATIONS)}
MOST_SETS = 64
#: The set of the pieces that may move: the pending one, all if there is none.
MOVABLE = 0


class Code:
    """What the tables of a program refer to by number; equal things are stored once."""

    def __init__(self) -> None:
        self.code: list[int] = []
        self.masks: list[int] = [0]
        self.rays: list[int] = []
        self.sets: dict[int, int] = {}
        self._at: dict[Term, int] = {}
        self._mask_at: dict[int, int] = {0: 0}
        self._lines_at: dict[frozenset[int], int] = {}
        self._rays_at: dict[frozenset[Ray], int] = {}

    # -- pools ------------------------------------------------------------------------

    def mask(self, mask: int) -> int:
        if mask not in self._mask_at:
            self._mask_at[mask] = len(self.masks)
            self.masks.append(mask)
        return self._mask_at[mask]

    def set_of(self, values: int) -> int | None:
        """The number of a union of planes; None if there are too many already."""
        if values not in self.sets and len(self.sets) >= MOST_SETS:
            return None
        return self.sets.setdefault(values, len(self.sets))

    def ray_offset(self, rays: frozenset[Ray]) -> int:
        if rays not in self._rays_at:
            self._rays_at[rays] = len(self.rays)
            for ray in sorted(rays):
                self.rays += [self.mask(mask_of(ray)), _course(ray), len(ray), *ray]
        return self._rays_at[rays]

    def _lines(self, lines: frozenset[int]) -> int:
        if lines not in self._lines_at:
            self._lines_at[lines] = len(self.masks)
            self.masks += sorted(lines)
        return self._lines_at[lines]

    def _shapes(self, lines: frozenset[int]) -> list[int]:
        """Lines of equal shape together: where they begin, and how far to shift."""
        found: list[int] = []
        for shape, begins in sorted(shapes_of(lines).items()):
            distances = [at for at in range(1, shape.bit_length()) if shape >> at & 1]
            doubled = _doubled(distances)
            if doubled is None:
                found += [self.mask(begins), -len(distances), *distances]
            else:
                found += [self.mask(begins), len(doubled), *doubled]
        return found

    def line_table(self, lines: frozenset[int]) -> int:
        """Where a table of lines by shape stands: how many shapes, then for each the mask of where
        lines begin, the number of further cells, the distance between neighbours (0: they are not
        equally far apart), and how far each is."""
        shapes = sorted(shapes_of(lines).items())
        start = len(self.code)
        self.code.append(len(shapes))
        for shape, begins in shapes:
            distances = [at for at in range(1, shape.bit_length()) if shape >> at & 1]
            self.code += [
                self.mask(begins), len(distances), equal_distance(shape) or 0, *distances
            ]
        return start

    # -- code -------------------------------------------------------------------------

    def offset(self, term: Term) -> int:
        """Where the code of a term begins; equal terms share it."""
        if term not in self._at:
            code: list[int] = []
            self._emit(term, code)
            start = len(self.code)
            for position, value in _jumps(code):
                code[position] = start + value
            self.code += [*map(int, code), CODES["end"]]
            self._at[term] = start
        return self._at[term]

    def _emit(self, term: Term, code: list[int]) -> None:
        operation = CODES[term[0]] if term[0] in CODES else CODES["const"]
        match term:
            case ("!=", ("count", ("isect", parts)), ("const", 0)) if _plane_and_mask(parts):
                (plane, mask) = sorted(parts, reverse=True)
                code += [CODES["meets"], plane[1], self.mask(mask[1])]
            case ("==", ("count", ("plane", plane)), ("const", 0)):
                code += [CODES["lacks"], plane]
            case ("!=" | "==" as relation, ("count", inner), ("const", 0)):
                self._emit(inner, code)
                code.append(CODES["any" if relation == "!=" else "none"])
            case ("!=", ("lines", inner, lines), ("const", 0)):
                self._emit_lines("any lines", inner, lines, code)
            case ("const", value):
                code += [operation, value]
            case ("counter", at) | ("plane", at):
                code += [operation, at]
            case ("mask", mask):
                code += [operation, self.mask(mask)]
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
                self._emit_lines("lines", inner, lines, code)
            case ("in_lines", inner, lines):
                self._emit(inner, code)
                code += [operation, self._lines(lines), len(lines)]
            case ("within", mask, inner):
                self._emit(inner, code)
                code += [operation, self.mask(mask)]
            case ("connected", inner, sides):
                ordered = sorted(sides)
                self._emit(inner, code)
                code += [operation, self.mask(ordered[0]), self.mask(ordered[-1])]
            case ("can", side, rule):
                code += [operation, side, rule]
            case ("outflanks", side, rays):
                code += [operation, side, self.ray_offset(rays), len(rays)]
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

    def _emit_lines(
        self, operation: str, inner: Term, lines: frozenset[int], code: list[int]
    ) -> None:
        self._emit(inner, code)
        shapes = self._shapes(lines)
        code += [CODES[operation], 3 + len(shapes), len(shapes_of(lines)), *shapes]

    def _emit_joined(self, operation: int, parts: Sequence[Term], code: list[int]) -> None:
        jumps = []
        for number, part in enumerate(parts):
            self._emit(part, code)
            if number < len(parts) - 1:
                code += [operation, _Jump(0)]
                jumps.append(len(code) - 1)
        for at in jumps:
            code[at] = _Jump(len(code))


def _plane_and_mask(parts: frozenset[Term]) -> bool:
    return sorted(part[0] for part in parts) == ["mask", "plane"]


def shapes_of(lines: frozenset[int]) -> dict[int, int]:
    """For each shape, shifted down to the first cell, the first cells of the lines that have it."""
    found: dict[int, int] = {}
    for line in lines:
        first = lowest(line)
        found[line >> first] = found.get(line >> first, 0) | 1 << first
    return found


def equal_distance(shape: int) -> int | None:
    """How far each cell of a shape is from the one before; None if that differs or it has one."""
    cells = [at for at in range(shape.bit_length()) if shape >> at & 1]
    distances = {after - at for at, after in pairwise(cells)}
    return distances.pop() if len(distances) == 1 else None


def _doubled(distances: Sequence[int]) -> list[int] | None:
    """How to shift what is left of a set onto itself, for cells at equal distances.

    With n cells of a line found from where one begins, a shift by at most n cells finds more.
    """
    if not distances or any(
        distance != (at + 1) * distances[0] for at, distance in enumerate(distances)
    ):
        return None if distances else []
    shifts, covered = [], 1
    while covered < len(distances) + 1:
        step = min(covered, len(distances) + 1 - covered)
        shifts.append(step * distances[0])
        covered += step
    return shifts


def _course(ray: Ray) -> int:
    """1 if the cells ascend, 0 if they descend, -1 otherwise."""
    if list(ray) == sorted(ray):
        return 1
    return 0 if list(ray) == sorted(ray, reverse=True) else -1


class _Jump(int):
    """A place in the code of a term, relative to where the term will begin."""


def _jumps(code: list[int]) -> list[tuple[int, int]]:
    return [(at, int(value)) for at, value in enumerate(code) if isinstance(value, _Jump)]


def _cost(term: Term) -> tuple[bool, int, str]:
    text = repr(term)
    return "'can'" in text, len(text), text


# -- numbers as bytes ----------------------------------------------------------------------


def mask_of(cells: Iterable[int]) -> int:
    found = 0
    for cell in cells:
        found |= 1 << cell
    return found


def lowest(mask: int) -> int:
    """The first cell of a mask that has one."""
    return (mask & -mask).bit_length() - 1


def ints(numbers: Iterable[int]) -> bytes:
    return array("i", numbers).tobytes()


def words(numbers: Iterable[int], size: int) -> bytes:
    """Numbers of `size` bytes each."""
    return b"".join(number.to_bytes(size, "little") for number in numbers)
