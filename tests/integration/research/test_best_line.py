"""The best line: one for `solve`, `campaign show` and queries, to the end of the game."""

from __future__ import annotations

from typing import Any

import pytest

import zermelo
from tests.support.campaigns import solve
from tests.support.effort import REPEATED
from tests.support.minimax import KNOWN_VALUES, minimax
from zermelo.cli.solve import _line_of
from zermelo.games import open_game
from zermelo.research.replies import LineSource, LineStep
from zermelo.server.campaigns import campaign_summary
from zermelo.server.database import Connection

SPEC = "reversi:4x4"
GAME = open_game(SPEC)


def end_of(line: list[LineStep], position: Any) -> Any:
    """The position after a line, in which every step is best play and tells the truth."""
    for step in line:
        value = minimax(GAME, position)
        assert step.side == GAME.side_to_move(position)
        assert step.worth.value == value
        position = GAME.play(position, GAME.find_move(position, step.move))
        assert -minimax(GAME, position) == value
    return position


@pytest.mark.parametrize(("node_budget", "in_the_tree"), [
    (None, 0), (50, 3), pytest.param(200, 1, marks=REPEATED),
])
def test_the_line_goes_to_the_end(
    connection: Connection, database: str, node_budget: int | None, in_the_tree: int
) -> None:
    """Also where the whole game was one workunit, and the tree is its root."""
    solve(connection, SPEC, node_budget=node_budget)
    with zermelo.open(database) as opened:
        line = opened.campaign(SPEC).line()
    assert GAME.is_final(end_of(line, GAME.initial()))
    sources = [step.source for step in line]
    assert sources == sorted(sources, reverse=True), "the tree first, then the engine"
    assert sources.count(LineSource.TREE) >= in_the_tree
    assert line[0].worth.value == KNOWN_VALUES[SPEC]
    summary = campaign_summary(connection, SPEC)
    assert summary.line == [step.move for step in line if step.source is LineSource.TREE]
    assert _line_of(summary, threads=1, seconds=60) == [step.move for step in line]


def test_the_line_from_elsewhere(connection: Connection, database: str) -> None:
    solve(connection, SPEC, node_budget=100)
    with zermelo.open(database) as opened:
        queries = opened.campaign(SPEC)
        whole = queries.line()
        played = [whole[0].move]
        assert queries.line(moves=played) == whole[1:]
        after = queries.find(moves=played)
        # The mirror image has the same scores, and moves of its own names.
        image = GAME.symmetries(after)[1]
        mirrored = queries.line(GAME.format(image))
        assert GAME.is_final(end_of(mirrored, image))
        assert queries.line("XXXX OOOO ---- ---- X") == [], "not in the tree"


def test_what_is_not_proved_is_not_played(connection: Connection, database: str) -> None:
    """Who wins is proved, not by how much: the engine is not asked to go on."""
    solve(connection, SPEC, goal="outcome", node_budget=100)
    with zermelo.open(database) as opened:
        queries = opened.campaign(SPEC)
        line, root = queries.line(), queries.position()
    assert root.worth.value is None
    assert root.worth.hi < 0
    assert line
    position = GAME.initial()
    for step in line:
        value = minimax(GAME, position)
        assert step.worth.lo <= value <= step.worth.hi
        assert (step.worth.value is None) or step.worth.value == value
        position = GAME.play(position, GAME.find_move(position, step.move))
        # Whoever has secured something never gives it up.
        assert step.worth.lo == -GAME.max_score or -minimax(GAME, position) >= step.worth.lo
    assert minimax(GAME, position) * (1 if len(line) % 2 == 0 else -1) < 0
