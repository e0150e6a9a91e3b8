"""Grounding: every rule for every side, cell and direction, as tables of ground moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from zermelo.games.definition.board import cells_of, permute
from zermelo.games.definition.document import Table
from zermelo.games.definition.errors import unknown
from zermelo.games.definition.limits import MOST_INSTANCES, MOST_MOVES, MOST_PLIES
from zermelo.games.definition.lowering import Meter, Scope
from zermelo.games.definition.model import CLOCK, FIRST, SECOND, SIDES, Counter, Model, region_mask
from zermelo.games.definition.moves import candidates
from zermelo.games.definition.rules import Effect, Rule, read_rules
from zermelo.games.definition.static import number
from zermelo.games.definition.tables import (
    NO_RULE,
    Change,
    End,
    Instance,
    Limit,
    Start,
    Tables,
)
from zermelo.games.definition.terms import FALSE, TRUE, Term, conjunction, const, negation

_RESULTS = ("win", "loss", "draw", "first", "second", "score")
STOP = "stop"
#: No piece must go on.
_IDLE: Term = ("==", ("count", ("pending",)), const(0))


def ground(document: Table, model: Model) -> Tables:
    meter = Meter(document.place("move"))
    limit = _read_limit(document, model)
    rules = read_rules(document, model)
    model.chains = any("chain" in rule.table for rule in rules)
    resetting = _resetting(document, rules)
    moves: dict[str, int] = {}
    found: tuple[dict[int, list[Instance]], dict[int, list[Instance]]] = ({}, {})
    known: dict[str, int] = {}
    total = 0
    for at, rule in enumerate(rules):
        for side in rule.sides:
            scope = Scope(model, side, meter, rules=dict(known))
            for name, instance in _instances(rule, at, scope, rules[at].name in resetting):
                total += 1
                if total > MOST_INSTANCES:
                    rule.table.place().fail(f"more than {MOST_INSTANCES} cases of moves")
                move = moves.setdefault(name, len(moves))
                found[side].setdefault(move, []).append(instance)
        known.setdefault(rule.name, at)
    if len(moves) > MOST_MOVES:
        document.place("move").fail(
            f"{len(moves)} ground moves; at most {MOST_MOVES}. Make the board smaller, or split a"
            " turn into parts with `again`"
        )
    first, second = (
        tuple(tuple(found[side].get(move, ())) for move in range(len(moves))) for side in SIDES
    )
    scores = _scores(document, model, meter)
    ends = _ends(document, model, meter, scores, dict(known))
    if model.stuck in ("score", "pass") and scores[0] is None:
        document.place("players").fail(f"stuck = {model.stuck!r} needs `score`")
    return Tables(
        model, tuple(rule.name for rule in rules), tuple(moves), (first, second), ends, scores,
        limit, _start(document, model),
    )


# -- moves ---------------------------------------------------------------------------------


def _instances(
    rule: Rule, at: int, scope: Scope, resets: bool
) -> list[tuple[str, Instance]]:
    found = []
    chained = rule.kind == "hop" and "chain" in rule.table
    chain = rule.table.choice("chain", ("must", "may")) if chained else ""
    for candidate in candidates(rule, scope):
        scope.meter.spend(4)
        guard = candidate.guard
        if guard == FALSE:
            continue
        if chain:
            own_turn: Term = ("within", candidate.source, ("pending",))
            guard = conjunction((guard, ("or", frozenset((_IDLE, own_turn)))))
        elif scope.model.chains:
            guard = conjunction((guard, _IDLE))
        bound = Scope(
            scope.model, scope.side, scope.meter, candidate.numbers, candidate.cells, scope.rules
        )
        guard = conjunction((
            guard,
            *(bound.condition(each) for each in rule.conditions),
            *(negation(bound.condition(each)) for each in rule.exceptions),
        ))
        if guard == FALSE:
            continue
        again = bound.condition(rule.again) if rule.again else FALSE
        changes = [*candidate.changes, *(_change(effect, bound) for effect in rule.effects)]
        found.append((candidate.name, Instance(
            at, guard, candidate.source, candidate.target, candidate.lifts,
            tuple(candidate.puts), candidate.rays,
            scope.rules[rule.forfeit] if rule.forfeit else NO_RULE, tuple(changes),
            candidate.target if chain else 0, TRUE if scope.model.solo else again, resets,
        )))
    if chain == "may" and found:
        pending = ("!=", ("count", ("pending",)), const(0))
        found.append((STOP, Instance(
            at, pending, 0, 0, 0, (), frozenset(), NO_RULE, (), 0,
            TRUE if scope.model.solo else FALSE, False,
        )))
    return found


def _change(effect: Effect, scope: Scope) -> Change:
    side = {"": None, "own": scope.side, "enemy": 1 - scope.side}[effect.owner]
    counter = scope.model.counter(effect.counter, side)
    if counter is None:
        effect.amount.place.fail(f"there is no counter {effect.owner} {effect.counter}")
    amount = scope.number(effect.amount)
    if effect.operator == "-=":
        amount = const(-amount[1]) if amount[0] == "const" else ("-", const(0), amount)
    condition = scope.condition(effect.condition) if effect.condition else TRUE
    return Change(counter, effect.operator.replace("-", "+"), amount, condition)


# -- ends ----------------------------------------------------------------------------------


def _scores(document: Table, model: Model, meter: Meter) -> tuple[Term | None, Term | None]:
    if "score" not in document:
        return None, None
    expression = document.expression("score")
    first, second = (Scope(model, side, meter).number(expression) for side in SIDES)
    return first, second


def _ends(
    document: Table, model: Model, meter: Meter, scores: Sequence[Term | None],
    rules: Mapping[str, int],
) -> tuple[tuple[End, ...], tuple[End, ...]]:
    found: tuple[list[End], list[End]] = ([], [])
    for table in document.tables("end"):
        table.only("if", "is")
        condition, result = table.expression("if"), table.choice("is", _RESULTS)
        for side in SIDES:
            scope = Scope(model, side, meter, rules=rules)
            score = result_score(result, side) if result != "score" else scores[side]
            if score is None:
                table.place("is").fail("'score' needs the key `score` at the top")
            end = End(scope.condition(condition), score)
            if end.condition != FALSE:
                found[side].append(end)
    return tuple(found[FIRST]), tuple(found[SECOND])


def result_score(result: str, side: int) -> Term:
    """What a result in words is worth for a side to move."""
    value = {"win": 1, "loss": -1, "draw": 0, "first": 1 - 2 * side, "second": 2 * side - 1}
    return const(value[result])


def _read_limit(document: Table, model: Model) -> Limit | None:
    if "limit" not in document:
        return None
    table = document.table("limit")
    table.only("plies", "since", "is")
    plies = number(table.expression("plies"), model.numbers)
    if not 1 <= plies <= MOST_PLIES:
        table.place("plies").fail(f"{plies} plies; 1 to {MOST_PLIES} are allowed")
    result = table.choice("is", ("win", "loss", "draw"), "draw")
    model.counters.append(Counter(CLOCK, None, 0, plies))
    score: int = result_score(result, FIRST)[1]
    return Limit(plies, score, len(model.counters) - 1)


def _resetting(document: Table, rules: Sequence[Rule]) -> set[str]:
    """The names of the rules that start the clock of the limit again."""
    if "limit" not in document:
        return set()
    table = document.table("limit")
    names = {rule.name for rule in rules}
    for name in table.texts("since"):
        if name not in names:
            table.place("since").fail(unknown("rule", name, names))
    return set(table.texts("since"))


# -- the start -----------------------------------------------------------------------------


def _start(document: Table, model: Model) -> Start:
    """Pieces of both sides by one region, the second's through its view; or by one for each."""
    table = document.table("start")
    planes = [0] * len(model.values)
    for kind in table:
        if kind in ("first", "second"):
            side, inner = ("first", "second").index(kind), table.table(kind)
            for piece in inner:
                value = model.value_of(piece, side)
                if value is None or model.values[value].side is None:
                    known = {each.kind for each in model.values if each.side == side}
                    inner.place(piece).fail(unknown(f"piece of the {kind} player", piece, known))
                _put(inner, piece, model, planes, value, region_mask(inner, piece, model))
            continue
        if kind not in model.kinds:
            table.place(kind).fail(unknown("piece", kind, [*model.kinds, "first", "second"]))
        mask = region_mask(table, kind, model)
        for at, each in enumerate(model.values):
            if each.kind == kind:
                mirrored = each.side == SECOND and model.value_of(kind, FIRST) is not None
                cells = permute(mask, model.view) if mirrored else mask
                _put(table, kind, model, planes, at, cells)
    planes[0] = model.board.all & ~_joined(planes)
    return Start(tuple(planes), tuple(counter.start for counter in model.counters))


def _put(
    table: Table, key: str, model: Model, planes: list[int], value: int, cells: int
) -> None:
    taken = cells & _joined(planes)
    if taken:
        table.place(key).fail(f"two pieces start on {model.board.names[cells_of(taken)[0]]}")
    planes[value] = cells


def _joined(planes: Sequence[int]) -> int:
    found = 0
    for plane in planes:
        found |= plane
    return found
