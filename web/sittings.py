"""When a game on the pages began, sealed, so that each sitting stores one game.

The seal travels in the address of the game. A game whose address has none, or one that this
site did not make, can be played and is not stored.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from datetime import UTC, datetime

_FORM = re.compile(r"([0-9]{1,12})-[0-9a-f]{16}", re.ASCII)
_MAC_DIGITS = 32


class Sittings:
    def __init__(self, secret: str = "") -> None:
        seed = secret or secrets.token_hex(32)
        self._key = hashlib.sha256(f"zermelo sitting {seed}".encode()).digest()

    def begin(self) -> str:
        """A new sitting that begins now."""
        told = f"{int(time.time())}-{secrets.token_hex(8)}"
        return f"{told}-{self._seal(told)}"

    def began_at(self, sitting: str) -> datetime | None:
        """When a sitting began; None if this site did not make it."""
        told, _, seal = sitting.rpartition("-")
        found = _FORM.fullmatch(told)
        if found is None or not hmac.compare_digest(seal.encode(), self._seal(told).encode()):
            return None
        return datetime.fromtimestamp(int(found[1]), UTC)

    def _seal(self, told: str) -> str:
        return hmac.new(self._key, told.encode(), hashlib.sha256).hexdigest()[:_MAC_DIGITS]
