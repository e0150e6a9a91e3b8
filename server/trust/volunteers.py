"""Volunteers' requests about their own account: what the service Volunteers does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.protobuf.message import Message

from zermelo.proto import volunteers_pb2 as pb
from zermelo.server.database import Connection, in_transaction
from zermelo.server.trust import accounts, leaving, records, sign_in, teams
from zermelo.server.trust.accounts import Account, AccountError
from zermelo.server.trust.administration import rows
from zermelo.server.trust.messages import message, messages
from zermelo.server.trust.project import show_project
from zermelo.server.trust.shortage import (
    OVERDUE_SECONDS,
    OVERDUE_TARGETS,
    OVERDUE_WEIGHT,
    Shortage,
)
from zermelo.sql import query

#: The tabs in which volunteers find their work: the states of the results in each. Leases without
#: a result are in the two without states.
TABS: dict[str, tuple[str, ...]] = {
    "in-progress": (),
    "pending": ("pending",),
    "inconclusive": ("unconfirmed",),
    "valid": ("valid", "assimilated"),
    "invalid": ("invalid", "quarantined", "doubted", "retracted"),
    "error": (),
}


def perform(connection: Connection, request: Any, account: Account | None) -> Any:
    """The reply to a volunteer's request; a `ZermeloError` says why there is none.

    Only for the two RPCs that give somebody a token is there no account.
    """
    return in_transaction(
        connection, lambda: _PERFORMED[type(request)](connection, request, account)
    )


# -- the account --------------------------------------------------------------------------


def _show_account(connection: Connection, _: pb.ShowAccountRequest, account: Account) -> Any:
    (found,) = rows(connection, "my_account", user=account.user)
    reply = message(pb.ShowAccountReply, found)
    reply.tokens.extend(messages(pb.MyToken, rows(connection, "my_tokens", user=account.user)))
    return reply


def _set_consents(
    connection: Connection, request: pb.SetConsentsRequest, account: Account
) -> Any:
    given = {
        name: getattr(request, name) if request.HasField(name) else None
        for name in ("show_hosts", "export_statistics")
    }
    (found,) = rows(connection, "set_consents", user=account.user, **given)
    return message(pb.SetConsentsReply, found)


def _delete_account(
    connection: Connection, request: pb.DeleteAccountRequest, account: Account
) -> Any:
    if request.name != account.name:
        raise AccountError(f"to delete the account {account.name!r}, repeat its name")
    if account.name == accounts.ANONYMOUS:
        raise AccountError("all callers share this account; nobody can delete it")
    name = leaving.delete_account(connection, account.user, actor="its owner")
    return pb.DeleteAccountReply(name=name)


# -- hosts and results ----------------------------------------------------------------------


def _list_my_hosts(
    connection: Connection, request: pb.ListMyHostsRequest, account: Account
) -> Any:
    found = rows(
        connection, "my_hosts", user=account.user, host=request.host or None, most=request.most
    )
    if request.host and not found:
        raise AccountError(f"you have no host {request.host}; `zermelo client hosts` lists yours")
    shortage = _shortage(connection, account)
    reply = pb.ListMyHostsReply()
    for row in found:
        reason = row.pop("ban_reason")
        row["trusted"] = row["streak"] >= records.TRUSTED_AFTER
        row["no_work"] = _why_no_work(row, shortage, reason)
        reply.hosts.append(message(pb.MyHost, row))
    return reply


def _shortage(connection: Connection, account: Account) -> Shortage | None:
    """Why none of the account's hosts would get work now; None if one would."""
    running, paused, others = connection.execute(query("no_work_reason")).fetchone() or (0, 0, 0)
    if not running:
        return Shortage.PAUSED if paused else Shortage.NO_CAMPAIGN
    users = connection.execute(
        query("free_of_users"),
        {
            "users": [account.user], "seconds": OVERDUE_SECONDS, "targets": OVERDUE_TARGETS,
            "overdue_weight": OVERDUE_WEIGHT,
        },
    )  # fmt: skip
    if not any(free for _, free in users):
        return Shortage.USER_QUOTA
    ready = connection.execute(query("work_is_ready")).fetchone()
    if ready and ready[0]:
        return None
    return Shortage.OTHERS_ASKED if others else Shortage.ALL_LEASED


def _why_no_work(host: dict[str, Any], shortage: Shortage | None, reason: str | None) -> str:
    """Why a host would get no work if it asked now; empty if it has some or would get some."""
    if host["banned_at"] is not None:
        return f"this host is banned: {reason or 'the operators gave no reason'}"
    if shortage in (Shortage.PAUSED, Shortage.NO_CAMPAIGN):
        return str(shortage.value)
    if host["rests_until"] is not None:
        return f"it gave a bad answer, and gets work again at {host['rests_until']:%F %R} UTC"
    return "" if host["in_progress"] or shortage is None else str(shortage.value)


def _list_my_results(
    connection: Connection, request: pb.ListMyResultsRequest, account: Account
) -> Any:
    if request.tab not in TABS:
        raise AccountError(f"there is no tab {request.tab!r}; there are: {', '.join(TABS)}")
    wanted = {
        "user": account.user, "host": request.host or None, "most": request.most,
        "before": request.before,
    }  # fmt: skip
    states = TABS[request.tab]
    reply = pb.ListMyResultsReply()
    if states:
        for row in rows(connection, "my_results", states=list(states), **wanted):
            row["at"] = row.pop("received_at")
            reply.results.append(message(pb.MyResult, row))
        return reply
    for row in rows(connection, "my_leases", open=request.tab == "in-progress", **wanted):
        reply.results.append(pb.MyResult(
            lease=row["lease"], host=row["host"], campaign=row["campaign"],
            threshold=row["threshold"], state=row["state"], nodes=row["nodes"],
            at=row["leased_at"],
        ))  # fmt: skip
    return reply


# -- teams ----------------------------------------------------------------------------------


def _list_teams(connection: Connection, request: pb.ListTeamsRequest, _: Account) -> Any:
    found = rows(connection, "list_teams", name=request.name or None, most=request.most)
    return pb.ListTeamsReply(teams=messages(pb.Team, found))


def _found_team(connection: Connection, request: pb.FoundTeamRequest, account: Account) -> Any:
    name = teams.found_team(connection, account.user, request.name, request.description)
    return pb.TeamReply(name=name)


def _join_team(connection: Connection, request: pb.JoinTeamRequest, account: Account) -> Any:
    return pb.TeamReply(name=teams.join_team(connection, account.user, request.name))


def _leave_team(connection: Connection, _: pb.LeaveTeamRequest, account: Account) -> Any:
    name = teams.leave_team(connection, account.user)
    if not name:
        raise AccountError("you are in no team")
    return pb.TeamReply(name=name)


def _describe_team(
    connection: Connection, request: pb.DescribeTeamRequest, account: Account
) -> Any:
    name = teams.describe_team(connection, account.user, request.description)
    return pb.TeamReply(name=name)


# -- tokens ---------------------------------------------------------------------------------


def _open_sign_in(connection: Connection, _: pb.OpenSignInRequest, account: Account) -> Any:
    return pb.OpenSignInReply(
        code=sign_in.open_sign_in(connection, account.user), seconds=sign_in.LINK_SECONDS,
        web_url=show_project(connection).web_url,
    )  # fmt: skip


def _sign_in(connection: Connection, request: pb.SignInRequest, _: Account | None) -> Any:
    session = sign_in.sign_in(connection, request.code)
    return pb.SignInReply(**session._asdict(), seconds=sign_in.SESSION_SECONDS)


def _sign_out(connection: Connection, request: pb.SignOutRequest, account: Account) -> Any:
    return pb.SignOutReply(ended=sign_in.sign_out(connection, account.user, request.token))


def _renew_my_token(connection: Connection, _: pb.RenewMyTokenRequest, account: Account) -> Any:
    token = accounts.renew_token(connection, account.name, actor=account.name)
    return pb.NewTokenReply(name=account.name, token=token)


def _new_recovery_code(
    connection: Connection, _: pb.NewRecoveryCodeRequest, account: Account
) -> Any:
    code = sign_in.new_recovery_code(connection, account.user, account.name)
    return pb.NewRecoveryCodeReply(name=account.name, code=code)


def _recover(connection: Connection, request: pb.RecoverRequest, _: Account | None) -> Any:
    token = sign_in.recover(
        connection, request.name, request.code, revoke_others=request.revoke_others
    )
    return pb.NewTokenReply(name=request.name, token=token)


_PERFORMED: dict[type[Message], Callable[[Connection, Any, Any], Any]] = {
    pb.ShowAccountRequest: _show_account,
    pb.SetConsentsRequest: _set_consents,
    pb.DeleteAccountRequest: _delete_account,
    pb.ListMyHostsRequest: _list_my_hosts,
    pb.ListMyResultsRequest: _list_my_results,
    pb.ListTeamsRequest: _list_teams,
    pb.FoundTeamRequest: _found_team,
    pb.JoinTeamRequest: _join_team,
    pb.LeaveTeamRequest: _leave_team,
    pb.DescribeTeamRequest: _describe_team,
    pb.OpenSignInRequest: _open_sign_in,
    pb.SignInRequest: _sign_in,
    pb.SignOutRequest: _sign_out,
    pb.RenewMyTokenRequest: _renew_my_token,
    pb.NewRecoveryCodeRequest: _new_recovery_code,
    pb.RecoverRequest: _recover,
}
