"""Games: playing them, storing them, listing them."""

from __future__ import annotations

import random
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from zermelo import ZermeloError
from zermelo.games import Game, GameError, Move, open_game
from zermelo.players import Player
from zermelo.sql import query

if TYPE_CHECKING:
    from zermelo.server.database import Connection


class UnknownGameError(ZermeloError):
    """No game with this number was stored."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A finished game. The score is that of the first player."""

    id: int | None
    spec: str
    position: str | None
    first: str
    second: str
    moves: list[str]
    final: str
    score: int
    started_at: datetime
    seconds: float
    #: Of games with people: who sat there, how the machine chose its moves, on what device.
    person: str = ""
    opponent: str = ""
    device: str = ""
    #: In plies, of an opponent that looks ahead by depth.
    depth: int | None = None
    #: Each sitting stores one game.
    sitting: str | None = None

    @property
    def short_spec(self) -> str:
        """The spec as people write it; as stored where the definition is no longer here."""
        try:
            return self.game.short_spec
        except GameError:
            return self.spec

    @property
    def game(self) -> Game[Any]:
        return open_game(self.spec)

    @property
    def winner(self) -> str:
        if not self.score:
            return "draw"
        return self.first if self.score > 0 else self.second


class GameInPlay:
    """A game that is being played: positions and moves so far, with undo."""

    def __init__(self, game: Game[Any], start: Any | None = None) -> None:
        self.game = game
        self._given = None if start is None else game.format(start)
        self._positions = [game.initial() if start is None else start]
        self._moves: list[Move] = []
        self._started = time.monotonic()
        self._started_at = datetime.now(UTC)

    @property
    def position(self) -> Any:
        return self._positions[-1]

    @property
    def over(self) -> bool:
        return self.game.is_final(self.position)

    @property
    def first_to_move(self) -> bool:
        """Whether it is the turn of the side that moved first; passes are moves too."""
        return len(self._moves) % 2 == 0

    @property
    def moves(self) -> list[str]:
        return self.game.line_names(self._moves)

    @property
    def last(self) -> tuple[Any, Move] | None:
        """The last move and the position where it was made; None at the start."""
        return (self._positions[-2], self._moves[-1]) if self._moves else None

    def play(self, move: Move) -> None:
        self._positions.append(self.game.play(self.position, move))
        self._moves.append(move)

    def undo(self) -> Move | None:
        """Take the last move back, and tell which; None if there is none."""
        if not self._moves:
            return None
        self._positions.pop()
        return self._moves.pop()

    def finished(self, first: str, second: str) -> PlayedGame:
        score = self.game.score(self.position)
        return PlayedGame(
            id=None,
            spec=self.game.spec,
            position=self._given,
            first=first,
            second=second,
            moves=self.moves,
            final=self.game.format(self.position),
            score=score if self.first_to_move else -score,
            started_at=self._started_at,
            seconds=time.monotonic() - self._started,
        )


def random_opening(game: Game[Any], plies: int, choose: random.Random) -> Any:
    """A position some random moves into the game, and not at its end."""
    while True:
        position = game.initial()
        for _ in range(plies):
            moves = game.moves(position)
            if not moves:
                break
            position = game.play(position, choose.choice(moves))
        if not game.is_final(position):
            return position


def play_out(in_play: GameInPlay, first: Player, second: Player) -> PlayedGame:
    """Let two players finish a game."""
    first.begin()
    second.begin()
    while not in_play.over:
        player = first if in_play.first_to_move else second
        in_play.play(player.choose(in_play.position))
    return in_play.finished(first.name, second.name)


def store_game(connection: Connection, game: PlayedGame) -> int:
    """Store a finished game; its number, or that of the game that its sitting has stored."""
    row = connection.execute(query("insert_game"), asdict(game)).fetchone()
    if row is None:
        row = connection.execute(query("game_of_sitting"), (game.sitting,)).fetchone()
    if row is None:
        raise UnknownGameError("the game was not stored")
    return int(row[0])


def list_games(
    connection: Connection, most: int = 100, *, person: str = "", device: str = ""
) -> list[PlayedGame]:
    """The newest games first; of one person, or on one kind of device, if these are not empty."""
    from psycopg.rows import class_row

    with connection.cursor(row_factory=class_row(PlayedGame)) as cursor:
        return cursor.execute(
            query("newest_games"), {"most": most, "person": person, "device": device}
        ).fetchall()


def find_game(connection: Connection, number: int) -> PlayedGame:
    from psycopg.rows import class_row

    with connection.cursor(row_factory=class_row(PlayedGame)) as cursor:
        found = cursor.execute(query("find_game"), (number,)).fetchone()
    if found is None:
        raise UnknownGameError(f"no game {number}; `zermelo games list` shows the last ones")
    return found
