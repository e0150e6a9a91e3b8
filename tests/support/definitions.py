"""Small definitions for tests, and changed copies of them."""

from __future__ import annotations

from zermelo.games.definition.definition import read_definition
from zermelo.games.definition.game import DefinedGame

TIC_TAC_TOE = """\
zermelo = 1
game = "tic-tac-toe"
[board]
grid = "3 x 3"
lines = { length = 3 }
[pieces]
stone = "each"
[players]
stuck = "draw"
[[move]]
place = "stone"
[[end]]
if = "lines(enemy)"
is = "loss"
"""

#: Kings without a measure: nothing but a limit ends their walks.
WALK = """\
zermelo = 1
game = "walk"
[board]
grid = "3 x 3"
[pieces]
king = "each"
[players]
second = "rotate"
[start]
king = "row == 3"
[[move]]
name = "capture"
step = "king"
to = "enemy"
[[move]]
name = "walk"
step = "king"
[limit]
plies = 6
since = "capture"
"""


def play_text(text: str, params: str = "") -> DefinedGame:
    """The game of a definition; `GameError` if it is wrong."""
    definition = read_definition(text, "game.toml")
    return DefinedGame(definition, definition.params.parse(params))
