"""One campaign: how it stands, how it went, what is searched now."""

from __future__ import annotations

from starlette.routing import Route

from zermelo.web.hub import Snapshot
from zermelo.web.site import Site


def routes() -> list[Route]:
    return []


async def snapshot(site: Site, name: str) -> Snapshot:
    return {}
