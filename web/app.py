"""The application: every page in its place, behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import Receive, Scope, Send

from zermelo.web.archive import Archive
from zermelo.web.assets import Assets
from zermelo.web.certificates import Certificates
from zermelo.web.errors import EXPECTED, show_trouble
from zermelo.web.hub import Hub
from zermelo.web.library import Library
from zermelo.web.live import live_routes, snapshots
from zermelo.web.opponents import Opponents
from zermelo.web.pages import all_routes
from zermelo.web.security import Guard
from zermelo.web.settings import WebSettings
from zermelo.web.site import Site
from zermelo.web.studies import Studies

LEAST_COMPRESSED_BYTES = 500


class WebApplication:
    """An ASGI application over one database. `close_streams` before its server stops."""

    def __init__(self, url: str, settings: WebSettings) -> None:
        settings.check()
        assets = Assets()
        library = Library(settings.read_database or url, settings.statement_seconds)
        self.site = Site(settings, library, assets)
        self.site.hub = Hub(url, snapshots(self.site), settings.streams_per_address)
        self.site.certificates = Certificates(self.site.library)
        self.site.studies = Studies()
        self.site.opponents = Opponents()
        self.site.archive = Archive(url, self.site.library)
        inner = Starlette(
            routes=[*assets.routes, *live_routes(), *all_routes()],
            middleware=[
                Middleware(GZipMiddleware, minimum_size=LEAST_COMPRESSED_BYTES, compresslevel=5)
            ],
            exception_handlers=dict.fromkeys([*EXPECTED, Exception], show_trouble),
            lifespan=self._lifespan,
        )
        inner.state.site = self.site
        self._guarded = Guard(inner, settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._guarded(scope, receive, send)

    async def close_streams(self) -> None:
        await self.site.hub.close()

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        self.site.hub.start()
        yield
        await self.site.hub.close()
        await self.site.studies.close()
        await self.site.opponents.close()
        await self.site.archive.close()
        await self.site.library.close()
        self.site.certificates.close()
