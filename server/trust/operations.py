"""Operators' requests, whichever way they come: one code behind two doors.

`zermelo admin` asks for something with a message of proto/operations.proto. With a
database at hand it is performed here directly; with `--server` it travels to a
coordinator, whose Operations service performs it here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from google.protobuf.message import Message

from zermelo.proto import limits
from zermelo.proto import operations_pb2 as pb
from zermelo.server.campaigns import list_campaigns
from zermelo.server.database import Connection, in_transaction
from zermelo.server.trust import accounts, administration, bans, leaving, project
from zermelo.server.trust.accounts import AccountError, Role
from zermelo.server.trust.administration import AdministrationError
from zermelo.server.trust.audit import actions
from zermelo.server.trust.messages import message, messages
from zermelo.server.vocabulary import CampaignState
from zermelo.sql import query

#: What credit is summed by.
SUMS = ("user", "host", "team", "month")


def perform(connection: Connection, request: Any, *, actor: str) -> Any:
    """The reply to an operator's request; a `ZermeloError` says why there is none."""
    limits.check(request)
    if not getattr(request, "reason", "").isprintable():
        raise AdministrationError("a reason is one line of printable text")
    return in_transaction(connection, lambda: _PERFORMED[type(request)](connection, request, actor))


# -- looking ----------------------------------------------------------------------------


def _list_users(connection: Connection, request: pb.ListUsersRequest, _: str) -> Any:
    found = administration.rows(connection, "list_users", most=request.most)
    return pb.ListUsersReply(users=messages(pb.User, found))


def _list_hosts(connection: Connection, request: pb.ListHostsRequest, _: str) -> Any:
    found = administration.rows(connection, "list_hosts", host=None, most=request.most)
    return pb.ListHostsReply(hosts=messages(pb.Host, found))


def _show_host(connection: Connection, request: pb.ShowHostRequest, _: str) -> Any:
    host = administration.find_host(connection, request.host)
    results = administration.rows(
        connection, "host_results", host=request.host, most=request.most
    )
    return pb.ShowHostReply(
        host=message(pb.Host, host), results=messages(pb.HostResult, results)
    )


def _show_workunit(connection: Connection, request: pb.ShowWorkunitRequest, _: str) -> Any:
    workunit = administration.find_workunit(connection, request.workunit)
    history = administration.rows(connection, "workunit_history", workunit=request.workunit)
    return pb.ShowWorkunitReply(
        workunit=message(pb.AskedWorkunit, workunit), history=messages(pb.Asked, history)
    )


def _list_credit(connection: Connection, request: pb.ListCreditRequest, _: str) -> Any:
    if request.by not in SUMS:
        raise AdministrationError(
            f"credit is not summed by {request.by!r}; there are: {', '.join(SUMS)}"
        )
    found = administration.rows(connection, "list_credit", by=request.by, most=request.most)
    return pb.ListCreditReply(credit=messages(pb.CreditSum, found))


def _list_campaigns(connection: Connection, request: pb.ListCampaignsRequest, _: str) -> Any:
    return pb.ListCampaignsReply(
        campaigns=[
            message(pb.Campaign, {
                "id": found.id, "name": found.name, "game": found.spec, "goal": str(found.goal),
                "state": found.state, "replication": found.replication,
                "created_at": found.created_at, "finished_at": found.finished_at,
            })
            for found in list_campaigns(connection)
        ]
    )  # fmt: skip


def _list_audit(connection: Connection, request: pb.ListAuditRequest, _: str) -> Any:
    found = actions(connection, request.subject or None, request.most)
    return pb.ListAuditReply(audit=messages(pb.Action, (line._asdict() for line in found)))


def _list_alarms(connection: Connection, request: pb.ListAlarmsRequest, _: str) -> Any:
    found = administration.rows(
        connection, "list_alarms", settled=request.settled, most=request.most
    )
    return pb.ListAlarmsReply(alarms=messages(pb.Alarm, found))


def _settle_alarm(connection: Connection, request: pb.SettleAlarmRequest, actor: str) -> Any:
    project.settle_alarm(connection, request.alarm, request.reason, actor=actor)
    return pb.SettleAlarmReply()


def _show_queue(connection: Connection, request: pb.ShowQueueRequest, _: str) -> Any:
    queue = connection.execute(query("measured_queue")).fetchall()
    disputes, alarms, *_rest = connection.execute(query("measured_trouble")).fetchone() or (0, 0)
    return pb.ShowQueueReply(
        queue=[
            pb.QueueState(campaign=name, state=state, workunits=count, oldest_seconds=age)
            for name, state, count, age in sorted(queue)
        ],
        backlog=messages(pb.Backlog, administration.rows(connection, "waiting_results")),
        disputes=disputes,
        alarms=alarms,
    )


def _show_project(connection: Connection, request: pb.ShowProjectRequest, _: str) -> Any:
    return pb.ShowProjectReply(**project.show_project(connection)._asdict())


def _set_project(connection: Connection, request: pb.SetProjectRequest, actor: str) -> Any:
    given = {
        name: getattr(request, name)
        for name in ("registration_open", "notice", "web_url") if request.HasField(name)
    }  # fmt: skip
    changed = project.set_project(connection, **given, reason=request.reason, actor=actor)
    return pb.ShowProjectReply(**changed._asdict())


# -- accounts ---------------------------------------------------------------------------


def _open_account(connection: Connection, request: pb.OpenAccountRequest, actor: str) -> Any:
    token = accounts.open_account(
        connection, request.name, _role(request.role), team=request.team,
        reason=request.reason, actor=actor,
    )  # fmt: skip
    return pb.TokenReply(user=request.name, token=token)


def _renew_token(connection: Connection, request: pb.RenewTokenRequest, actor: str) -> Any:
    token = accounts.renew_token(connection, request.name, reason=request.reason, actor=actor)
    return pb.TokenReply(user=request.name, token=token)


def _revoke_tokens(connection: Connection, request: pb.RevokeTokensRequest, actor: str) -> Any:
    revoked = accounts.revoke_tokens(connection, request.name, reason=request.reason, actor=actor)
    return pb.RevokeTokensReply(revoked=revoked)


def _set_role(connection: Connection, request: pb.SetRoleRequest, actor: str) -> Any:
    role = _role(request.role)
    accounts.set_role(connection, request.name, role, reason=request.reason, actor=actor)
    return pb.SetRoleReply(user=request.name, role=role)


# -- acting -----------------------------------------------------------------------------


def _preview_ban(connection: Connection, request: pb.PreviewBanRequest, _: str) -> Any:
    if bool(request.host) == bool(request.name):
        raise AdministrationError("say which host or which user")
    if request.host:
        banned = bans.host_to_ban(connection, request.host)
    else:
        banned = bans.user_to_ban(connection, request.name)
    return pb.PreviewBanReply(**asdict(bans.preview(connection, banned)))


def _ban_host(connection: Connection, request: pb.BanHostRequest, actor: str) -> Any:
    banned = bans.host_to_ban(connection, request.host)
    return pb.BanReply(doubted=bans.ban(connection, banned, request.reason, actor=actor))


def _unban_host(connection: Connection, request: pb.UnbanHostRequest, actor: str) -> Any:
    banned = bans.host_to_ban(connection, request.host)
    return pb.UnbanReply(judged_again=bans.lift(connection, banned, request.reason, actor=actor))


def _ban_user(connection: Connection, request: pb.BanUserRequest, actor: str) -> Any:
    banned = bans.user_to_ban(connection, request.name)
    return pb.BanReply(doubted=bans.ban(connection, banned, request.reason, actor=actor))


def _unban_user(connection: Connection, request: pb.UnbanUserRequest, actor: str) -> Any:
    banned = bans.user_to_ban(connection, request.name)
    return pb.UnbanReply(judged_again=bans.lift(connection, banned, request.reason, actor=actor))


def _delete_user(connection: Connection, request: pb.DeleteUserRequest, actor: str) -> Any:
    user = accounts.user_id(connection, request.name)
    left = leaving.delete_account(connection, user, reason=request.reason, actor=actor)
    return pb.DeleteUserReply(name=left)


def _ask_again(connection: Connection, request: pb.AskAgainRequest, actor: str) -> Any:
    answers = administration.ask_again(connection, request.workunit, request.reason, actor=actor)
    return pb.AskAgainReply(answers=answers)


def _steering(state: CampaignState) -> Callable[[Connection, Any, str], Any]:
    def steer(connection: Connection, request: Any, actor: str) -> Any:
        administration.steer(connection, request.campaign, state, request.reason, actor=actor)
        return pb.SteerCampaignReply(campaign=request.campaign, state=state)

    return steer


_PERFORMED: dict[type[Message], Callable[[Connection, Any, str], Any]] = {
    pb.ListUsersRequest: _list_users,
    pb.ListHostsRequest: _list_hosts,
    pb.ShowHostRequest: _show_host,
    pb.ShowWorkunitRequest: _show_workunit,
    pb.ListCreditRequest: _list_credit,
    pb.ListCampaignsRequest: _list_campaigns,
    pb.ListAuditRequest: _list_audit,
    pb.ListAlarmsRequest: _list_alarms,
    pb.SettleAlarmRequest: _settle_alarm,
    pb.ShowQueueRequest: _show_queue,
    pb.ShowProjectRequest: _show_project,
    pb.SetProjectRequest: _set_project,
    pb.OpenAccountRequest: _open_account,
    pb.RenewTokenRequest: _renew_token,
    pb.RevokeTokensRequest: _revoke_tokens,
    pb.SetRoleRequest: _set_role,
    pb.DeleteUserRequest: _delete_user,
    pb.PreviewBanRequest: _preview_ban,
    pb.BanHostRequest: _ban_host,
    pb.UnbanHostRequest: _unban_host,
    pb.BanUserRequest: _ban_user,
    pb.UnbanUserRequest: _unban_user,
    pb.AskAgainRequest: _ask_again,
    pb.PauseCampaignRequest: _steering(CampaignState.PAUSED),
    pb.ResumeCampaignRequest: _steering(CampaignState.RUNNING),
    pb.CancelCampaignRequest: _steering(CampaignState.CANCELLED),
}


def _role(name: str) -> Role:
    try:
        return Role(name)
    except ValueError:
        known = ", ".join(Role)
        raise AccountError(f"there is no role {name!r}; there are: {known}") from None
