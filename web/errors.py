"""Pages for what is not there: what was asked, and the nearest thing that is."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import psycopg
from psycopg import errors
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from zermelo import ZermeloError
from zermelo.games import GameError
from zermelo.server.coordinator.batcher import OverloadError
from zermelo.server.database import DatabaseError
from zermelo.web.page import Page, as_csv, as_html, json_response

log = logging.getLogger(__name__)

MOST_OFFERS = 12
RETRY_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Offer:
    """Something near to what was asked for, that is there."""

    label: str
    href: str


class TroubleError(Exception):
    """What was asked for cannot be shown."""

    def __init__(
        self, status: int, title: str, text: str, offers: Sequence[Offer] = ()
    ) -> None:
        super().__init__(text)
        self.status, self.title, self.offers = status, title, offers
        #: A sentence, whatever the message of the command line begins with.
        self.text = text[:1].upper() + text[1:]


@dataclass(frozen=True, slots=True)
class Told:
    """A failure as programs read it."""

    status: int
    error: str
    offers: list[Offer]


HOME = Offer("all campaigns", "/")


def nearest(asked: str, there: Iterable[str]) -> list[str]:
    """Those names that look most like what was asked for; the first ones if none does."""
    names = list(there)
    close = difflib.get_close_matches(asked, names, MOST_OFFERS, 0.5)
    return close or names[:MOST_OFFERS]


async def show_trouble(request: Request, error: Exception) -> Response:
    """The page of a failure, in the form in which the page was asked for."""
    trouble = _trouble(error)
    render = getattr(request.state, "render", as_html)
    told = Told(trouble.status, trouble.text, list(trouble.offers))
    if render is as_html:
        page = Page(trouble.title, "trouble.html", told, status=trouble.status)
        response = as_html(request, page)
    elif render is as_csv:
        response = PlainTextResponse(f"{trouble.text}\n", trouble.status)
    else:
        response = json_response(told, trouble.status)
    if trouble.status == 503:
        response.headers["retry-after"] = str(RETRY_SECONDS)
    return response


def _trouble(error: Exception) -> TroubleError:
    if isinstance(error, TroubleError):
        return error
    if isinstance(error, HTTPException):
        title = "Not found" if error.status_code == 404 else error.detail
        text = "There is no such page." if error.status_code == 404 else f"{error.detail}."
        return TroubleError(error.status_code, title, text, [HOME])
    if isinstance(error, GameError):
        return TroubleError(400, "Not possible", f"{error}.", [HOME])
    if isinstance(error, errors.QueryCanceled):
        return TroubleError(
            503, "Takes too long", "The database needs too long for this page. Ask for less, or"
            " ask it with `zermelo query`.", [HOME],
        )  # fmt: skip
    if isinstance(error, OverloadError):
        return TroubleError(503, "Busy", "Too many pages are being made. Try again soon.", [HOME])
    if isinstance(error, DatabaseError | psycopg.OperationalError):
        return TroubleError(
            503, "No database", "The database does not answer. It is tried again at every"
            " request.", [HOME],
        )  # fmt: skip
    if isinstance(error, ZermeloError):
        return TroubleError(404, "Not there", f"{error}.", [HOME])
    log.error("a page failed", exc_info=error)
    return TroubleError(500, "Our mistake", "This page failed. The log of the site says why.")


#: Failures that have a page; any other is a mistake of ours.
EXPECTED = (
    TroubleError, HTTPException, ZermeloError, OverloadError, psycopg.OperationalError,
    errors.QueryCanceled,
)  # fmt: skip
