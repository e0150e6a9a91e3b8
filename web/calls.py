"""Doing what a visitor asks for: by the coordinator, with the visitor's own token.

The pages have no rights of their own. The coordinator decides what a token may do and writes
the audit.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import ServiceDescriptor
from starlette.requests import Request

from zermelo.client.caller import identify
from zermelo.proto.remote import RefusedError, Remote, UnreachableError
from zermelo.web.errors import Offer, TroubleError
from zermelo.web.session import Visitor
from zermelo.web.site import site_of, visitor_of

CALL_SECONDS = 20.0
SIGN_IN = Offer("sign in", "/login")


def signed_in(request: Request) -> Visitor:
    """Who has signed in; `TroubleError` for a stranger."""
    visitor = visitor_of(request)
    if visitor is None:
        raise TroubleError(401, "Who are you?", "Sign in to see this page.",
                           [SIGN_IN])  # fmt: skip
    return visitor


async def call(request: Request, service: ServiceDescriptor, message: Any) -> Any:
    """The reply of the coordinator to a signed-in visitor's request."""
    return await call_as(request, service, message, signed_in(request).token)


async def call_as(
    request: Request, service: ServiceDescriptor, message: Any, token: str
) -> Any:
    """The reply of the coordinator to the owner of a token; `TroubleError` if it refuses."""
    return await _call(request, service, message, token)


async def call_as_stranger(request: Request, service: ServiceDescriptor, message: Any) -> Any:
    """The reply of the coordinator to somebody without a token, for the RPCs that give one."""
    return await _call(request, service, message, "")


async def _call(request: Request, service: ServiceDescriptor, message: Any, token: str) -> Any:
    settings = site_of(request).settings
    if not settings.coordinator:
        raise TroubleError(
            503, "Nobody to ask", "This site was started without a coordinator, so nobody can sign"
            " in here. Its operator can name one with --server, or with --web-server of"
            " `zermelo serve all`.",
        )  # fmt: skip
    try:
        return await asyncio.to_thread(
            _ask, settings.coordinator, settings.coordinator_ca, token, service, message
        )
    except RefusedError as error:
        raise TroubleError(403, "Refused", f"{error}.", [SIGN_IN]) from error
    except UnreachableError as error:
        raise TroubleError(503, "No coordinator", f"{error}.") from error


def _ask(
    server: str, ca_file: Path | None, token: str, service: ServiceDescriptor, message: Any
) -> Any:
    # Whoever has no token still has to know that it talks to the right server.
    address, identity = identify(server, token or "none", ca_file)
    with Remote(address, service, identity._replace(token=token)) as remote:
        return remote.ask(message, CALL_SECONDS)
