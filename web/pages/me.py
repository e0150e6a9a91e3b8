"""A volunteer's own pages: credit, hosts, what became of their work, team, consents, leaving."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from zermelo.proto import volunteers_pb2 as pb
from zermelo.proto.service import VOLUNTEERS
from zermelo.server.trust.project import show_project
from zermelo.web import people
from zermelo.web.calls import call, signed_in
from zermelo.web.errors import Offer, TroubleError
from zermelo.web.page import Page, page_routes
from zermelo.web.records import MyAccount, MyHost, MyResult, MyToken, all_records, record
from zermelo.web.site import site_of

MOST_HOSTS = 500
MOST_RESULTS = 50
#: The tabs of a host's work, and what is in each.
TABS = {
    "in-progress": "being searched now",
    "pending": "handed in, not looked at yet",
    "inconclusive": "waits for another user's answer",
    "valid": "accepted",
    "invalid": "refused, outvoted or taken back",
    "error": "the lease ended without a result",
}


@dataclass(frozen=True, slots=True)
class Me:
    account: MyAccount
    profile: people.Profile
    hosts: list[MyHost]
    #: What the operators tell all volunteers; usually empty.
    notice: str


@dataclass(frozen=True, slots=True)
class Hosts:
    hosts: list[MyHost]


@dataclass(frozen=True, slots=True)
class HostPage:
    host: MyHost
    tab: str
    results: list[MyResult]


@dataclass(frozen=True, slots=True)
class Settings:
    account: MyAccount
    tokens: list[MyToken]
    #: Of the visitor's team; empty without one.
    team_description: str


@dataclass(frozen=True, slots=True)
class Secret:
    """Something that is shown this once."""

    what: str
    secret: str


def routes() -> list[Route]:
    actions = {
        "/me/consents": set_consents, "/me/team": set_team, "/me/recovery": new_recovery_code,
        "/me/token": renew_token, "/me/delete": delete_account,
    }  # fmt: skip
    return [
        *page_routes("/me", me, csv=False),
        *page_routes("/me/hosts", my_hosts),
        *page_routes("/me/hosts/{number:int}", my_host),
        *page_routes("/me/settings", settings, csv=False),
        *(Route(path, action, methods=["POST"]) for path, action in actions.items()),
    ]


# -- looking ------------------------------------------------------------------------------


async def me(request: Request) -> Page:
    account, hosts = await asyncio.gather(_account(request), _hosts(request))
    profile = await people.find_profile(site_of(request).library, account.name)
    project = await site_of(request).library.read(show_project)
    data = Me(account, profile, hosts, project.notice)
    return Page(account.name, "me/me.html", data, view={"idle": [h for h in hosts if h.no_work]})


async def my_hosts(request: Request) -> Page:
    hosts = await _hosts(request)
    return Page("My hosts", "me/hosts.html", Hosts(hosts), hosts)


async def my_host(request: Request) -> Page:
    signed_in(request)
    number = request.path_params["number"]
    tab = request.query_params.get("tab", "valid")
    before = request.query_params.get("before", "0")
    if tab not in TABS or not (before.isascii() and before.isdigit() and len(before) < 19):
        raise TroubleError(404, "No such tab", f"There is no tab {tab!r} of results.", [
            Offer(each, f"/me/hosts/{number}?tab={each}") for each in TABS
        ])  # fmt: skip
    (host,) = await _hosts(request, number)
    asked = pb.ListMyResultsRequest(host=number, tab=tab, most=MOST_RESULTS, before=int(before))
    results = all_records(MyResult, (await call(request, VOLUNTEERS, asked)).results)
    return Page(
        host.name or f"Host {host.id}", "me/host.html", HostPage(host, tab, results), results,
        {"tabs": TABS, "older": results[-1].lease if len(results) == MOST_RESULTS else 0},
    )  # fmt: skip


async def settings(request: Request) -> Page:
    found = await call(request, VOLUNTEERS, pb.ShowAccountRequest())
    account = record(MyAccount, found)
    mine = await site_of(request).library.read(
        lambda connection: people.teams(connection, account.team) if account.team else []
    )
    about = mine[0].description if mine else ""
    data = Settings(account, all_records(MyToken, found.tokens), about)
    return Page("Settings", "me/settings.html", data)


async def _account(request: Request) -> MyAccount:
    return record(MyAccount, await call(request, VOLUNTEERS, pb.ShowAccountRequest()))


async def _hosts(request: Request, host: int = 0) -> list[MyHost]:
    if host >= 2**31:
        raise TroubleError(404, "No such host", f"You have no host {host}.")
    asked = pb.ListMyHostsRequest(host=host, most=MOST_HOSTS)
    return all_records(MyHost, (await call(request, VOLUNTEERS, asked)).hosts)


# -- acting -------------------------------------------------------------------------------


async def set_consents(request: Request) -> Response:
    form = await request.form()
    await call(request, VOLUNTEERS, pb.SetConsentsRequest(
        show_hosts="show_hosts" in form, export_statistics="export_statistics" in form
    ))  # fmt: skip
    return RedirectResponse("/me/settings", 303)


async def set_team(request: Request) -> Response:
    form = await request.form()
    what, name, description = (
        str(form.get(field, "")).strip() for field in ("do", "name", "description")
    )
    if what == "found" and name:
        await call(request, VOLUNTEERS, pb.FoundTeamRequest(name=name, description=description))
    elif what == "join" and name:
        await call(request, VOLUNTEERS, pb.JoinTeamRequest(name=name))
    elif what == "leave":
        await call(request, VOLUNTEERS, pb.LeaveTeamRequest())
    elif what == "describe":
        await call(request, VOLUNTEERS, pb.DescribeTeamRequest(description=description))
    else:
        raise TroubleError(400, "Team", "Say which team.", [Offer("settings", "/me/settings")])
    return RedirectResponse("/me/settings", 303)


async def new_recovery_code(request: Request) -> Response:
    reply = await call(request, VOLUNTEERS, pb.NewRecoveryCodeRequest())
    return _told_once(request, "Your recovery code", Secret(
        "With it `zermelo client recover` gives you a new token if you lose yours. An earlier code"
        " is worthless now.", reply.code,
    ))  # fmt: skip


async def renew_token(request: Request) -> Response:
    reply = await call(request, VOLUNTEERS, pb.RenewMyTokenRequest())
    response = _told_once(request, "Your new token", Secret(
        "All earlier tokens are worthless: give this one to your clients with `zermelo client"
        " configure`, and sign in again.", reply.token,
    ))  # fmt: skip
    site_of(request).sessions.sign_out(response)
    return response


async def delete_account(request: Request) -> Response:
    form = await request.form()
    name = str(form.get("name", ""))
    if name != signed_in(request).name:
        raise TroubleError(400, "Not deleted", "To delete the account, repeat its name.", [
            Offer("settings", "/me/settings")
        ])  # fmt: skip
    await call(request, VOLUNTEERS, pb.DeleteAccountRequest(name=name))
    response = RedirectResponse("/", 303)
    site_of(request).sessions.sign_out(response)
    return response


def _told_once(request: Request, title: str, secret: Secret) -> Response:
    response = site_of(request).render(
        request, "me/secret.html", 200, {"title": title, "data": secret}
    )
    response.headers["cache-control"] = "no-store"
    return response
