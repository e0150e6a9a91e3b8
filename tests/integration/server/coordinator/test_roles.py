"""Every RPC of every service against every role, over real gRPC.

The table below says for each RPC who may call it and with what to try. It is compared with
the descriptors, so that an RPC that is missing here, or open to others, fails the test.
"""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from tests.support.coordinator import bearer, refusal
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import operations_pb2 as op
from zermelo.proto import research_pb2 as ask
from zermelo.proto import service
from zermelo.proto import volunteers_pb2 as own
from zermelo.server.coordinator import admission
from zermelo.server.database import Connection
from zermelo.server.trust import accounts
from zermelo.server.trust.accounts import Role

KEY = b"k" * 16  # of a host that never said Hello
VOLUNTEER, OPERATOR, EVERY_ROLE = {Role.VOLUNTEER}, {Role.OPERATOR}, set(Role)
RESEARCH = {Role.RESEARCHER, Role.OPERATOR}
ANYONE: set[Role] = set()
CAMPAIGN = "reversi:4x4"

#: RPC: who may call it, a request with which to try, and why that is refused behind the
#: admission; None when there is a reply.
TABLE: dict[str, tuple[set[Role], Any, str | None]] = {
    "Coordinator/Register": (ANYONE, pb.RegisterRequest(), None),
    "Coordinator/Standing": (EVERY_ROLE, pb.StandingRequest(), None),
    "Coordinator/Hello": (
        VOLUNTEER, pb.HelloRequest(protocol_version=1, host_key=b"h" * 16, workers=1), None,
    ),
    "Coordinator/RequestWork": (
        VOLUNTEER, pb.RequestWorkRequest(host_key=KEY, wanted=1), service.UNKNOWN_HOST,
    ),
    "Coordinator/SubmitResults": (
        VOLUNTEER,
        pb.SubmitResultsRequest(host_key=KEY, results=[pb.Result(lease_id=1, answer=pb.YES)]),
        service.UNKNOWN_HOST,
    ),
    "Coordinator/Heartbeat": (
        VOLUNTEER, pb.HeartbeatRequest(host_key=KEY), service.UNKNOWN_HOST,
    ),
    "Coordinator/Definition": (EVERY_ROLE, pb.DefinitionRequest(digest=b"d" * 16), None),
    "Coordinator/ReturnWork": (
        VOLUNTEER, pb.ReturnWorkRequest(host_key=KEY), service.UNKNOWN_HOST,
    ),
    "Operations/ListUsers": (OPERATOR, op.ListUsersRequest(most=5), None),
    "Operations/ListHosts": (OPERATOR, op.ListHostsRequest(most=5), None),
    "Operations/ShowHost": (OPERATOR, op.ShowHostRequest(host=99, most=5), service.IMPOSSIBLE),
    "Operations/ShowWorkunit": (OPERATOR, op.ShowWorkunitRequest(workunit=9), service.IMPOSSIBLE),
    "Operations/ListCredit": (OPERATOR, op.ListCreditRequest(by="team", most=5), None),
    "Operations/ListCampaigns": (OPERATOR, op.ListCampaignsRequest(), None),
    "Operations/ListAudit": (OPERATOR, op.ListAuditRequest(most=5), None),
    "Operations/OpenAccount": (
        OPERATOR, op.OpenAccountRequest(name="new", role="volunteer"), None,
    ),
    "Operations/RenewToken": (OPERATOR, op.RenewTokenRequest(name="nobody"), service.IMPOSSIBLE),
    "Operations/RevokeTokens": (
        OPERATOR, op.RevokeTokensRequest(name="nobody"), service.IMPOSSIBLE,
    ),
    "Operations/SetRole": (
        OPERATOR, op.SetRoleRequest(name="nobody", role="operator"), service.IMPOSSIBLE,
    ),
    "Operations/BanHost": (OPERATOR, op.BanHostRequest(host=99), service.IMPOSSIBLE),
    "Operations/UnbanHost": (OPERATOR, op.UnbanHostRequest(host=99), service.IMPOSSIBLE),
    "Operations/BanUser": (OPERATOR, op.BanUserRequest(name="nobody"), service.IMPOSSIBLE),
    "Operations/UnbanUser": (OPERATOR, op.UnbanUserRequest(name="nobody"), service.IMPOSSIBLE),
    "Operations/AskAgain": (OPERATOR, op.AskAgainRequest(workunit=99), service.IMPOSSIBLE),
    "Operations/PauseCampaign": (
        OPERATOR, op.PauseCampaignRequest(campaign=CAMPAIGN), None,
    ),
    "Operations/ResumeCampaign": (
        OPERATOR, op.ResumeCampaignRequest(campaign="chess"), service.IMPOSSIBLE,
    ),
    "Operations/CancelCampaign": (
        OPERATOR, op.CancelCampaignRequest(campaign=CAMPAIGN), None,
    ),
    "Operations/PreviewBan": (OPERATOR, op.PreviewBanRequest(host=99), service.IMPOSSIBLE),
    "Operations/ListAlarms": (OPERATOR, op.ListAlarmsRequest(most=5), None),
    "Operations/SettleAlarm": (
        OPERATOR, op.SettleAlarmRequest(alarm=99, reason="seen"), service.IMPOSSIBLE,
    ),
    "Operations/ShowQueue": (OPERATOR, op.ShowQueueRequest(), None),
    "Operations/ShowProject": (OPERATOR, op.ShowProjectRequest(), None),
    "Operations/SetProject": (OPERATOR, op.SetProjectRequest(notice=""), None),
    "Operations/DeleteUser": (OPERATOR, op.DeleteUserRequest(name="nobody"), service.IMPOSSIBLE),
    "Volunteers/ShowAccount": (EVERY_ROLE, own.ShowAccountRequest(), None),
    "Volunteers/SetConsents": (EVERY_ROLE, own.SetConsentsRequest(), None),
    "Volunteers/ListMyHosts": (EVERY_ROLE, own.ListMyHostsRequest(most=5), None),
    "Volunteers/ListMyResults": (
        EVERY_ROLE, own.ListMyResultsRequest(tab="valid", most=5), None,
    ),
    "Volunteers/ListTeams": (EVERY_ROLE, own.ListTeamsRequest(most=5), None),
    "Volunteers/FoundTeam": (EVERY_ROLE, own.FoundTeamRequest(name="crew"), None),
    "Volunteers/JoinTeam": (EVERY_ROLE, own.JoinTeamRequest(name="none"), service.IMPOSSIBLE),
    "Volunteers/DescribeTeam": (EVERY_ROLE, own.DescribeTeamRequest(description="us"), None),
    "Volunteers/LeaveTeam": (EVERY_ROLE, own.LeaveTeamRequest(), None),
    "Volunteers/OpenSignIn": (EVERY_ROLE, own.OpenSignInRequest(), None),
    "Volunteers/SignIn": (ANYONE, own.SignInRequest(code="none"), service.IMPOSSIBLE),
    "Volunteers/SignOut": (EVERY_ROLE, own.SignOutRequest(token="none"), None),  # noqa: S106
    "Volunteers/NewRecoveryCode": (EVERY_ROLE, own.NewRecoveryCodeRequest(), None),
    "Volunteers/Recover": (
        ANYONE, own.RecoverRequest(name="somebody", code="none"), service.IMPOSSIBLE,
    ),
    "Volunteers/DeleteAccount": (
        EVERY_ROLE, own.DeleteAccountRequest(name="another"), service.IMPOSSIBLE,
    ),
    "Research/AskTeams": (RESEARCH, ask.AskTeamsRequest(most=5), None),
    "Research/AskVolunteers": (RESEARCH, ask.AskVolunteersRequest(most=5), None),
    "Research/AskCampaigns": (RESEARCH, ask.AskCampaignsRequest(), None),
    "Research/AskClaims": (
        RESEARCH, ask.AskClaimsRequest(name="none", most=5), service.IMPOSSIBLE,
    ),
    "Research/AskClaimTotals": (
        RESEARCH, ask.AskClaimTotalsRequest(name="none"), service.IMPOSSIBLE,
    ),
    "Research/AskStandings": (RESEARCH, ask.AskStandingsRequest(most=5), None),
    "Research/AskWorkunits": (RESEARCH, ask.AskWorkunitsRequest(campaign=CAMPAIGN, most=5), None),
    "Research/AskSubject": (RESEARCH, ask.AskSubjectRequest(campaign=CAMPAIGN), None),
    "Research/AskStanding": (RESEARCH, ask.AskStandingRequest(campaign=CAMPAIGN), None),
    "Research/AskProgress": (RESEARCH, ask.AskProgressRequest(campaign=CAMPAIGN, most=5), None),
    "Research/AskOpenQuestions": (
        RESEARCH, ask.AskOpenQuestionsRequest(campaign=CAMPAIGN), None,
    ),
    "Research/AskPosition": (RESEARCH, ask.AskPositionRequest(campaign=CAMPAIGN), None),
    "Research/AskLine": (RESEARCH, ask.AskLineRequest(campaign="chess"), service.IMPOSSIBLE),
    "Research/AskLevels": (RESEARCH, ask.AskLevelsRequest(campaign=CAMPAIGN), None),
    "Research/AskContributors": (
        RESEARCH, ask.AskContributorsRequest(campaign=CAMPAIGN, most=5), None,
    ),
    "Research/AskHosts": (RESEARCH, ask.AskHostsRequest(campaign=CAMPAIGN, most=5), None),
    "Research/AskWorkunit": (
        RESEARCH, ask.AskWorkunitRequest(campaign=CAMPAIGN, number=99), service.IMPOSSIBLE,
    ),
    "Research/AskResults": (RESEARCH, ask.AskResultsRequest(campaign=CAMPAIGN, most=5), None),
    # The last one, because the token that it is called with is worthless afterwards.
    "Volunteers/RenewMyToken": (EVERY_ROLE, own.RenewMyTokenRequest(), None),
}  # fmt: skip


def path(rpc: str) -> str:
    return f"/zermelo.v1.{rpc}"


def call_of(channel: Any, rpc: str) -> Any:
    name, _, method = rpc.partition("/")
    (served,) = (served for served in service.SERVICES if served.name == name)
    return getattr(service.Stub(channel, served), method)


def test_the_table_is_that_of_the_protocol() -> None:
    named = {path(rpc): {str(role) for role in roles} or {admission.ANYONE}
             for rpc, (roles, _, _) in TABLE.items()}
    assert named == {path: set(roles) for path, roles in service.roles_by_path().items()}
    for rpc, (_, request, _) in TABLE.items():
        name, _, method = rpc.partition("/")
        (served,) = (served for served in service.SERVICES if served.name == name)
        assert served.methods_by_name[method].input_type is request.DESCRIPTOR


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strangers may try as often as the table is long."""
    monkeypatch.setattr(admission, "STRANGER_RATE", admission.Rate(per_second=1000, burst=1000))


@pytest.mark.parametrize("role", list(Role))
def test_every_rpc_is_for_its_roles_alone(
    patient: None, guarded: str, connection: Connection, role: Role
) -> None:
    token = accounts.open_account(connection, "somebody", role, actor="test")
    with grpc.insecure_channel(guarded) as channel:
        for rpc, (roles, request, reason) in TABLE.items():
            call = call_of(channel, rpc)
            if roles and role not in roles:
                assert refusal(call, request, metadata=bearer(token)) == (
                    grpc.StatusCode.PERMISSION_DENIED, service.NOT_YOUR_ROLE,
                ), rpc  # fmt: skip
            elif reason is None:
                assert call(request, metadata=bearer(token), timeout=60) is not None, rpc
            else:
                assert refusal(call, request, metadata=bearer(token))[1] == reason, rpc


def test_nothing_but_registering_works_without_a_good_token(
    patient: None, guarded: str, connection: Connection
) -> None:
    revoked = accounts.open_account(connection, "was", Role.OPERATOR, actor="test")
    accounts.revoke_tokens(connection, "was", actor="test")
    bad = ("Bearer nonsense", "Basic YWRh", "", "Bearer " + "x" * 5000, f"Bearer {revoked}")
    with grpc.insecure_channel(guarded) as channel:
        for rpc, (roles, request, reason) in TABLE.items():
            call = call_of(channel, rpc)
            if not roles:
                if reason is None:
                    assert call(request, timeout=60) is not None
                else:
                    assert refusal(call, request)[1] == reason, rpc
                continue
            assert refusal(call, request) == (
                grpc.StatusCode.UNAUTHENTICATED, service.TOKEN_NEEDED,
            ), rpc  # fmt: skip
            for given in bad:
                assert refusal(call, request, metadata=((service.AUTHORIZATION, given),)) == (
                    grpc.StatusCode.UNAUTHENTICATED, service.BAD_TOKEN,
                ), (rpc, given)  # fmt: skip


def test_a_banned_operator_is_nobody(patient: None, guarded: str, connection: Connection) -> None:
    token = accounts.open_account(connection, "otto", Role.OPERATOR, actor="test")
    connection.execute("UPDATE users SET banned_at = now() WHERE name = 'otto'")
    with grpc.insecure_channel(guarded) as channel:
        for rpc, (roles, request, _) in TABLE.items():
            if roles:
                assert refusal(call_of(channel, rpc), request, metadata=bearer(token)) == (
                    grpc.StatusCode.PERMISSION_DENIED, service.BANNED,
                ), rpc  # fmt: skip


def test_open_access_gives_nobody_an_operators_rights(coordinator: str) -> None:
    with grpc.insecure_channel(coordinator) as channel:
        for rpc, (roles, request, _) in TABLE.items():
            if roles and Role.VOLUNTEER not in roles:
                assert refusal(call_of(channel, rpc), request)[1] == service.NOT_YOUR_ROLE
