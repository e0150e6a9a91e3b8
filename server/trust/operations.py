"""Operators' requests, whichever way they come: one code behind two doors.

`zermelo admin` asks for something with a message of proto/operations.proto. With a
database at hand it is performed here directly; with `--server` it travels to a
coordinator, whose Operations service performs it here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from google.protobuf.message import Message

from zermelo.proto import limits
from zermelo.proto import operations_pb2 as pb
from zermelo.server.campaigns import list_campaigns
from zermelo.server.database import Connection, in_transaction
from zermelo.server.trust import accounts, administration
from zermelo.server.trust.accounts import AccountError, Role
from zermelo.server.trust.administration import AdministrationError
from zermelo.server.trust.audit import actions
from zermelo.server.vocabulary import CampaignState

M = TypeVar("M", bound=Message)

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
    return pb.ListUsersReply(users=_messages(pb.User, found))


def _list_hosts(connection: Connection, request: pb.ListHostsRequest, _: str) -> Any:
    found = administration.rows(connection, "list_hosts", host=None, most=request.most)
    return pb.ListHostsReply(hosts=_messages(pb.Host, found))


def _show_host(connection: Connection, request: pb.ShowHostRequest, _: str) -> Any:
    host = administration.find_host(connection, request.host)
    results = administration.rows(
        connection, "host_results", host=request.host, most=request.most
    )
    return pb.ShowHostReply(
        host=_message(pb.Host, host), results=_messages(pb.HostResult, results)
    )


def _show_workunit(connection: Connection, request: pb.ShowWorkunitRequest, _: str) -> Any:
    workunit = administration.find_workunit(connection, request.workunit)
    history = administration.rows(connection, "workunit_history", workunit=request.workunit)
    return pb.ShowWorkunitReply(
        workunit=_message(pb.AskedWorkunit, workunit), history=_messages(pb.Asked, history)
    )


def _list_credit(connection: Connection, request: pb.ListCreditRequest, _: str) -> Any:
    if request.by not in SUMS:
        raise AdministrationError(
            f"credit is not summed by {request.by!r}; there are: {', '.join(SUMS)}"
        )
    found = administration.rows(connection, "list_credit", by=request.by, most=request.most)
    return pb.ListCreditReply(credit=_messages(pb.CreditSum, found))


def _list_campaigns(connection: Connection, request: pb.ListCampaignsRequest, _: str) -> Any:
    return pb.ListCampaignsReply(
        campaigns=[
            _message(pb.Campaign, {
                "id": found.id, "name": found.name, "game": found.spec, "goal": str(found.goal),
                "state": found.state, "replication": found.replication,
                "created_at": found.created_at, "finished_at": found.finished_at,
            })
            for found in list_campaigns(connection)
        ]
    )  # fmt: skip


def _list_audit(connection: Connection, request: pb.ListAuditRequest, _: str) -> Any:
    found = actions(connection, request.subject or None, request.most)
    return pb.ListAuditReply(audit=_messages(pb.Action, (line._asdict() for line in found)))


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


def _ban_host(connection: Connection, request: pb.BanHostRequest, actor: str) -> Any:
    doubted = administration.ban_host(connection, request.host, request.reason, actor=actor)
    return pb.BanReply(doubted=doubted)


def _unban_host(connection: Connection, request: pb.UnbanHostRequest, actor: str) -> Any:
    administration.unban_host(connection, request.host, request.reason, actor=actor)
    return pb.UnbanReply()


def _ban_user(connection: Connection, request: pb.BanUserRequest, actor: str) -> Any:
    doubted = administration.ban_user(connection, request.name, request.reason, actor=actor)
    return pb.BanReply(doubted=doubted)


def _unban_user(connection: Connection, request: pb.UnbanUserRequest, actor: str) -> Any:
    administration.unban_user(connection, request.name, request.reason, actor=actor)
    return pb.UnbanReply()


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
    pb.OpenAccountRequest: _open_account,
    pb.RenewTokenRequest: _renew_token,
    pb.RevokeTokensRequest: _revoke_tokens,
    pb.SetRoleRequest: _set_role,
    pb.BanHostRequest: _ban_host,
    pb.UnbanHostRequest: _unban_host,
    pb.BanUserRequest: _ban_user,
    pb.UnbanUserRequest: _unban_user,
    pb.AskAgainRequest: _ask_again,
    pb.PauseCampaignRequest: _steering(CampaignState.PAUSED),
    pb.ResumeCampaignRequest: _steering(CampaignState.RUNNING),
    pb.CancelCampaignRequest: _steering(CampaignState.CANCELLED),
}


def _message(kind: type[M], row: dict[str, Any]) -> M:
    """A row as a message with the same names; what is NULL stays unset."""
    return kind(**{name: value for name, value in row.items() if value is not None})


def _messages(kind: type[M], rows: Iterable[dict[str, Any]]) -> list[M]:
    return [_message(kind, row) for row in rows]


def _role(name: str) -> Role:
    try:
        return Role(name)
    except ValueError:
        known = ", ".join(Role)
        raise AccountError(f"there is no role {name!r}; there are: {known}") from None
