"""Opening an account so that a lost reply loses nothing.

The secret of the account is drawn here and on disk before the server hears of it. Asked
again with the same name and secret, also by a later run, the server gives the same account.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path

from zermelo.client.files import write_atomically
from zermelo.client.folder import why
from zermelo.client.settings import ClientError

SECRET_BYTES = 32


class Registration:
    def __init__(self, path: Path) -> None:
        self._path = path

    def secret(self, server: str, user_name: str) -> bytes:
        """The secret for an account of this name at this server, and for no other.

        It is on disk when this returns; `ClientError` if it cannot be.
        """
        wanted = {"server": server, "user_name": user_name}
        try:
            found = json.loads(self._path.read_bytes())
            secret = bytes.fromhex(found.pop("secret"))
            if found == wanted and len(secret) == SECRET_BYTES:
                return secret
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass  # none yet, or none that can be used
        secret = secrets.token_bytes(SECRET_BYTES)
        text = json.dumps({**wanted, "secret": secret.hex()})
        try:
            write_atomically(self._path, [text.encode()], durable=True)
        except OSError as error:
            # An account whose token nobody keeps would only take its name away.
            raise ClientError(f"no account was opened, {self._path} cannot be written: "
                              f"{why(error)}") from error  # fmt: skip
        return secret

    def done(self) -> None:
        """The token is kept elsewhere now."""
        self._path.unlink(missing_ok=True)
