"""The kinds of moves: what each kind binds, needs and does, for every cell and direction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from zermelo.games.definition.board import DIRECTIONS, Cell, Mask, mask_of
from zermelo.games.definition.document import Expression
from zermelo.games.definition.lowering import Scope
from zermelo.games.definition.model import Model
from zermelo.games.definition.rules import Rule, read_shapes
from zermelo.games.definition.static import number
from zermelo.games.definition.tables import Change, Put
from zermelo.games.definition.terms import TRUE, Ray, Term, conjunction, const, may_hold


@dataclass(frozen=True, slots=True)
class Candidate:
    """A ground move before the rule's own conditions."""

    name: str
    guard: Term
    puts: list[Put] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    cells: Mapping[str, Mask] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)
    source: Mask = 0
    target: Mask = 0
    lifts: int = 0
    rays: frozenset[Ray] = frozenset()


def candidates(rule: Rule, scope: Scope) -> Iterator[Candidate]:
    return _KINDS[rule.kind](rule, scope)


def _set(rule: Rule, scope: Scope, key: str, default: str) -> Term:
    return scope.set(rule.table.expression(key, default))


def _before(scope: Scope, cells: list[Cell], term: Term) -> frozenset[int]:
    """The values that cells of a set can have."""
    return frozenset(
        value for value in range(len(scope.model.values))
        if any(may_hold(term, cell, value) for cell in cells)
    )


def _value(rule: Rule, scope: Scope) -> int | None:
    return scope.model.value_of(rule.piece, scope.side)


# -- putting and taking pieces -----------------------------------------------------------------


def _place(rule: Rule, scope: Scope) -> Iterator[Candidate]:
    model, value = scope.model, _value(rule, scope)
    if value is None:
        return
    lifts = value if rule.table.flag("lift") else 0
    target = _set(rule, scope, "to", "empty | own" if lifts else "empty")
    for shape in read_shapes(rule.table):
        for cells in _placements(model, shape, scope.side):
            guard = [scope.all_within(cells, target)]
            mask = mask_of(cells)
            if lifts:
                # Putting the piece back where it stands is no move.
                guard.append(("not", ("within", mask, ("plane", value))))
            rays = frozenset[Ray]()
            if rule.table.flag("outflank"):
                rays = _rays(model, cells[0])
                guard.append(("outflanks", scope.side, rays))
            yield Candidate(
                "-".join(model.board.names[cell] for cell in sorted(cells)),
                conjunction(guard),
                [Put(mask, value, _before(scope, cells, target))],
                cells={"to": mask}, target=mask, lifts=lifts, rays=rays,
            )


def _placements(model: Model, shape: list[tuple[int, int]], side: int) -> Iterator[list[Cell]]:
    board = model.board
    at = {place: cell for cell, place in enumerate(board.places)}
    for row, col in board.places:
        cells = [at.get((row + down, col + right)) for down, right in shape]
        found = [cell for cell in cells if cell is not None]
        # Shapes start at their upper left, which need not be one of their cells.
        if len(found) == len(shape):
            yield [model.seen(cell, side) for cell in found]


def _rays(model: Model, cell: Cell) -> frozenset[Ray]:
    found = set()
    for way in DIRECTIONS:
        ray: list[Cell] = []
        at = model.board.neighbour(cell, way)
        while at is not None:
            ray.append(at)
            at = model.board.neighbour(at, way)
        if len(ray) > 1:
            found.add(tuple(ray))
    return frozenset(found)


def _drop(rule: Rule, scope: Scope) -> Iterator[Candidate]:
    model, value = scope.model, _value(rule, scope)
    ways = rule.directions() or ["s"]
    if len(ways) != 1:
        rule.table.place("along").fail("pieces drop in one direction; write one such as s")
    if value is None:
        return
    target = _set(rule, scope, "to", "empty")
    for cell in range(model.board.cells):
        below = model.board.neighbour(cell, ways[0])
        to = model.seen(cell, scope.side)
        guard = [scope.all_within([to], target)]
        if below is not None:
            filled = scope.set(rule.table.parsed("drop", "filled"))
            guard.append(scope.all_within([model.seen(below, scope.side)], filled))
        name = model.board.names[to]
        yield Candidate(
            name[:1] if ways[0] in ("n", "s") and model.board.kind != "path" else name[1:] or name,
            conjunction(guard), [Put(1 << to, value, _before(scope, [to], target))],
            cells={"to": 1 << to}, target=1 << to,
        )


def _remove(rule: Rule, scope: Scope) -> Iterator[Candidate]:
    model, target = scope.model, _set(rule, scope, "remove", "")
    for cell in range(model.board.cells):
        at = model.seen(cell, scope.side)
        before = _before(scope, [at], target) - {0}
        if before:
            filled = scope.set(rule.table.parsed("remove", "filled"))
            guard = [scope.all_within([at], target), scope.all_within([at], filled)]
            yield Candidate(
                f"x{model.board.names[at]}", conjunction(guard), [Put(1 << at, 0, before)],
                cells={"to": 1 << at}, target=1 << at,
            )


# -- moving pieces -------------------------------------------------------------------------


def _step(rule: Rule, scope: Scope) -> Iterator[Candidate]:
    value = _value(rule, scope)
    if value is None:
        return
    target = _set(rule, scope, "to", "empty")
    for source, _, to in scope.model.board.along(rule.directions()):
        yield _moved(scope, value, [source, to], [target])


def _slide(rule: Rule, scope: Scope) -> Iterator[Candidate]:
    value = _value(rule, scope)
    if value is None:
        return
    target, empty = _set(rule, scope, "to", "empty"), scope.set(rule.table.parsed("to", "empty"))
    for path in _paths(rule, scope):
        for length in range(1, len(path)):
            yield _moved(
                scope, value, path[: length + 1], [*([empty] * (length - 1)), target]
            )


def _hop(rule: Rule, scope: Scope) -> Iterator[Candidate]:
    value = _value(rule, scope)
    if value is None:
        return
    over, target = _set(rule, scope, "over", "enemy"), _set(rule, scope, "to", "empty")
    captures = rule.table.flag("capture")
    for path in _paths(rule, scope):
        longest = len(path) if rule.table.flag("repeat") else 3
        for length in range(3, min(longest, len(path)) + 1, 2):
            needs = [target if at % 2 else over for at in range(length - 1)]
            yield _moved(scope, value, path[:length], needs, over, captures=captures)


def _paths(rule: Rule, scope: Scope) -> Iterator[list[Cell]]:
    """From every cell in every direction, as far as the links go."""
    ways: dict[tuple[Cell, str], Cell] = {}
    for cell, way, after in scope.model.board.along(rule.directions()):
        ways[cell, way] = after
    for cell, way in ways:
        path, at = [cell], ways.get((cell, way))
        while at is not None and at not in path:
            path.append(at)
            at = ways.get((at, way))
        scope.meter.spend(len(path))
        yield path


def _moved(
    scope: Scope, value: int, path: list[Cell], needs: list[Term], over: Term | None = None,
    *, captures: bool = False,
) -> Candidate:
    """A piece goes along a path of which every cell but the first must be in a set."""
    model = scope.model
    path = [model.seen(cell, scope.side) for cell in path]
    guard = [scope.all_within(path[:1], ("plane", value))]
    for cell, need in zip(path[1:], needs, strict=True):
        guard.append(scope.all_within([cell], need))
    source, to = 1 << path[0], 1 << path[-1]
    puts = [Put(source, 0, frozenset({value})),
            Put(to, value, _before(scope, path[-1:], needs[-1]))]
    jumped = path[1:-1:2] if over is not None else []
    if captures and over is not None:
        puts.append(Put(mask_of(jumped), 0, _before(scope, jumped, over)))
    return Candidate(
        f"{model.board.names[path[0]]}-{model.board.names[path[-1]]}", conjunction(guard), puts,
        cells={"from": source, "to": to, "over": mask_of(jumped)}, source=source, target=to,
    )


# -- heaps and pits --------------------------------------------------------------------------


def _heap(scope: Scope, size: int) -> int:
    counter = scope.model.counter(f"heap{size}", None)
    assert counter is not None, f"no heap of {size}"  # noqa: S101 - read_model makes them
    return counter


def _heap_move(scope: Scope, size: int, parts: list[int], taken: int) -> Candidate:
    counter = _heap(scope, size)
    after = [part for part in parts if part]
    return Candidate(
        f"{size}>{'+'.join(map(str, after)) or 0}",
        ("<", const(0), ("counter", counter)),
        changes=[
            _add(counter, const(-1)), *(_add(_heap(scope, part), const(1)) for part in after)
        ],
        numbers={"size": size, "taken": taken, "rest": size - taken},
    )


def _add(counter: int, amount: Term) -> Change:
    return Change(counter, "+=", amount, TRUE)


def _range(rule: Rule, scope: Scope, key: str) -> tuple[int, int]:
    """Two numbers written as ``1 to k``; one number stands for both."""
    low, _, high = rule.table.text(key).partition(" to ")
    parts: list[Expression] = [rule.table.parsed(key, part) for part in (low, high or low)]
    return number(parts[0], scope.model.numbers), number(parts[1], scope.model.numbers)


def _take(rule: Rule, scope: Scope) -> Iterator[Candidate]:
    least, most = _range(rule, scope, "take")
    if least < 1:
        rule.table.place("take").fail(f"taking {least}; at least 1 must be taken")
    for size in range(1, max(scope.model.board.heaps) + 1):
        for taken in range(least, min(size, most) + 1):
            yield _heap_move(scope, size, [size - taken], taken)


def _split(rule: Rule, scope: Scope) -> Iterator[Candidate]:
    unequal = rule.table.choice("split", ("any", "unequal")) == "unequal"
    for size in range(2, max(scope.model.board.heaps) + 1):
        for part in range(1, (size + 1) // 2 if unequal else size // 2 + 1):
            yield _heap_move(scope, size, [part, size - part], 0)


def _sow(rule: Rule, scope: Scope) -> Iterator[Candidate]:
    """One seed into each hole and the own store on the way round; never the enemy's store."""
    rule.table.choice("sow", ("own",))
    captures = rule.table.choice("capture", ("no", "opposite"), "no") == "opposite"
    model, side = scope.model, scope.side
    holes = model.board.holes

    def hole(owner: int, at: int) -> int:
        counter = model.counter(f"hole{at}", owner)
        assert counter is not None, f"no hole {at}"  # noqa: S101 - read_model makes them
        return counter

    store = model.counter("store", side)
    assert store is not None, "no store"  # noqa: S101 - read_model makes them
    ring = [*(hole(side, at) for at in range(1, holes + 1)), store,
            *(hole(1 - side, at) for at in range(1, holes + 1))]
    for at in range(1, holes + 1):
        source = hole(side, at)
        for seeds in range(1, model.counters[source].most + 1):
            scope.meter.spend(2 * holes)
            adds = dict.fromkeys(ring, 0)
            place = at - 1
            for _ in range(seeds):
                place = (place + 1) % len(ring)
                adds[ring[place]] += 1
            last = ring[place]
            guard: Term = ("==", ("counter", source), const(seeds))
            sown = [Change(source, "=", const(adds[source]), TRUE)]
            sown += [_add(each, const(adds[each])) for each in ring if adds[each]
                     and each != source]
            numbers = {"seeds": seeds, "store": int(last == store)}
            if captures and place < holes and adds[last] == 1:
                opposite = hole(1 - side, holes - place)
                taken: Term = ("+", ("counter", opposite), const(1))
                conditions = [guard, ("<", const(0), ("+", ("counter", opposite),
                                                      const(adds[opposite])))]
                if last != source:
                    conditions.append(("==", ("counter", last), const(0)))
                yield Candidate(
                    str(at), conjunction(conditions),
                    changes=[*sown, _add(store, taken), Change(opposite, "=", const(0), TRUE),
                             Change(last, "=", const(0), TRUE)],
                    numbers=numbers,
                )
            yield Candidate(str(at), guard, changes=sown, numbers=numbers)


def _skip(rule: Rule, scope: Scope) -> Iterator[Candidate]:
    name = rule.table.text("skip")
    if not (name.isascii() and name.isalpha() and name.islower() and len(name) <= 12) or name in (
        "pass", "stop"
    ):
        rule.table.place("skip").fail(
            "write the name of the move: 1 to 12 of a-z, but neither pass nor stop"
        )
    yield Candidate(name, TRUE)


_KINDS: dict[str, Callable[[Rule, Scope], Iterator[Candidate]]] = {
    "place": _place, "drop": _drop, "remove": _remove, "step": _step, "slide": _slide,
    "hop": _hop, "take": _take, "split": _split, "sow": _sow, "skip": _skip,
}  # fmt: skip
