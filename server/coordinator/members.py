"""The RPCs about accounts: opening one, and what it has contributed."""

from __future__ import annotations

import grpc

from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service
from zermelo.server.coordinator.account_store import (
    AccountStore,
    HostStore,
    RegistrationClosedError,
)
from zermelo.server.coordinator.admission import ACCOUNT
from zermelo.server.coordinator.hosts import host_key_digest
from zermelo.server.coordinator.refusals import RefusalError
from zermelo.server.trust import accounts


class Members:
    def __init__(self, accounts: AccountStore, hosts: HostStore) -> None:
        self._accounts, self._hosts = accounts, hosts

    async def register(self, request: pb.RegisterRequest) -> pb.RegisterReply:
        try:
            name = accounts.checked_own_name(request.user_name) if request.user_name else ""
            team = accounts.checked_own_name(request.team, "team") if request.team else ""
            secret = accounts.checked_secret(request.secret or accounts.new_secret())
            name = name or accounts.anonymous_name(secret)
            token = accounts.token_of(secret)
            opened = await self._accounts.open_account(name, team, accounts.digest_of(token))
        except accounts.AccountError as error:
            raise RefusalError(
                grpc.StatusCode.INVALID_ARGUMENT, service.BROKEN_LIMIT, str(error)
            ) from error
        except RegistrationClosedError as error:
            raise RefusalError(
                grpc.StatusCode.PERMISSION_DENIED, service.REGISTRATION_CLOSED,
                "registration is closed here; ask the operators for an account",
            ) from error  # fmt: skip
        if not opened:
            raise RefusalError(
                grpc.StatusCode.ALREADY_EXISTS, service.NAME_TAKEN,
                f"there is a user {name!r} already, or a name that looks the same; choose another",
            )  # fmt: skip
        return pb.RegisterReply(token=token, user_name=name)

    async def standing(self, request: pb.StandingRequest) -> pb.StandingReply:
        host = None
        if request.host_key:
            (found,) = await self._hosts.find_hosts([host_key_digest(request.host_key)])
            host = found.id if found else None
        return await self._accounts.standing(ACCOUNT.get().user, host)
