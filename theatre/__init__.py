"""The theatre: search algorithms at work on small games, step by step.

`GameTree` is the stage, `perform` plays one algorithm on it and returns a `Performance`: the
events in their order. Terminal, SVG and web page only show what is recorded here.
"""

from zermelo.theatre.algorithms import ALGORITHMS, Direction, Order, perform
from zermelo.theatre.events import Event, Kind
from zermelo.theatre.performance import Counters, Performance, State
from zermelo.theatre.tree import GameTree, Node, TheatreError

__all__ = [
    "ALGORITHMS",
    "Counters",
    "Direction",
    "Event",
    "GameTree",
    "Kind",
    "Node",
    "Order",
    "Performance",
    "State",
    "TheatreError",
    "perform",
]
