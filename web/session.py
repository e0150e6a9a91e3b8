"""Who the visitor is: a cookie that only this site can read or write.

The cookie holds the visitor's token, encrypted and signed. A stolen database or a look at the
cookie tells nothing, and the token reaches the coordinator alone, which decides what it is
worth at every call.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from dataclasses import asdict, dataclass

from cryptography.fernet import Fernet, InvalidToken
from starlette.requests import Request
from starlette.responses import Response

COOKIE = "zermelo_session"
#: A visit ends this long after signing in.
SECONDS = 30 * 86400


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who has signed in; `role` decides what is shown, never what is allowed."""

    name: str
    role: str
    token: str


class Sessions:
    def __init__(self, secret: str = "") -> None:
        key = hashlib.sha256((secret or secrets.token_hex(32)).encode()).digest()
        self._box = Fernet(base64.urlsafe_b64encode(key))

    def sign_in(self, request: Request, response: Response, visitor: Visitor) -> None:
        sealed = self._box.encrypt(json.dumps(asdict(visitor)).encode()).decode()
        response.set_cookie(
            COOKIE, sealed, max_age=SECONDS, httponly=True, samesite="lax",
            secure=request.url.scheme == "https",
        )  # fmt: skip

    def sign_out(self, response: Response) -> None:
        response.delete_cookie(COOKIE, httponly=True, samesite="lax")

    def visitor(self, request: Request) -> Visitor | None:
        """Who has signed in; None for a stranger, and for a cookie that is not ours or too old."""
        sealed = request.cookies.get(COOKIE)
        if sealed is None:
            return None
        try:
            return Visitor(**json.loads(self._box.decrypt(sealed.encode(), ttl=SECONDS)))
        except (InvalidToken, ValueError, TypeError):
            return None
