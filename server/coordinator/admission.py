"""Admission: every call passes it, and nothing else decides who may call what.

In this order: the account behind the token, its role against the roles that the `.proto`
names for the RPC, how often it calls; only then is the request read, charged by its size, parsed
and its limits checked. Whatever goes wrong behind it leaves it as a proper gRPC status; whoever
calls too often gets it late.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any

import grpc

from zermelo.proto import limits, service
from zermelo.server.coordinator.account_store import AccountStore
from zermelo.server.coordinator.holding import Holding
from zermelo.server.coordinator.known_accounts import KnownAccounts
from zermelo.server.coordinator.metrics import CoordinatorMetrics
from zermelo.server.coordinator.rates import Rate, RateLimiter
from zermelo.server.coordinator.reading import Callers, RequestReader
from zermelo.server.coordinator.refusals import (
    RefusalError,
    banned,
    refusal_of,
    status_of,
    too_fast,
)
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.coordinator.standard import StandardServices
from zermelo.server.http2.calls import Call, Serve, StatusError
from zermelo.server.trust.accounts import Account, Role, digest_of

log = logging.getLogger(__name__)

LONGEST_TOKEN = 200
ANYONE = "anyone"

#: Calls of one account, and calls without a good token from one address.
ACCOUNT_RATE = Rate(per_second=200, burst=1000)
#: What somebody is in debt at most who does what no client of ours does: a minute's calls.
MOST_FINE = 60 * ACCOUNT_RATE.per_second
STRANGER_RATE = Rate(per_second=2, burst=20)
#: A request counts as another call for each of these.
BYTES_A_CALL = 4096

#: The account behind the call that is being served.
ACCOUNT: ContextVar[Account] = ContextVar("account")


class Admission:
    def __init__(
        self, store: AccountStore, settings: CoordinatorSettings, metrics: CoordinatorMetrics,
        holding: Holding,
    ) -> None:  # fmt: skip
        self._store, self._settings, self._metrics = store, settings, metrics
        self._roles = service.roles_by_path()
        self._known = KnownAccounts(store)
        self._accounts = RateLimiter(ACCOUNT_RATE)
        self._strangers = RateLimiter(STRANGER_RATE)
        self._holding = holding
        self._reader = RequestReader()
        self._callers = Callers(settings.balancers)
        self._standard = StandardServices(self._reader, self._callers)

    def tasks(self) -> list[Coroutine[Any, Any, None]]:
        """What must run as long as this is used."""
        return self._known.tasks()

    def forget(self) -> None:
        """Somebody changed an account: ask the database about everybody again."""
        self._known.forget()

    def charge(self, calls: int, debt: float | None = None) -> None:
        """Count the call that is being served as `calls` more of its account."""
        account = ACCOUNT.get(None)
        if account is not None and self._settings.require_token:
            self._accounts.charge(account.user, calls, debt)

    def fine(self, calls: int) -> None:
        """The same for what no client of ours does: its account may wait for a minute."""
        self.charge(calls, MOST_FINE)

    def guard(self, method: str, handler: Any) -> Serve:
        """What serves only those who may call this, from gRPC's handler of a method."""
        if method.startswith("/zermelo."):
            return self._guard(handler, method)
        return self._standard.guard(handler)

    def _guard(self, handler: Any, method: str) -> Serve:
        allowed = self._roles.get(method, frozenset())
        name = method.rpartition("/")[2]
        own = method.startswith(f"/{service.VOLUNTEERS.full_name}/")

        async def guarded(call: Call) -> bytes:
            started = time.perf_counter()
            try:
                await self._admit(allowed, call)
                request = await self._read(handler.request_deserializer, call)
                reply: bytes = handler.response_serializer(
                    await handler.stream_unary(request, call)
                )
                if own:
                    # The caller's next call may be here before the database's word of the change.
                    self._known.forget_one(_digest(call.headers.get(service.AUTHORIZATION, "")))
            except StatusError:
                self._metrics.refused(name, service.BROKEN_LIMIT)
                raise
            except Exception as error:
                raise await self._refuse(error, name, call) from None
            except asyncio.CancelledError:
                self._metrics.refused(name, "hung-up")
                raise
            self._metrics.served(name, time.perf_counter() - started)
            return reply

        return guarded

    async def _refuse(self, error: Exception, name: str, call: Call) -> StatusError:
        """The status for a call that failed so, late for somebody who calls too often.

        A function of its own: a variable for the error beside the call that raised it would be
        a circle, with all that the caller has sent, and stay until garbage is looked for.
        """
        refusal = refusal_of(error)
        if refusal is None:
            log.error("%s failed", name, exc_info=error)
            refusal = RefusalError(
                grpc.StatusCode.INTERNAL, service.INTERNAL, "an error of the coordinator"
            )
        self._metrics.refused(name, refusal.reason)
        if refusal.reason == service.TOO_FAST:
            refusal = await self._hold(refusal, call)
        return status_of(refusal)

    async def _hold(self, refusal: RefusalError, call: Call) -> RefusalError:
        """The refusal of somebody who calls too often, when a part of its pause has passed."""
        account = ACCOUNT.get(None)
        who = account.user if account else self._callers.address_of(call)
        held = await self._holding.hold(who, refusal.retry_after_ms / 1000)
        return refusal.after(held)

    async def _read(self, parse: Callable[[bytes], Any], call: Call) -> Any:
        """The request of a caller who was let in."""
        account = ACCOUNT.get(None)
        user = account.user if account else None
        data = await self._reader.read(call, (user, self._callers.address_of(call)))
        self.charge(len(data) // BYTES_A_CALL)
        request = parse(data)
        limits.check(request)
        return request

    # -- who calls ----------------------------------------------------------------------

    async def _admit(self, allowed: frozenset[str], call: Call) -> None:
        """Let the caller in, or raise why not."""
        if ANYONE in allowed:
            self._slow_down_stranger(call)
            return
        account = await self._account(call)
        if account.banned:
            raise RefusalError(
                grpc.StatusCode.PERMISSION_DENIED, service.BANNED,
                banned("account", account.ban_reason),
            )  # fmt: skip
        if account.role not in allowed:
            raise RefusalError(
                grpc.StatusCode.PERMISSION_DENIED, service.NOT_YOUR_ROLE,
                f"this is not for the role {account.role}",
            )  # fmt: skip
        if account.role is Role.OPERATOR and self._settings.client_ca:
            _check_certificate(call, account.name)
        ACCOUNT.set(account)
        if self._settings.require_token:
            wait = self._accounts.wait_needed(account.user)
            if wait:
                raise too_fast(wait)

    async def _account(self, call: Call) -> Account:
        given = call.headers.get(service.AUTHORIZATION)
        if given is None:
            if not self._settings.require_token:
                return await self._store.shared_account()
            self._slow_down_stranger(call)
            raise RefusalError(
                grpc.StatusCode.UNAUTHENTICATED, service.TOKEN_NEEDED,
                "an account is needed; register and send its token",
            )  # fmt: skip
        account = await self._known.find(_digest(given))
        if account is None:
            self._slow_down_stranger(call)
            raise RefusalError(
                grpc.StatusCode.UNAUTHENTICATED, service.BAD_TOKEN,
                "this token is unknown or was revoked; register again or ask the operators",
            )  # fmt: skip
        return account

    def _slow_down_stranger(self, call: Call) -> None:
        wait = self._strangers.wait_needed(self._callers.address_of(call))
        if wait:
            raise too_fast(wait)


def _digest(authorization: str) -> bytes:
    """Of the token that a caller sends."""
    bearer = authorization.startswith(service.BEARER)
    token = authorization[len(service.BEARER):] if bearer else ""
    return digest_of(token[:LONGEST_TOKEN])


def _check_certificate(call: Call, name: str) -> None:
    """A refusal unless our authority signed a certificate for the account of this name."""
    names = call.common_names
    if not names:
        message = "operators call here with a certificate of their own, at the operators' address"
    elif list(names) != [name]:
        message = "this certificate is another operator's; it must have the name of the account"
    else:
        return
    raise RefusalError(
        grpc.StatusCode.PERMISSION_DENIED, service.CERTIFICATE_NEEDED, message
    )
