"""A page and its twins: one function finds what to show, three renderers show it.

Handlers return a `Page`. As HTML it is a template, as JSON all of its data, as CSV its rows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zermelo.research.csv_rows import csv_text
from zermelo.research.plain import plain
from zermelo.web.site import site_of

CRLF = "\r\n"
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Page:
    """What a page shows, whatever the form."""

    title: str
    template: str
    #: Everything a program may want: objects that `plain` understands. The JSON twin.
    data: Any
    #: Objects of one class: the CSV twin.
    rows: Sequence[Any] = ()
    #: For the template only.
    view: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200


Handler = Callable[[Request], Awaitable[Page | Response]]


def page_routes(path: str, handler: Handler, *, twins: str = "", csv: bool = True) -> list[Route]:
    """The routes of a page: as HTML at `path`, its twins at `twins`.json and `twins`.csv.

    `twins` is `path` unless that ends in a slash.
    """
    base = twins or path
    forms = {f"{base}.json": as_json, f"{base}.csv": as_csv, path: as_html}
    return [
        Route(at, _form(handler, render)) for at, render in forms.items()
        if csv or render is not as_csv
    ]  # fmt: skip


def _form(
    handler: Handler, render: Callable[[Request, Page], Response]
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        request.state.render = render
        found = await handler(request)
        return found if isinstance(found, Response) else render(request, found)

    return endpoint


# -- the three forms -------------------------------------------------------------------------


def as_html(request: Request, page: Page) -> Response:
    return site_of(request).render(request, page.template, page.status, {
        "title": page.title, "data": page.data, "twins": twins_of(request, page), **page.view,
    })  # fmt: skip


def as_json(request: Request, page: Page) -> Response:
    return json_response(page.data, page.status)


def as_csv(request: Request, page: Page) -> Response:
    name = request.url.path.rsplit("/", 1)[-1].encode("ascii", "replace").decode()
    safe = "".join(char if char.isalnum() or char in "-._" else "-" for char in name)
    headers = {"content-disposition": f'attachment; filename="{safe}"'}
    return Response(csv_text(page.rows, CRLF), page.status, headers, "text/csv; charset=utf-8")


def wants_html(request: Request) -> bool:
    """Whether the visitor asked for a page for people."""
    return getattr(request.state, "render", as_html) is as_html


def wants_json(request: Request) -> bool:
    """Whether a program asked for the page's JSON."""
    return getattr(request.state, "render", as_html) is as_json


def twins_of(request: Request, page: Page) -> dict[str, str]:
    """The addresses of a page's other forms, by the name of the form."""
    if page.status != 200:
        return {}
    path, query = request.url.path, request.url.query
    base = "/campaigns" if path == "/" else path
    tail = f"?{query}" if query else ""
    found = {"JSON": f"{base}.json{tail}"}
    if page.rows:
        found["CSV"] = f"{base}.csv{tail}"
    return found


def json_response(data: Any, status: int = 200) -> Response:
    return Response(json_text(_finite(plain(data))), status, media_type=JSON)


def json_text(data: Any) -> str:
    """Data that consists of what JSON knows, however much it is."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False)
    # Harmless also where somebody takes it for HTML.
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return text + "\n"


def _finite(value: Any) -> Any:
    """JSON has no infinity: what is not a finite number is null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return value
