"""The demo in virtual time: how many nodes its workers search, on a machine of any load.

As fleet.py, but the workers have one table, which stays warm, as those of one client do; so
nothing can be remembered on disk. The services' time does not pass in the clock: what they do
late is told by `tick`, the seconds from a result until they deal with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from zermelo.engine import open_engine
from zermelo.games import Game
from zermelo.server.campaigns import campaign_summary, create_campaign
from zermelo.server.database import Connection

from .fleet import Fleet
from .oracle import Ask, Oracle, Reply

#: As in `zermelo solve`.
HASH_MB_A_WORKER = 64
HEARTBEAT = 0.25
LATENCY = 0.005


class Counts(NamedTuple):
    tick: float
    nodes: int
    workunits: int
    #: Tests at the root, in the order of their thresholds.
    tests: list[int]
    seconds: float
    idle_share: float


class WarmOracle(Oracle):
    """Answers from one table that nobody clears."""

    def __init__(self, game: Game[Any], file: Path, workers: int) -> None:
        super().__init__(game, file)
        self._table = open_engine(game, hash_mb=HASH_MB_A_WORKER * workers)

    def ask(self, asks: Sequence[Ask]) -> list[Reply]:
        return [self._search_for(self._table, ask) for ask in asks]


def count(
    connection: Connection, game: Game[Any], memory: Path, workers: int, speed: float, tick: float
) -> Counts:
    """Solve the game with workers that search `speed` nodes a second."""
    campaign = create_campaign(connection, game.spec, name=f"tick {tick}", replication="none")
    fleet = Fleet(
        connection, campaign, WarmOracle(game, memory, workers), workers, speed,
        times_services=False, paces=(1.0,), latency=LATENCY, tick=tick, heartbeat=HEARTBEAT,
    )  # fmt: skip
    fleet.run()
    tests = connection.execute(
        "SELECT threshold FROM tests WHERE campaign = %s ORDER BY threshold DESC", (campaign.id,)
    )
    return Counts(
        tick, round(fleet.searched), campaign_summary(connection, campaign.name).workunits,
        [threshold for (threshold,) in tests], fleet.now,
        1 - fleet.busy_seconds / (fleet.now * workers),
    )  # fmt: skip
