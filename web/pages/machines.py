"""For programs: whether the site lives, where everything stands, what is new."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.sax.saxutils import escape, quoteattr

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from zermelo import __version__
from zermelo.figures import span
from zermelo.server.database import Connection
from zermelo.server.vocabulary import CampaignState
from zermelo.sql import query
from zermelo.texts import one_line
from zermelo.web.finding import campaign_href
from zermelo.web.page import json_response
from zermelo.web.site import site_of
from zermelo.web.standing import Card, Overview, overview

MOST_NEWS = 50
ATOM = "application/atom+xml; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Status:
    version: str
    at: datetime
    viewers: int
    running: int
    #: Workunits that wait for a client, and that clients work on.
    ready: int
    leased: int
    #: Nodes a second of all campaigns in the last minute.
    speed: float
    overview: Overview


def routes() -> list[Route]:
    return [
        Route("/healthz", healthz), Route("/status.json", status), Route("/metrics", metrics),
        Route("/feed.atom", feed),
    ]  # fmt: skip


async def healthz(request: Request) -> Response:
    """200 while pages can be made, 503 without a database."""
    await site_of(request).library.read(lambda connection: connection.execute("SELECT 1"))
    return PlainTextResponse("ok\n")


async def status(request: Request) -> Response:
    request.state.render = status  # failures are told as JSON, too
    site = site_of(request)
    found = await overview(site.library)
    running = [card for card in found.campaigns if card.state == CampaignState.RUNNING]
    return json_response(Status(
        __version__, datetime.now(UTC), site.hub.viewers, len(running),
        sum(card.ready for card in running), sum(card.leased for card in running),
        sum(card.speed for card in running), found,
    ))  # fmt: skip


# -- OpenMetrics --------------------------------------------------------------------------


class _Measures(Collector):
    def __init__(self, cards: list[Card], found: Overview, viewers: int) -> None:
        self._cards, self._found, self._viewers = cards, found, viewers

    def collect(self) -> Iterator[Metric]:
        labels = ["campaign"]
        nodes = CounterMetricFamily("zermelo_nodes", "Nodes searched", labels=labels)
        answered = CounterMetricFamily("zermelo_answered", "Workunits answered", labels=labels)
        open_ones = GaugeMetricFamily(
            "zermelo_workunits", "Open workunits", labels=["campaign", "state"]
        )
        bounds = GaugeMetricFamily(
            "zermelo_root_bound", "Bounds of the root", labels=["campaign", "side"]
        )
        for card in self._cards:
            name = one_line(card.campaign)
            nodes.add_metric([name], card.nodes)
            answered.add_metric([name], card.answered)
            open_ones.add_metric([name, "ready"], card.ready)
            open_ones.add_metric([name, "leased"], card.leased)
            bounds.add_metric([name, "lo"], card.bounds[0])
            bounds.add_metric([name, "hi"], card.bounds[1])
        yield from (nodes, answered, open_ones, bounds)
        totals = self._found.totals
        yield GaugeMetricFamily("zermelo_users", "Accounts", value=totals.users)
        yield GaugeMetricFamily(
            "zermelo_active_hosts", "Hosts seen within ten minutes", value=totals.active_hosts
        )
        yield GaugeMetricFamily("zermelo_web_viewers", "Live pages open", value=self._viewers)


async def metrics(request: Request) -> Response:
    """Running and paused campaigns, in OpenMetrics."""
    site = site_of(request)
    found = await overview(site.library)
    cards = [card for card in found.campaigns
             if card.state in (CampaignState.RUNNING, CampaignState.PAUSED)]  # fmt: skip
    registry = CollectorRegistry()
    registry.register(_Measures(cards, found, site.hub.viewers))
    text: bytes = generate_latest(registry)  # type: ignore[no-untyped-call]
    return Response(text, headers={"content-type": CONTENT_TYPE_LATEST})


# -- Atom -----------------------------------------------------------------------------------


async def feed(request: Request) -> Response:
    """Campaigns that began or were finished."""

    def read(connection: Connection) -> list[tuple[str, str, str, datetime, int, int]]:
        return connection.execute(query("latest_events"), {"most": MOST_NEWS}).fetchall()

    library = site_of(request).library
    news = await library.keep("news", 5.0, lambda: library.read(read))
    base = str(request.base_url).rstrip("/")
    newest = max((each[3] for each in news), default=datetime(1970, 1, 1, tzinfo=UTC))
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>', '<feed xmlns="http://www.w3.org/2005/Atom">',
        "<title>Zermelo: campaigns</title>", f"<id>{escape(base)}/feed.atom</id>",
        f"<link rel=\"self\" href={quoteattr(f'{base}/feed.atom')}/>",
        f"<link href={quoteattr(f'{base}/')}/>", f"<updated>{_stamp(newest)}</updated>",
        "<author><name>Zermelo</name></author>",
    ]  # fmt: skip
    for name, spec, what, at, lo, hi in news:
        shown = one_line(name)
        href = base + campaign_href(name)
        proved = f": the score is {span(lo, hi)}" if what == "finished" else ""
        lines += [
            "<entry>", f"<title>{escape(f'{shown} {what}{proved}')}</title>",
            f"<id>{escape(f'{href}#{what}')}</id>", f"<link href={quoteattr(href)}/>",
            f"<updated>{_stamp(at)}</updated>",
            f"<summary>{escape(f'The campaign {shown} about {one_line(spec)} {what}{proved}.')}"
            "</summary>", "</entry>",
        ]  # fmt: skip
    return Response("\n".join([*lines, "</feed>", ""]), headers={"content-type": ATOM})


def _stamp(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")
