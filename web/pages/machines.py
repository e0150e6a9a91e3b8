"""For programs: whether the site lives, and where everything stands."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from zermelo.web.site import site_of


def routes() -> list[Route]:
    return [Route("/healthz", healthz)]


async def healthz(request: Request) -> Response:
    """200 while pages can be made, 503 without a database."""
    await site_of(request).library.read(lambda connection: connection.execute("SELECT 1"))
    return PlainTextResponse("ok\n")
