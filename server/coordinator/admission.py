"""Admission: every call passes it, and nothing else decides who may call what.

In this order: the account behind the token, its role against the roles that the `.proto`
names for the RPC, how often it calls, the limits of the message. Whatever goes wrong
behind it leaves it as a proper gRPC status.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from ipaddress import ip_network
from typing import Any, NamedTuple
from urllib.parse import unquote

import grpc

from zermelo.proto import limits, service
from zermelo.server.coordinator.account_store import AccountStore
from zermelo.server.coordinator.batcher import Batcher
from zermelo.server.coordinator.metrics import CoordinatorMetrics
from zermelo.server.coordinator.rates import Rate, RateLimiter
from zermelo.server.coordinator.refusals import RefusalError, refusal_of, refuse
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.trust.accounts import Account, Role, digest_of

log = logging.getLogger(__name__)

#: How long an account is believed without asking the database again.
REMEMBER_SECONDS = 10.0
MOST_REMEMBERED = 100_000
LONGEST_TOKEN = 200
ANYONE = "anyone"

#: Calls of one account, and calls without a good token from one address.
ACCOUNT_RATE = Rate(per_second=200, burst=1000)
STRANGER_RATE = Rate(per_second=2, burst=20)

#: The account behind the call that is being served.
ACCOUNT: ContextVar[Account] = ContextVar("account")

Behaviour = Callable[[Any, Any], Awaitable[Any]]


class _Remembered(NamedTuple):
    account: Account
    until: float


class Admission(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    def __init__(
        self, store: AccountStore, settings: CoordinatorSettings, metrics: CoordinatorMetrics
    ) -> None:
        self._store, self._settings, self._metrics = store, settings, metrics
        self._roles = service.roles_by_path()
        self._remembered: OrderedDict[bytes, _Remembered] = OrderedDict()
        self._changes = 0
        self.finding: Batcher[bytes, Account | None] = Batcher(store.find_accounts)
        self._accounts = RateLimiter(ACCOUNT_RATE)
        self._strangers = RateLimiter(STRANGER_RATE)

    def forget(self) -> None:
        """Somebody changed an account: ask the database about everybody again."""
        self._remembered.clear()
        self._changes += 1

    async def intercept_service(self, continuation: Any, details: Any) -> Any:
        handler = await continuation(details)
        allowed = self._roles.get(details.method)
        if handler is None or (allowed is None and not details.method.startswith("/zermelo.")):
            return handler  # unknown, or the standard services of health and reflection
        metadata = dict(details.invocation_metadata or ())
        name = details.method.rpartition("/")[2]

        async def guarded(request: Any, context: Any) -> Any:
            started = time.perf_counter()
            try:
                await self._admit(allowed or frozenset(), metadata, context)
                if request is None:
                    raise limits.LimitError("the request is no message of this protocol")
                limits.check(request)
                reply = await handler.unary_unary(request, context)
            except Exception as error:
                refusal = refusal_of(error)
                if refusal is None:
                    log.exception("%s failed", name)
                    refusal = RefusalError(
                        grpc.StatusCode.INTERNAL, service.INTERNAL, "an error of the coordinator"
                    )
                self._metrics.refused(name, refusal.reason)
                await refuse(context, refusal)
            except asyncio.CancelledError:
                self._metrics.refused(name, "hung-up")
                raise
            self._metrics.served(name, time.perf_counter() - started)
            return reply

        return grpc.unary_unary_rpc_method_handler(
            guarded,
            request_deserializer=handler.request_deserializer,
            response_serializer=handler.response_serializer,
        )

    # -- who calls ----------------------------------------------------------------------

    async def _admit(
        self, allowed: frozenset[str], metadata: dict[str, Any], context: Any
    ) -> None:
        """Let the caller in, or raise why not."""
        if ANYONE in allowed:
            self._slow_down_stranger(context)
            return
        account = await self._account(metadata, context)
        if account.banned:
            raise RefusalError(
                grpc.StatusCode.PERMISSION_DENIED, service.BANNED,
                "this account is banned; write to the operators",
            )  # fmt: skip
        if account.role not in allowed:
            raise RefusalError(
                grpc.StatusCode.PERMISSION_DENIED, service.NOT_YOUR_ROLE,
                f"this is not for the role {account.role}",
            )  # fmt: skip
        if account.role is Role.OPERATOR and self._settings.client_ca:
            _check_certificate(context, account.name)
        if self._settings.require_token:
            wait = self._accounts.wait_needed(account.user)
            if wait:
                raise _too_fast(wait)
        ACCOUNT.set(account)

    async def _account(self, metadata: dict[str, Any], context: Any) -> Account:
        given = metadata.get(service.AUTHORIZATION)
        if given is None:
            if not self._settings.require_token:
                return await self._store.shared_account()
            self._slow_down_stranger(context)
            raise RefusalError(
                grpc.StatusCode.UNAUTHENTICATED, service.TOKEN_NEEDED,
                "an account is needed; register and send its token",
            )  # fmt: skip
        token = given[len(service.BEARER):] if str(given).startswith(service.BEARER) else ""
        digest = digest_of(token[:LONGEST_TOKEN])
        now = time.monotonic()
        remembered = self._remembered.get(digest)
        if remembered is not None and remembered.until > now:
            return remembered.account
        changes = self._changes
        account = await self.finding(digest)
        if account is None:
            self._remembered.pop(digest, None)
            self._slow_down_stranger(context)
            raise RefusalError(
                grpc.StatusCode.UNAUTHENTICATED, service.BAD_TOKEN,
                "this token is unknown or was revoked; register again or ask the operators",
            )  # fmt: skip
        if changes == self._changes:  # else it may have been looked up before
            self._remembered[digest] = _Remembered(account, now + REMEMBER_SECONDS)
        if len(self._remembered) > MOST_REMEMBERED:
            self._remembered.popitem(last=False)
        return account

    def _slow_down_stranger(self, context: Any) -> None:
        wait = self._strangers.wait_needed(address_of(context.peer()))
        if wait:
            raise _too_fast(wait)


def _too_fast(seconds: float) -> RefusalError:
    return RefusalError(
        grpc.StatusCode.RESOURCE_EXHAUSTED, service.TOO_FAST,
        "too many calls; slow down", max(1, round(1000 * seconds)),
    )  # fmt: skip


def address_of(peer: str) -> str:
    """Where a call comes from, without the port; of IPv6 the network, which one person owns."""
    kind, _, rest = unquote(peer).partition(":")
    host = rest.rpartition(":")[0].strip("[]")
    if kind == "ipv6":
        with suppress(ValueError):
            return str(ip_network((host.partition("%")[0], 64), strict=False))
    return host


def _check_certificate(context: Any, name: str) -> None:
    """A refusal unless our authority signed a certificate for the account of this name."""
    names = context.auth_context().get("x509_common_name", ())
    if not names:
        message = "operators call here with a certificate of their own, at the operators' address"
    elif list(names) != [name.encode()]:
        message = "this certificate is another operator's; it must have the name of the account"
    else:
        return
    raise RefusalError(
        grpc.StatusCode.PERMISSION_DENIED, service.CERTIFICATE_NEEDED, message
    )
