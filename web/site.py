"""What every page shares: settings, the database, templates, visitors, live news."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from zermelo import __version__
from zermelo.server.coordinator.rates import Rate, RateLimiter
from zermelo.web.assets import Assets
from zermelo.web.library import Library
from zermelo.web.session import Sessions, Visitor
from zermelo.web.settings import WebSettings
from zermelo.web.sittings import Sittings
from zermelo.web.words import FILTERS, as_shown

if TYPE_CHECKING:
    from zermelo.web.archive import Archive
    from zermelo.web.certificates import Certificates
    from zermelo.web.hub import Hub
    from zermelo.web.opponents import Opponents
    from zermelo.web.studies import Studies

TEMPLATES = Path(__file__).parent / "templates"
THEME_COOKIE = "zermelo_theme"
THEMES = ("light", "dark")


@dataclass(frozen=True, slots=True)
class Link:
    """A line of the navigation; `role` is who sees it, empty for everybody."""

    label: str
    href: str
    role: str = ""


#: What the navigation shows, in this order.
NAVIGATION = [
    Link("Campaigns", "/"),
    Link("Solved", "/solved"),
    Link("Claims", "/claims"),
    Link("Games", "/games"),
    Link("Play", "/play"),
    Link("Theatre", "/theatre"),
    Link("Volunteers", "/volunteers"),
    Link("Operate", "/operate", "operator"),
]


class Site:
    def __init__(self, settings: WebSettings, library: Library, assets: Assets) -> None:
        self.settings, self.library, self.assets = settings, library, assets
        self.sessions = Sessions(settings.secret)
        self.hub: Hub
        self.certificates: Certificates
        self.studies: Studies
        self.opponents: Opponents
        self.archive: Archive
        self.sittings = Sittings(settings.secret)
        self.play_rates = RateLimiter(Rate(settings.plays_per_second, settings.play_burst))
        self._environment = Environment(
            loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined,
            trim_blocks=True, lstrip_blocks=True, auto_reload=False, finalize=as_shown,
        )  # fmt: skip
        self._environment.filters |= FILTERS
        self._environment.globals |= {"asset": assets.url, "version": __version__}

    def render(
        self, request: Request, template: str, status: int, values: Mapping[str, Any]
    ) -> Response:
        """A whole page in the frame."""
        visitor = self.sessions.visitor(request)
        shown = {
            "twins": {}, "live": "", "lazy": False, "path": request.url.path, "visitor": visitor,
            "navigation": [link for link in NAVIGATION if _sees(visitor, link)],
            "signing_in": bool(self.settings.coordinator), "theme": theme_of(request), **values,
        }  # fmt: skip
        headers = {"cache-control": "private, no-cache"}
        return HTMLResponse(self.fragment(template, shown), status, headers)

    def fragment(self, template: str, values: Mapping[str, Any]) -> str:
        """A template without the frame's own values: a part of a page."""
        return self._environment.get_template(template).render(values)


def _sees(visitor: Visitor | None, link: Link) -> bool:
    return not link.role or (visitor is not None and visitor.role == link.role)


def theme_of(request: Request) -> str:
    """The theme that the visitor chose; empty for that of the system."""
    theme = request.cookies.get(THEME_COOKIE, "")
    return theme if theme in THEMES else ""


def site_of(request: Request) -> Site:
    return cast(Site, request.app.state.site)


def visitor_of(request: Request) -> Visitor | None:
    """Who has signed in; None for a stranger."""
    return site_of(request).sessions.visitor(request)
