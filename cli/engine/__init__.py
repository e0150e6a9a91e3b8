"""`zermelo engine`: solving, counting, comparing and training on this machine."""

from __future__ import annotations

import click

from zermelo.cli.engine.compare import compare
from zermelo.cli.engine.moves import moves
from zermelo.cli.engine.perft import perft
from zermelo.cli.engine.solve import solve
from zermelo.cli.engine.train import train
from zermelo.cli.plain_errors import PlainGroup


@click.group(cls=PlainGroup, commands=[solve, moves, perft, compare, train])
def engine() -> None:
    """Solve positions with the engine that volunteers run."""
