"""The tokens of accounts that the client opened itself, or had at another server before: each for
its server, and for no other."""

from __future__ import annotations

from pathlib import Path

from zermelo.client.files import write_atomically


class TokenFile:
    """Two lines for each server: its address, and the token to show there."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def token_for(self, server: str) -> str:
        """The token to show this server; empty if the client has no account there."""
        return self._read().get(server, "")

    def keep(self, server: str, token: str) -> None:
        tokens = self._read() | {server: token}
        lines = "".join(f"{owner}\n{token}\n" for owner, token in tokens.items())
        write_atomically(self._path, [lines.encode()], durable=True)

    def _read(self) -> dict[str, str]:
        try:
            lines = self._path.read_text().splitlines()
            return dict(zip(lines[::2], lines[1::2], strict=True))
        except (OSError, ValueError):
            return {}
