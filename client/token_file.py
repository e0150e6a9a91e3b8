"""The token of an account that the client opened itself: for its server, and for no other."""

from __future__ import annotations

from pathlib import Path

from zermelo.client.files import write_atomically


class TokenFile:
    def __init__(self, path: Path) -> None:
        self._path = path

    def token_for(self, server: str) -> str:
        """The token to show this server; empty if the client has no account there."""
        try:
            owner, token = self._path.read_text().splitlines()
        except (OSError, ValueError):
            return ""
        return token if owner == server else ""

    def keep(self, server: str, token: str) -> None:
        write_atomically(self._path, [f"{server}\n{token}\n".encode()], durable=True)
