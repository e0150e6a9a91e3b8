"""Which pages are live, and what of them."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zermelo.web.hub import EventStream, Snapshot, Take
from zermelo.web.pages import campaign, home
from zermelo.web.site import Site, site_of

HOME = "home"
CAMPAIGN = "campaigns/"


def live_routes() -> list[Route]:
    return [Route("/live/{topic:path}", stream)]


async def stream(request: Request) -> Response:
    site, topic = site_of(request), request.path_params["topic"]
    site.hub.admit(request.scope)
    if not site.hub.has_room(topic):
        # A topic that is not there is refused here; a crowd that comes at once waits for one.
        parts: Snapshot = await site.library.keep(
            ("live", topic), 0.0, lambda: snapshots(site)(topic)
        )
        site.hub.open_room(topic, parts)
    return EventStream(site.hub, topic)


def snapshots(site: Site) -> Take:
    """What makes the snapshot of a topic."""

    async def take(topic: str) -> Snapshot:
        if topic == HOME:
            return await home.snapshot(site)
        return await campaign.snapshot(site, topic.removeprefix(CAMPAIGN))

    return take
