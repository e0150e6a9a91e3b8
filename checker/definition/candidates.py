"""What each kind of rule could do on the board: all its moves, possible or not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from zermelo.checker.definition.boards import COMPASS, directions
from zermelo.checker.definition.expressions import number_of
from zermelo.checker.definition.meanings import Meaning
from zermelo.checker.definition.pieces import EMPTY, Setup
from zermelo.checker.definition.reading import Section
from zermelo.checker.definition.terms import (
    TRUE,
    Cells,
    Constant,
    Encloses,
    Holding,
    Local,
    Number,
    Ray,
    Total,
    Truth,
    arithmetic,
    comparison,
    conjunction,
    inside,
    negation,
)

_MOST_SHAPE = 5


@dataclass(frozen=True, slots=True)
class Change:
    """A counter becomes a number, or the number is added to it, if a condition holds."""

    counter: int
    adds: bool
    amount: Number
    condition: Truth = TRUE


@dataclass(frozen=True, slots=True)
class Candidate:
    name: str
    guard: Truth
    #: What each cell becomes.
    puts: tuple[tuple[int, int], ...] = ()
    changes: tuple[Change, ...] = ()
    #: What conditions and effects know about the move.
    cells: dict[str, frozenset[int]] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    #: The cell of the piece before and after.
    source: int = -1
    target: int = -1
    #: The value that is taken off the whole board first; 0: none.
    lifts: int = EMPTY
    rays: frozenset[Ray] = frozenset()


class Moves:
    """The candidates of one rule for one side."""

    def __init__(self, section: Section, kind: str, meaning: Meaning) -> None:
        self._section, self._kind, self._meaning = section, kind, meaning
        self._setup: Setup = meaning.ground.setup
        self._board = self._setup.board

    def all(self) -> Iterator[Candidate]:
        kinds = {
            "place": self._places, "drop": self._drops, "remove": self._removals,
            "step": self._steps, "slide": self._slides, "hop": self._hops,
            "take": self._takes, "split": self._splits, "sow": self._sowings, "skip": self._skips,
        }  # fmt: skip
        for candidate in kinds[self._kind]():
            self._meaning.ground.work.spend(2 + len(candidate.puts) + len(candidate.changes))
            yield candidate

    # -- reading the rule --------------------------------------------------------------

    def _piece(self) -> int | None:
        kind = self._section.text(self._kind)
        if kind not in self._setup.kinds:
            self._section.fail(self._kind, "there is no such piece")
        return self._setup.piece(kind, self._meaning.side)

    def _set(self, key: str, default: str) -> Cells:
        return self._meaning.set(self._section.tree(key, default))

    def _ways(self) -> list[str] | None:
        if "along" not in self._section:
            return None
        return directions(self._section, "along", self._section.text("along"))

    def _seen(self, cell: int) -> int:
        return self._setup.seen(cell, self._meaning.side)

    def _inside(self, cell: int, cells: Cells) -> Truth:
        return inside(cell, cells, self._setup)

    @property
    def _filled(self) -> Local:
        return self._meaning.ground.holding(lambda piece: True)

    # -- putting and taking off ------------------------------------------------------

    def _places(self) -> Iterator[Candidate]:
        section, value = self._section, self._piece()
        lifting, outflanking = section.flag("lift"), section.flag("outflank")
        target = self._set("to", "empty | own" if lifting else "empty")
        shapes = self._shapes()
        if value is None:
            return
        for shape in shapes:
            for row, col in self._board.places:
                found = [self._board.at.get((row + down, col + right)) for down, right in shape]
                cells = [self._seen(cell) for cell in found if cell is not None]
                if len(cells) < len(shape):
                    continue
                guard = [self._inside(cell, target) for cell in cells]
                if lifting:
                    there = [Holding(cell, frozenset((value,))) for cell in cells]
                    guard.append(negation(conjunction(there)))
                rays: frozenset[Ray] = frozenset()
                if outflanking:
                    rays = frozenset(
                        tuple(ray) for way in COMPASS
                        if len(ray := self._board.ray(cells[0], way)) > 1
                    )
                    owners = tuple(piece.side for piece in self._setup.pieces)
                    guard.append(Encloses(self._meaning.side, rays, owners))
                yield Candidate(
                    "-".join(self._board.names[cell] for cell in sorted(cells)),
                    conjunction(guard), tuple((cell, value) for cell in cells),
                    cells={"to": frozenset(cells)}, lifts=value if lifting else EMPTY, rays=rays,
                )

    def _shapes(self) -> list[list[tuple[int, int]]]:
        """The shape in all its positions, each as rows and columns from its upper left."""
        section = self._section
        rows, turning = section.texts("shape") or ["#"], section.flag("turn")
        if any(set(row) - set("#.") for row in rows):
            section.fail("shape", "a shape has # and . only")
        cells = [(r, c) for r, row in enumerate(rows) for c, sign in enumerate(row) if sign == "#"]
        if not 1 <= len(cells) <= _MOST_SHAPE:
            section.fail("shape", f"a shape has 1 to {_MOST_SHAPE} cells")
        found: list[list[tuple[int, int]]] = []
        for mirrored in (False, True) if turning else (False,):
            turned = [(r, -c) for r, c in cells] if mirrored else cells
            for _ in range(4 if turning else 1):
                top, left = min(r for r, _ in turned), min(c for _, c in turned)
                shape = sorted((r - top, c - left) for r, c in turned)
                if shape not in found:
                    found.append(shape)
                turned = [(c, -r) for r, c in turned]
        return found

    def _drops(self) -> Iterator[Candidate]:
        value, ways = self._piece(), self._ways() or ["s"]
        target = self._set("to", "empty")
        if len(ways) != 1:
            self._section.fail("along", "pieces drop in one direction")
        if value is None:
            return
        upright = ways[0] in ("n", "s") and self._board.kind != "path"
        for cell in range(self._board.size):
            to, below = self._seen(cell), self._board.next(cell, ways[0])
            guard = [self._inside(to, target)]
            if below is not None:
                guard.append(self._inside(self._seen(below), self._filled))
            name = self._board.names[to]
            yield Candidate(
                name[:1] if upright else name[1:] or name,
                conjunction(guard), ((to, value),), cells={"to": frozenset((to,))},
            )

    def _removals(self) -> Iterator[Candidate]:
        target = self._set("remove", "")
        for cell in range(self._board.size):
            to = self._seen(cell)
            guard = conjunction([self._inside(to, target), self._inside(to, self._filled)])
            yield Candidate(
                f"x{self._board.names[to]}", guard, ((to, EMPTY),), cells={"to": frozenset((to,))}
            )

    # -- moving along links ------------------------------------------------------------

    def _links(self) -> list[tuple[int, str, int]]:
        ways, board = self._ways(), self._board
        if ways is None:
            return board.links
        if board.kind in ("points", "rings"):
            return [link for link in board.links if link[1] in ways]
        return [
            (cell, way, after) for cell in range(board.size) for way in ways
            if (after := board.next(cell, way)) is not None
        ]

    def _paths(self) -> Iterator[list[int]]:
        """From each cell in each direction, as far as links lead."""
        onward = {(cell, way): after for cell, way, after in self._links()}
        for cell, way in onward:
            path = [cell]
            while (after := onward.get((path[-1], way))) is not None and after not in path:
                path.append(after)
            self._meaning.ground.work.spend(len(path))
            yield path

    def _steps(self) -> Iterator[Candidate]:
        value, target = self._piece(), self._set("to", "empty")
        if value is not None:
            for source, _, to in self._links():
                yield self._moved(value, [source, to], [target])

    def _slides(self) -> Iterator[Candidate]:
        value, target = self._piece(), self._set("to", "empty")
        empty = Local((frozenset((EMPTY,)),) * self._board.size)
        for path in self._paths() if value is not None else ():
            for end in range(1, len(path)):
                yield self._moved(value, path[: end + 1], [empty] * (end - 1) + [target])

    def _hops(self) -> Iterator[Candidate]:
        section, value = self._section, self._piece()
        over, target = self._set("over", "enemy"), self._set("to", "empty")
        capturing, repeating = section.flag("capture"), section.flag("repeat")
        for path in self._paths() if value is not None else ():
            farthest = len(path) if repeating else min(3, len(path))
            for length in range(3, farthest + 1, 2):
                needs = [over, target] * (length // 2)
                yield self._moved(
                    value, path[:length], needs, jumping=True, capturing=capturing
                )

    def _moved(
        self, value: int | None, path: list[int], needs: list[Cells], *,
        jumping: bool = False, capturing: bool = False,
    ) -> Candidate:  # fmt: skip
        """A piece at the start of a path goes to its end; every cell between must be in a set."""
        assert value is not None  # noqa: S101 - the callers have looked
        source, *others = (self._seen(cell) for cell in path)
        to, jumped = others[-1], others[:-1:2] if jumping else []
        guard = [Holding(source, frozenset((value,))),
                 *(self._inside(cell, need) for cell, need in zip(others, needs, strict=True))]
        return Candidate(
            f"{self._board.names[source]}-{self._board.names[to]}", conjunction(guard),
            ((source, EMPTY), (to, value), *((cell, EMPTY) for cell in jumped if capturing)),
            cells={"from": frozenset((source,)), "to": frozenset((to,)),
                   "over": frozenset(jumped)},
            source=source, target=to,
        )

    # -- heaps, pits, and nothing at all --------------------------------------------------

    def _heap_move(self, size: int, parts: list[int], taken: int) -> Candidate:
        """A heap goes, and these come in its place."""
        parts = [part for part in parts if part]
        changes = [Change(size - 1, adds=True, amount=Constant(-1)),
                   *(Change(part - 1, adds=True, amount=Constant(1)) for part in parts)]
        return Candidate(
            f"{size}>{'+'.join(map(str, parts)) or 0}",
            comparison("<", Constant(0), _counter(size - 1)), changes=tuple(changes),
            numbers={"size": size, "taken": taken, "rest": size - taken},
        )

    def _heap_sizes(self) -> range:
        if self._board.kind != "heaps":
            self._section.fail(self._kind, "there are no heaps")
        return range(1, max(self._board.heaps) + 1)

    def _takes(self) -> Iterator[Candidate]:
        low, _, high = self._section.text("take").partition(" to ")
        least, most = (
            number_of(self._section.parsed("take", part), self._setup.numbers)
            for part in (low, high or low)
        )
        if least < 1:
            self._section.fail("take", "at least 1 is taken")
        for size in self._heap_sizes():
            for taken in range(least, min(size, most) + 1):
                yield self._heap_move(size, [size - taken], taken)

    def _splits(self) -> Iterator[Candidate]:
        equal = self._section.choice("split", ("any", "unequal")) == "any"
        for size in self._heap_sizes():
            for part in range(1, size // 2 + 1):
                if equal or 2 * part != size:
                    yield self._heap_move(size, [part, size - part], 0)

    def _sowings(self) -> Iterator[Candidate]:
        """For each own hole and number of seeds, with a capture first where there may be one."""
        setup, side = self._setup, self._meaning.side
        if self._board.kind != "pits":
            self._section.fail("sow", "there are no pits")
        self._section.choice("sow", ("own",))
        capturing = self._section.choice("capture", ("no", "opposite"), "no") == "opposite"
        holes, store = setup.hole_counters(side), (side + 1) * (self._board.holes + 1) - 1
        across = setup.hole_counters(1 - side)
        ring = [*holes, store, *across]
        for at, source in enumerate(holes):
            for seeds in range(1, setup.all_seeds + 1):
                self._meaning.ground.work.spend(len(ring))
                rounds, rest = divmod(seeds, len(ring))
                more = {ring[(at + step) % len(ring)] for step in range(1, rest + 1)}
                sown = {counter: rounds + (counter in more) for counter in ring}
                last = ring[(at + seeds) % len(ring)]
                changes = [Change(source, adds=False, amount=Constant(sown[source]))]
                changes += [Change(counter, adds=True, amount=Constant(sown[counter]))
                            for counter in ring if sown[counter] and counter != source]
                guard = comparison("==", _counter(source), Constant(seeds))
                numbers = {"seeds": seeds, "store": int(last == store)}
                if capturing and last in holes and sown[last] == 1:
                    opposite = across[len(holes) - 1 - holes.index(last)]
                    there = arithmetic("+", _counter(opposite), Constant(sown[opposite]))
                    conditions = [guard, comparison("<", Constant(0), there)]
                    if last != source:
                        conditions.append(comparison("==", _counter(last), Constant(0)))
                    prize = arithmetic("+", _counter(opposite), Constant(1))
                    yield Candidate(
                        str(at + 1), conjunction(conditions), numbers=numbers,
                        changes=(*changes, Change(store, adds=True, amount=prize),
                                 Change(opposite, adds=False, amount=Constant(0)),
                                 Change(last, adds=False, amount=Constant(0))),
                    )
                yield Candidate(str(at + 1), guard, changes=tuple(changes), numbers=numbers)

    def _skips(self) -> Iterator[Candidate]:
        name = self._section.text("skip")
        if not (name.isascii() and name.isalpha() and name.islower()) or len(name) > 12 or (
            name in ("pass", "stop")
        ):
            self._section.fail("skip", "it is no name of a move")
        yield Candidate(name, TRUE)


def _counter(at: int) -> Total:
    return Total(frozenset((at,)))
