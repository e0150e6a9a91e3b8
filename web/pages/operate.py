"""Operators' pages: what waits, what is wrong, who did what, and acting on it with a reason.

The coordinator does it, with the operator's token, and writes the audit.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from zermelo.proto import operations_pb2 as pb
from zermelo.proto.service import OPERATIONS
from zermelo.server.trust.bans import Preview
from zermelo.web.calls import call
from zermelo.web.errors import Offer, TroubleError
from zermelo.web.page import Page, page_routes
from zermelo.web.records import (
    Action,
    Alarm,
    Backlog,
    CampaignRow,
    HostRow,
    QueueState,
    UserRow,
    all_records,
    record,
)

MOST_ROWS = 500
#: What can be done to a campaign.
STEERING = {
    "pause": pb.PauseCampaignRequest, "resume": pb.ResumeCampaignRequest,
    "cancel": pb.CancelCampaignRequest,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Queue:
    queue: list[QueueState]
    backlog: list[Backlog]
    disputes: int
    alarms: int
    campaigns: list[CampaignRow]
    registration_open: bool
    notice: str
    web_url: str


@dataclass(frozen=True, slots=True)
class Alarms:
    alarms: list[Alarm]


@dataclass(frozen=True, slots=True)
class Hosts:
    hosts: list[HostRow]


@dataclass(frozen=True, slots=True)
class Users:
    users: list[UserRow]


@dataclass(frozen=True, slots=True)
class Audit:
    audit: list[Action]


@dataclass(frozen=True, slots=True)
class Ban:
    host: int
    name: str
    preview: Preview


def routes() -> list[Route]:
    actions = {
        "/operate/alarms/settle": settle,
        "/operate/ban": _deciding(pb.BanHostRequest, pb.BanUserRequest),
        "/operate/unban": _deciding(pb.UnbanHostRequest, pb.UnbanUserRequest),
        "/operate/project": set_project, "/operate/campaign": steer,
        "/operate/ask-again": ask_again,
    }  # fmt: skip
    return [
        Route("/operate", lambda _: RedirectResponse("/operate/queue", 303)),
        *page_routes("/operate/queue", queue),
        *page_routes("/operate/alarms", alarms),
        *page_routes("/operate/hosts", hosts),
        *page_routes("/operate/users", users),
        *page_routes("/operate/audit", audit),
        *page_routes("/operate/ban", preview_ban, csv=False),
        *(Route(path, action, methods=["POST"]) for path, action in actions.items()),
    ]


# -- looking ------------------------------------------------------------------------------


async def queue(request: Request) -> Page:
    found = await call(request, OPERATIONS, pb.ShowQueueRequest())
    project = await call(request, OPERATIONS, pb.ShowProjectRequest())
    listed = await call(request, OPERATIONS, pb.ListCampaignsRequest())
    campaigns = [one for one in all_records(CampaignRow, listed.campaigns)
                 if one.state in ("running", "paused")][:MOST_ROWS]  # fmt: skip
    data = Queue(
        all_records(QueueState, found.queue), all_records(Backlog, found.backlog),
        found.disputes, found.alarms, campaigns, project.registration_open, project.notice,
        project.web_url,
    )  # fmt: skip
    return Page("Queue", "operate/queue.html", data, data.queue)


async def alarms(request: Request) -> Page:
    settled = request.query_params.get("all") == "1"
    found = await call(request, OPERATIONS, pb.ListAlarmsRequest(settled=settled, most=MOST_ROWS))
    rows = all_records(Alarm, found.alarms)
    return Page("Alarms", "operate/alarms.html", Alarms(rows), rows, {"settled": settled})


async def hosts(request: Request) -> Page:
    found = await call(request, OPERATIONS, pb.ListHostsRequest(most=MOST_ROWS))
    rows = all_records(HostRow, found.hosts)
    return Page("Hosts", "operate/hosts.html", Hosts(rows), rows)


async def users(request: Request) -> Page:
    found = await call(request, OPERATIONS, pb.ListUsersRequest(most=MOST_ROWS))
    rows = all_records(UserRow, found.users)
    return Page("Users", "operate/users.html", Users(rows), rows)


async def audit(request: Request) -> Page:
    subject = request.query_params.get("subject", "")[:256]
    found = await call(
        request, OPERATIONS, pb.ListAuditRequest(subject=subject, most=MOST_ROWS)
    )
    rows = all_records(Action, found.audit)
    return Page("Audit", "operate/audit.html", Audit(rows), rows, {"subject": subject})


async def preview_ban(request: Request) -> Page:
    host, name = _banned(request.query_params)
    found = await call(request, OPERATIONS, pb.PreviewBanRequest(host=host, name=name))
    data = Ban(host, name, record(Preview, found))
    return Page("Ban", "operate/ban.html", data)


# -- acting -------------------------------------------------------------------------------


async def settle(request: Request) -> Response:
    form = await request.form()
    alarm = pb.SettleAlarmRequest(alarm=_number(form, "alarm"), reason=_reason(form))
    await call(request, OPERATIONS, alarm)
    return RedirectResponse("/operate/alarms", 303)


def _deciding(of_host: Any, of_user: Any) -> Callable[[Request], Awaitable[Response]]:
    """Bans or unbans a host or a user."""

    async def decide(request: Request) -> Response:
        form = await request.form()
        host, name = _banned(form)
        reason = _reason(form)
        asked = of_host(host=host, reason=reason) if host else of_user(name=name, reason=reason)
        await call(request, OPERATIONS, asked)
        return RedirectResponse("/operate/hosts" if host else "/operate/users", 303)

    return decide


async def set_project(request: Request) -> Response:
    form = await request.form()
    await call(request, OPERATIONS, pb.SetProjectRequest(
        registration_open=form.get("registration") == "open",
        notice=str(form.get("notice", "")).strip(), web_url=str(form.get("web_url", "")).strip(),
        reason=_reason(form),
    ))  # fmt: skip
    return RedirectResponse("/operate/queue", 303)


async def steer(request: Request) -> Response:
    form = await request.form()
    what = STEERING.get(str(form.get("do", "")))
    if what is None:
        raise TroubleError(400, "Not possible", f"A campaign is steered by {', '.join(STEERING)}.")
    await call(
        request, OPERATIONS, what(campaign=str(form.get("campaign", "")), reason=_reason(form))
    )
    return RedirectResponse("/operate/queue", 303)


async def ask_again(request: Request) -> Response:
    form = await request.form()
    asked = pb.AskAgainRequest(workunit=_number(form, "workunit"), reason=_reason(form))
    await call(request, OPERATIONS, asked)
    return RedirectResponse("/operate/queue", 303)


def _reason(form: Any) -> str:
    """Why; everything that is done here has a reason."""
    reason = str(form.get("reason", "")).strip()
    if not reason:
        raise TroubleError(400, "Why?", "Give a reason: the audit keeps it, and the volunteer"
                           " reads that of a ban.")  # fmt: skip
    return reason


def _banned(given: Any) -> tuple[int, str]:
    """A host's number or a user's name."""
    host, name = str(given.get("host", "")), str(given.get("name", ""))
    if bool(host) == bool(name):
        raise TroubleError(400, "Whom?", "Say which host or which user.", [
            Offer("hosts", "/operate/hosts"), Offer("users", "/operate/users"),
        ])  # fmt: skip
    return (_number(given, "host"), "") if host else (0, name)


def _number(given: Any, name: str) -> int:
    text = str(given.get(name, ""))
    limit = 2**31 if name == "host" else 2**63
    if not (text.isascii() and text.isdigit()) or not 0 < int(text) < limit:
        raise TroubleError(400, "Not a number", f"{name} must be a number.")
    return int(text)
