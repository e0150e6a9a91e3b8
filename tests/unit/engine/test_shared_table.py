"""One table for several engines: knowledge is shared, damage and other games are not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zermelo.engine import SharedTable, Window, open_engine
from zermelo.engine.reversi import ReversiEngine
from zermelo.games import Bounds, open_game
from zermelo.games.reversi import Reversi, ReversiPosition

QUESTION = Window.question(1)


@pytest.fixture
def table() -> Iterator[SharedTable]:
    table = SharedTable.create(8)
    yield table
    table.close()


def reversi_engine(spec: str, table: SharedTable) -> ReversiEngine:
    game = open_game(spec)
    assert isinstance(game, Reversi)
    return ReversiEngine(game, shared=table)


def test_what_one_engine_proved_helps_another(table: SharedTable) -> None:
    first, second = (open_engine(open_game("reversi:4x6"), shared=table) for _ in range(2))
    start = first.game.initial()
    alone = first.solve(start, QUESTION)
    again = second.solve(start, QUESTION)
    assert again.bounds.answers(1) == alone.bounds.answers(1)
    assert again.nodes < alone.nodes / 100


def test_games_do_not_see_each_others_entries(table: SharedTable) -> None:
    small, large = reversi_engine("reversi:4x6", table), reversi_engine("reversi:5x6", table)
    start = small.game.initial()
    small.core.tell(start.own, start.opponent, 2, 2)
    assert small.core.ask(start.own, start.opponent) is not None
    assert large.core.ask(start.own, start.opponent) is None


@pytest.mark.slow
@given(
    told=st.lists(
        st.tuples(st.integers(0, 2**16 - 1), st.integers(-16, 16), st.integers(-16, 16)),
        min_size=1, max_size=20,
    ),
    damage=st.lists(st.tuples(st.integers(0), st.integers(0, 2**64 - 1)), max_size=200),
)
def test_a_damaged_entry_counts_as_absent(
    told: list[tuple[int, int, int]], damage: list[tuple[int, int]]
) -> None:
    table = SharedTable.create(1)
    engine = reversi_engine("reversi:4x4", table)
    facts: dict[ReversiPosition, Bounds] = {}
    for own, lo, hi in told:
        board = sum((own >> 4 * row & 15) << 8 * row for row in range(4))
        position = ReversiPosition(board, 0x0F0F0F0F ^ board, True)
        if position not in facts and lo <= hi:
            facts[position] = Bounds(lo, hi)
            engine.core.tell(position.own, position.opponent, lo, hi)
    words = [at for at, word in enumerate(table.memory) if word]
    for at, word in damage:
        if words:
            table.memory[words[at % len(words)]] = word
    for position, bounds in facts.items():
        entry = engine.core.ask(position.own, position.opponent)
        assert entry is None or entry[:2] == (bounds.lo, bounds.hi)
    table.close()


def resident_mb() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
def test_an_engine_gives_its_memory_back() -> None:
    game = open_game("reversi:4x4")
    open_engine(game, hash_mb=32)
    before = resident_mb()
    for _ in range(8):
        open_engine(game, hash_mb=32)
    assert resident_mb() < before + 64
