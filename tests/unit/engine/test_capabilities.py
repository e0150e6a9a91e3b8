"""What the command line asks of engines beyond solving, and that it gets the same values."""

from __future__ import annotations

import pytest

from zermelo.cli.engine.contestants import contestants
from zermelo.engine import ALGORITHMS, EVERY_ALGORITHM, Engine, EngineError, open_engine
from zermelo.engine.capabilities import CountsLines, Switchable, Textbook, WritesStrategies
from zermelo.engine.portable import PortableEngine
from zermelo.games import open_game


def portable(spec: str) -> Engine:
    return PortableEngine(open_game(spec))


def registered(spec: str) -> Engine:
    return open_engine(open_game(spec), hash_mb=1)


@pytest.mark.parametrize(("engine", "capabilities", "algorithms"), [
    (registered("reversi:4x4"), {CountsLines, Switchable, Textbook}, ALGORITHMS),
    (registered("go:2x2"), {Switchable}, ALGORITHMS),
    (registered("mnk:3x3"), {CountsLines, WritesStrategies}, EVERY_ALGORITHM),
    (portable("go:2x2"), set(), ALGORITHMS),
], ids=["reversi", "go", "definition", "portable"])
def test_capabilities(
    engine: Engine, capabilities: set[type], algorithms: tuple[str, ...]
) -> None:
    every = (CountsLines, Switchable, Textbook, WritesStrategies)
    found = {one for one in every if isinstance(engine, one)}
    assert found == capabilities
    assert engine.algorithms == algorithms
    for algorithm in set(EVERY_ALGORITHM) - set(algorithms):
        with pytest.raises(EngineError, match=f"no algorithm '{algorithm}'; only minimax"):
            engine.solve(engine.game.initial(), algorithm=algorithm)


def test_lines_are_counted_as_the_rules_do() -> None:
    engine = registered("reversi:4x4")
    assert isinstance(engine, CountsLines)
    counts = [engine.count_lines(engine.game.initial(), plies) for plies in range(6)]
    assert counts == [1, 4, 12, 44, 128, 424]


def test_go_without_each_technique_has_the_same_value() -> None:
    """Every contestant, `conquest` and the sharing of proofs left out among them."""
    engine = registered("go:2x3")
    everybody = list(contestants(engine))
    assert {one.algorithm for one in everybody if one.kind == "textbook"} == {
        "minimax", "alphabeta", "negamax", "negascout"
    }
    field = [one for one in everybody if one.kind != "textbook"]
    variants = [one.variant for one in field]
    assert {"without conquest", "without share", "without life"} <= set(variants)
    assert {one.kind for one in field} == {"fast"}
    values = set()
    for one in field:
        engine.clear()
        values.add(one.run(engine.game.initial(), 5_000_000).score)
    assert values == {registered("go:2x3").solve(engine.game.initial()).bounds.lo}
