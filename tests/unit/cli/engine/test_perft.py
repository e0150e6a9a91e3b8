"""`zermelo engine perft` against the published counts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.engine_command import invoke as run
from zermelo.cli.engine.perft import count_distinct, count_lines
from zermelo.cli.watch import Ticker
from zermelo.engine import open_engine
from zermelo.engine.portable import PortableEngine
from zermelo.games import open_game

LINES = {
    "4x4": [1, 4, 12, 44, 128, 424, 1256, 3624, 9116, 20044, 36540, 50704],
    "8x8": [1, 4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288],
}
#: 8x8, up to symmetry; the first forced passes come after eight discs.
DISTINCT = [1, 1, 3, 14, 60, 322, 1773, 10649, 67245, 434029]


@pytest.mark.parametrize("size", LINES)
def test_lines_of_play(size: str) -> None:
    counts = LINES[size]
    told = run("perft", f"reversi:{size}", len(counts) - 1, "--json").json
    assert told["counts"] == counts
    assert told["count"] == counts[-1]


def test_distinct_positions() -> None:
    told = run("perft", "reversi:8x8", len(DISTINCT) - 1, "--unique", "--json").json
    assert told["counts"] == DISTINCT


def test_an_engine_without_compiled_counting_agrees() -> None:
    game: Any = open_game("reversi:4x4")
    engine = PortableEngine(game)
    with Ticker() as ticker:
        assert count_lines(engine, game.initial(), 6, ticker) == LINES["4x4"][6]
        compiled = open_engine(game, hash_mb=1)
        assert (list(count_distinct(engine, 6, ticker))
                == list(count_distinct(compiled, 6, ticker)))


def test_people_read_a_row_a_move() -> None:
    code, out, _ = run("perft", "reversi:8x8", 5)
    assert code == 0
    assert ["5", "1,396"] in [line.split()[:2] for line in out.splitlines()]


@pytest.mark.parametrize(("args", "told"), [
    (["reversi:8x8", "x"], ["DEPTH", "'x'"]),
    (["reversi:8x8", "61"], ["DEPTH", "61", "0<=x<=60"]),
    (["reversi:8x8"], ["DEPTH"]),
    (["go:", "3"], ["'go:'"]),
])
def test_bad_input_is_told_in_one_line(args: list[str], told: list[str]) -> None:
    code, _, err = run("perft", *args)
    assert code == 2
    assert "\n" not in err
    assert all(part in err for part in told), err
