"""The rules of a definition in sentences, as `zermelo game show` prints them."""

from __future__ import annotations

import pytest

from zermelo.games import game_names, open_game
from zermelo.games.definition.expression import parse_expression
from zermelo.games.definition.phrases import Phrases


@pytest.mark.parametrize(("expression", "words"), [
    ("lines(enemy)", "there is a line of enemy pieces"),
    ("lines(own, to)", "there is a line of own pieces through the cell moved to"),
    ("any(enemy & home) or none(own)",
     "there are enemy pieces in home or there are no own pieces"),
    ("connected(enemy, top, bottom)", "enemy pieces join top and bottom"),
    ("not can(jump)", "it is not so that jump is possible"),
    ("own hand == 0 and (count(own) < 3 or mill)",
     "own hand is 0 and either the number of own pieces is less than 3 or mill is not 0"),
    ("count(own - in_lines(own)) > 2 * (own hand - k)",
     "the number of own pieces not in a line of own pieces is more than 2 * (own hand - 4)"),
    # What parameters settle is not told.
    ("misere and heaps == 0", False),
    ("not misere or heaps == 0", True),
    ("not misere and heaps == 0", "the number of heaps is 0"),
    ("k > 3 and lines(enemy)", "there is a line of enemy pieces"),
])
def test_conditions(expression: str, words: str | bool) -> None:
    assert Phrases({"misere": 0, "k": 4}).condition(parse_expression(expression)) == words


def test_rules_that_never_apply_are_left_out() -> None:
    assert any("moves again if mill" in rule for rule in open_game("morris:9").rules())
    assert "If the number of heaps is 0, the side to move wins." in open_game(
        "nim:3-4,misere=yes").rules()
    assert not any("wins" in rule for rule in open_game("nim:3-4").rules())


def test_who_and_where() -> None:
    rules = open_game("fox-and-hounds:6x6").rules()
    assert "The first player moves a fox one step to an empty cell, diagonally." in rules
    assert "The second player sees the board upside down, directions and regions with it." in (
        open_game("breakthrough:6x6").rules())
    assert "A player takes 1 to 3 from a heap." in open_game("subtraction:12,k=3").rules()


@pytest.mark.parametrize("name", game_names())
def test_no_expression_is_left(name: str) -> None:
    """Sentences have no calls and no comparisons in them."""
    told = " ".join(open_game(name if name not in {"go", "reversi"} else f"{name}:4x4").rules())
    assert not any(sign in told for sign in ("==", "lines(", "count(", "any(", " & ", "+="))
