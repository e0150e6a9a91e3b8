"""The texts of games as data: stored once for each digest, known to whoever needs them."""

from __future__ import annotations

from typing import Any

from zermelo.games import Game
from zermelo.games.definition.sources import digest_of, find_text, remember_text
from zermelo.games.spec import definition_digest
from zermelo.server.database import Connection
from zermelo.sql import query


def store_definition(connection: Connection, game: Game[Any]) -> None:
    """Keep the text of a game, if its rules are one."""
    text = game.definition_text
    if text is not None:
        connection.execute(query("store_definition"), {"digest": digest_of(text), "text": text})


def learn_definition(connection: Connection, spec: str) -> None:
    """Let this process open the game of a spec that the database has."""
    digest = definition_digest(spec)
    if not digest or find_text(digest) is not None:
        return
    row = connection.execute(query("find_definition"), {"digest": digest}).fetchone()
    if row is not None:
        remember_text(row[0])
