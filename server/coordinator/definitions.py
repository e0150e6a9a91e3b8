"""The RPC that gives volunteers and researchers the text of a game."""

from __future__ import annotations

from zermelo.games.definition.sources import library_text
from zermelo.proto import coordinator_pb2 as pb
from zermelo.server.coordinator.statements import Statements


class Definitions:
    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    async def definition(self, request: pb.DefinitionRequest) -> pb.DefinitionReply:
        digest = request.digest.hex()
        rows = await self._statements.run("find_definition", {"digest": digest})
        text = rows[0][0] if rows else library_text(digest)
        return pb.DefinitionReply(text=(text or "").encode())
