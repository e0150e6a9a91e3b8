"""Solve a small board with the engine alone: the value, best play, and one yes/no question."""

from zermelo.engine import Window, open_engine
from zermelo.games import open_game

game = open_game("reversi:4x6")
engine = open_engine(game)

report = engine.solve(game.initial())
print(game.draw(game.initial()))
print(f"value {report.bounds.lo:+d} after {report.nodes:,} nodes")
print("best play:", *game.line_names(report.line))

# A null window asks "is the score at least 9?" The bounds answer it and are proved.
bounds = engine.solve(game.initial(), Window.question(9)).bounds
print("at least +9?", {True: "yes", False: "no", None: "not settled"}[bounds.answers(9)])
