"""The machines that visitors play against: a few processes, and no more work than they can do.

A move that takes too long ends its process, so that nobody holds one for long. Who comes when
too many wait already is told so at once.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from asyncio.subprocess import PIPE, Process
from typing import Any

from zermelo.games import Game
from zermelo.players import PlayerError

log = logging.getLogger(__name__)

PROCESSES = 2
MOST_WAITING = 100
#: For one move, the start of a process included.
LONGEST_SECONDS = 10.0
#: How long a visitor waits for a process that is free.
LONGEST_WAIT = 10.0


class BusyError(Exception):
    """Too many moves are being thought about."""


class SlowError(Exception):
    """A player needs longer for a move than it may."""


class Opponents:
    def __init__(
        self, processes: int = PROCESSES, waiting: int = MOST_WAITING,
        seconds: float = LONGEST_SECONDS,
    ) -> None:  # fmt: skip
        self._most, self._seconds = processes + waiting, seconds
        self._asked = 0
        self._idle: asyncio.LifoQueue[_Seat] = asyncio.LifoQueue()
        self._seats = [_Seat() for _ in range(processes)]
        for seat in self._seats:
            self._idle.put_nowait(seat)

    async def choose(self, game: Game[Any], player: str, position: Any) -> str:
        """The move of a player in a position.

        `BusyError` when too many wait, `SlowError` when it takes too long, `PlayerError` for a
        player that cannot play.
        """
        if self._asked >= self._most:
            raise BusyError
        self._asked += 1
        try:
            return await self._choose({
                "spec": game.spec, "player": player, "key": game.encode(position).hex(),
                "history": game.history(position).hex(),
            })  # fmt: skip
        finally:
            self._asked -= 1

    async def _choose(self, asked: dict[str, object]) -> str:
        try:
            seat = await asyncio.wait_for(self._idle.get(), LONGEST_WAIT)
        except TimeoutError:
            raise BusyError from None
        try:
            return await asyncio.wait_for(seat.ask(asked), self._seconds)
        except TimeoutError:
            log.info("%s took too long for a move of %s", asked["player"], asked["spec"])
            raise SlowError from None
        finally:
            self._idle.put_nowait(seat)

    async def close(self) -> None:
        for seat in self._seats:
            await seat.end()


class _Seat:
    """One process; it begins with the first question, and anew after one that was left."""

    def __init__(self) -> None:
        self._process: Process | None = None

    async def ask(self, asked: dict[str, object]) -> str:
        answered = False
        try:
            process = await self._started()
            line = await _exchange(process.stdin, process.stdout, asked)
            answered = line.endswith(b"\n")
        except (ConnectionError, OSError) as error:
            log.warning("a process for moves was lost: %s", error)
        finally:
            if not answered:
                # Whatever it still says would be taken for the answer to the next question.
                await self.end()
        if not answered:
            raise SlowError
        reply = json.loads(line)
        if "error" in reply:
            raise PlayerError(reply["error"])
        return str(reply["move"])

    async def _started(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "zermelo.web.opponent_process",
                stdin=PIPE, stdout=PIPE, env=dict(os.environ),
            )  # fmt: skip
        return self._process

    async def end(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()


async def _exchange(
    to: asyncio.StreamWriter | None, back: asyncio.StreamReader | None, asked: dict[str, object]
) -> bytes:
    if to is None or back is None:
        raise ConnectionError("it has no pipes")
    to.write(json.dumps(asked).encode() + b"\n")
    await to.drain()
    return await back.readline()
