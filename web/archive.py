"""Finished games: the one thing that the pages write, through a connection of its own."""

from __future__ import annotations

import logging

from psycopg import errors

from zermelo.research.games_played import PlayedGame, store_game
from zermelo.server.coordinator.blocking_pool import BlockingPool
from zermelo.server.coordinator.rates import Rate, RateLimiter
from zermelo.server.database import Connection, telling_outages
from zermelo.sql import query
from zermelo.web.library import CONNECT_SECONDS, Library

log = logging.getLogger(__name__)

STATEMENT_MILLISECONDS = "3000"
LONGEST_QUEUE = 50
#: Games that one address stores: one in 20 seconds in the long run.
RATE = Rate(0.05, 30)


class Archive:
    def __init__(self, url: str, library: Library) -> None:
        def prepare(connection: Connection) -> None:
            connection.execute(query("take_web_role"), (STATEMENT_MILLISECONDS,))

        self._library = library
        self._rates = RateLimiter(RATE)
        self._pool = BlockingPool(
            url, threads=1, longest=LONGEST_QUEUE, prepare=prepare,
            connect_seconds=CONNECT_SECONDS,
        )  # fmt: skip

    async def find(self, sitting: str) -> int | None:
        """The game that a sitting has stored."""
        row = await self._library.read(
            lambda connection: connection.execute(query("game_of_sitting"), (sitting,)).fetchone()
        )
        return None if row is None else int(row[0])

    async def store(self, game: PlayedGame, household: str) -> int | None:
        """The number of the stored game; None where it may not be stored."""
        if self._rates.wait_needed(household):
            return None
        try:
            with telling_outages():
                return await self._pool.run(lambda connection: store_game(connection, game))
        except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction) as error:
            log.warning("a finished game was not stored: %s", error)
            return None

    async def close(self) -> None:
        await self._pool.close()
