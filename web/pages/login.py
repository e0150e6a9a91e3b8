"""Signing in: by a link of `zermelo client open`, or with a token; and out.

Either way the cookie gets a token of its own that ends by itself. A link is used only when the
visitor presses the button: whoever merely looks at it, such as a preview in a chat, does not
use it up.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from zermelo.proto import volunteers_pb2 as pb
from zermelo.proto.service import VOLUNTEERS
from zermelo.web.calls import call_as, call_as_stranger, signed_in
from zermelo.web.errors import TroubleError
from zermelo.web.page import Page, page_routes
from zermelo.web.session import Visitor
from zermelo.web.site import site_of

LONGEST_SECRET = 200


@dataclass(frozen=True, slots=True)
class SignIn:
    """Whether the address brought the code of a link."""

    by_link: bool


def routes() -> list[Route]:
    return [
        *page_routes("/login", login, csv=False),
        Route("/login", sign_in, methods=["POST"]),
        Route("/logout", sign_out, methods=["POST"]),
    ]


async def login(request: Request) -> Page:
    code = request.query_params.get("code", "")[:LONGEST_SECRET]
    return Page("Sign in", "me/login.html", SignIn(bool(code)), view={"code": code})


async def sign_in(request: Request) -> Response:
    form = await request.form()
    code, token = (str(form.get(name, "")).strip() for name in ("code", "token"))
    if not 0 < len(code or token) <= LONGEST_SECRET or not (code or token).isascii():
        raise TroubleError(400, "Sign in", "That is neither a link's code nor a token.")
    if not code:
        code = (await call_as(request, VOLUNTEERS, pb.OpenSignInRequest(), token)).code
    session = await call_as_stranger(request, VOLUNTEERS, pb.SignInRequest(code=code))
    response = RedirectResponse("/me", 303)
    visitor = Visitor(session.name, session.role, session.token)
    site_of(request).sessions.sign_in(request, response, visitor)
    return response


async def sign_out(request: Request) -> Response:
    visitor = signed_in(request)
    response = RedirectResponse("/", 303)
    site_of(request).sessions.sign_out(response)
    with suppress(TroubleError):  # it has ended already, or ends by itself
        await call_as(request, VOLUNTEERS, pb.SignOutRequest(token=visitor.token), visitor.token)
    return response
