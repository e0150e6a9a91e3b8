"""Choosing the theme; without a choice it is that of the visitor's system."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from zermelo.web.site import THEME_COOKIE, THEMES

SECONDS = 365 * 86400


def routes() -> list[Route]:
    return [Route("/theme", choose, methods=["POST"])]


async def choose(request: Request) -> Response:
    theme = (await request.form()).get("theme")
    response = RedirectResponse(back(request), 303)
    if theme in THEMES:
        response.set_cookie(
            THEME_COOKIE, str(theme), max_age=SECONDS, httponly=True, samesite="lax"
        )
    else:
        response.delete_cookie(THEME_COOKIE, httponly=True, samesite="lax")
    return response


def back(request: Request) -> str:
    """The page that the visitor came from, if it is ours."""
    came_from = urlsplit(request.headers.get("referer", ""))
    if came_from.netloc != request.url.netloc or not came_from.path.startswith("/"):
        return "/"
    path = "/" + came_from.path.lstrip("/")  # //host would be another site
    return f"{path}?{came_from.query}" if came_from.query else path
