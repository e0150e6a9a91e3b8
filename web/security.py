"""What holds for every request, whichever page it is for.

Content comes from this site alone and no script or style stands inside a page; a form is
taken only from our own pages; nobody sends much, or often.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from zermelo.server.coordinator.rates import Rate, RateLimiter
from zermelo.server.ports import is_loopback
from zermelo.web.settings import WebSettings

POLICY = "; ".join([
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
    "connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
])  # fmt: skip
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
HTTPS_ONLY = {"strict-transport-security": "max-age=31536000"}
MOST_BODY_BYTES = 64 * 1024
TOO_LARGE = f"at most {MOST_BODY_BYTES} bytes can be sent"
MOST_QUERY_BYTES = 4096
SAFE_METHODS = ("GET", "HEAD")
#: Addresses that browsers keep; they cost nothing and are not counted.
STATIC = "/static/"
#: One household has at least this much of IPv6.
IPV6_NETWORK = 64


class Guard:
    """Wraps the whole application, so that its answers to failures are guarded as well."""

    def __init__(self, app: ASGIApp, settings: WebSettings) -> None:
        self._app = app
        self._rates = RateLimiter(Rate(settings.requests_per_second, settings.request_burst))
        host, _ = settings.address
        #: A page of another site must not reach a local one under a name of its own.
        self._only_local = is_loopback(host) and not settings.trusted_proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                _guard(MutableHeaders(scope=message), scope["scheme"] == "https")
            await send(message)

        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send_guarded)
            return
        await self._app(scope, _limited(receive), send_guarded)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        host = headers.get("host", "")
        if self._only_local and not is_loopback(_name(host)):
            return _refuse(421, f"this site is not {host[:100]!r}; use 127.0.0.1")
        if len(scope["query_string"]) > MOST_QUERY_BYTES:
            return _refuse(414, f"an address has at most {MOST_QUERY_BYTES} bytes behind the ?")
        if not scope["path"].startswith(STATIC):
            wait = self._rates.wait_needed(household(scope))
            if wait:
                return _refuse(429, "too many requests; try again soon", retry_after=wait)
        if scope["method"] in SAFE_METHODS:
            return None
        if _length(headers) > MOST_BODY_BYTES:
            return _refuse(413, TOO_LARGE)
        if not _from_our_page(scope["scheme"], host, headers):
            return _refuse(403, "this was not sent by a page of this site; reload the page")
        return None


def household(scope: Scope) -> str:
    """Whom a limit is for: an address, or a network of IPv6."""
    client = scope.get("client")
    if client is None:
        return ""
    try:
        address = ipaddress.ip_address(client[0])
    except ValueError:
        return str(client[0])
    if address.version == 6:
        return str(ipaddress.ip_network((int(address), IPV6_NETWORK), strict=False))
    return str(address)


def _guard(headers: MutableHeaders, encrypted: bool) -> None:
    for name, value in (HEADERS | HTTPS_ONLY if encrypted else HEADERS).items():
        headers.setdefault(name, value)


def _refuse(status: int, text: str, *, retry_after: float = 0.0) -> Response:
    headers = {"retry-after": str(int(retry_after) + 1)} if retry_after else None
    return PlainTextResponse(f"{text}\n", status, headers)


def _name(host: str) -> str:
    """The host of a Host header, without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _length(headers: Headers) -> int:
    told = headers.get("content-length", "0")
    return int(told) if told.isascii() and told.isdigit() else MOST_BODY_BYTES + 1


def _from_our_page(scheme: str, host: str, headers: Headers) -> bool:
    """Whether one of our own pages sent a form: browsers tell where it came from."""
    fetched_from = headers.get("sec-fetch-site")
    if fetched_from is not None and fetched_from != "same-origin":
        return False
    for told in _told_origins(headers):
        parts = urlsplit(told)
        return (parts.scheme, parts.netloc) == (scheme, host)
    return fetched_from is not None


def _told_origins(headers: Headers) -> Iterable[str]:
    return [headers[name] for name in ("origin", "referer") if name in headers]


def _limited(receive: Receive) -> Receive:
    """Refuses a body that is larger than it said."""
    got = 0

    async def receive_limited() -> Message:
        nonlocal got
        message = await receive()
        got += len(message.get("body", b""))
        if got > MOST_BODY_BYTES:
            raise HTTPException(413, TOO_LARGE)
        return message

    return receive_limited
