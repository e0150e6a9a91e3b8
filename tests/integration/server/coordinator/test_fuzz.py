"""Every RPC under malformed, oversized, out-of-state and random messages.

Some thousand messages in the short run; the long run takes ``ZERMELO_FUZZ_MESSAGES``.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from contextlib import suppress
from typing import Any

import grpc
import pytest
from google.protobuf import message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from tests.support.coordinator import Queue, bearer, running_coordinator
from tests.support.effort import long
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service
from zermelo.proto.service import PROTOCOL_VERSION
from zermelo.server.campaigns import Campaign, create_campaign
from zermelo.server.check import check_database
from zermelo.server.coordinator import admission, holding, hosts
from zermelo.server.coordinator.rates import Rate
from zermelo.server.database import Connection
from zermelo.server.trust.accounts import Role, open_account
from zermelo.server.trust.bans import BanError, host_to_ban, lift

#: More than enough for every RPC to be met with every kind of message.
FEW_MESSAGES = 1500
MANY_MESSAGES = int(os.environ.get("ZERMELO_FUZZ_MESSAGES", "20000"))
AT_ONCE = 20
#: What a refusal may be. INTERNAL, UNKNOWN and the like would be a bug of ours.
PROPER = {
    grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.ALREADY_EXISTS,
}  # fmt: skip
METHODS = {
    f"/{method.containing_service.full_name}/{method.name}": method
    for described in service.SERVICES
    for method in described.methods
}
REQUEST_WORK = f"/{service.COORDINATOR.full_name}/RequestWork"
NUMBERS = [0, 1, 2, 3, 7, 255, 4096, 2**31 - 1, 2**32 - 1, 2**53, 2**63 - 1, 2**64 - 1]


#: The key of a host that operators ban and unban.
VICTIM = b"v" * 16


class Fuzzer:
    def __init__(self, keys: list[bytes], names: list[str], victim: int, seed: int) -> None:
        self.chance = random.Random(seed)
        self.keys = keys
        #: What there really is to be asked about, and steered, banned or revoked.
        self.names = names
        self.victim = victim
        #: Leases that were really handed out, to be used in wrong ways.
        self.leases: list[int] = [1]

    def request(self, method: str) -> bytes:
        kind = METHODS[method].input_type
        shape = self.chance.random()
        if shape < 0.15:
            return self.chance.randbytes(self.chance.randrange(200))
        data = bytearray(self._message(kind, depth=0).SerializeToString())
        if shape < 0.3 and data:
            for _ in range(self.chance.randint(1, 5)):
                data[self.chance.randrange(len(data))] = self.chance.randrange(256)
        elif shape < 0.4:
            del data[self.chance.randrange(len(data) + 1) :]
        return bytes(data)

    def _message(self, kind: Descriptor, depth: int) -> Any:
        message = message_factory.GetMessageClass(kind)()
        for field in kind.fields:
            if self.chance.random() < 0.2:
                continue
            if field.is_repeated:
                for _ in range(self.chance.choice((0, 1, 1, 3, 20))):
                    self._add(getattr(message, field.name), field, depth)
            elif field.type == FieldDescriptor.TYPE_MESSAGE:
                if depth < 3:
                    getattr(message, field.name).CopyFrom(
                        self._message(field.message_type, depth + 1)
                    )
            else:
                value = self._value(field)
                try:
                    setattr(message, field.name, value)
                except (ValueError, TypeError):
                    setattr(message, field.name, type(value)())
        return message

    def _add(self, items: Any, field: FieldDescriptor, depth: int) -> None:
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            if depth < 3:
                items.append(self._message(field.message_type, depth + 1))
            return
        try:
            items.append(self._value(field))
        except (ValueError, TypeError):
            items.append(1)

    def _value(self, field: FieldDescriptor) -> Any:
        chance = self.chance
        if field.name == "host_key" and chance.random() < 0.8:
            return chance.choice(self.keys)
        if "lease" in field.name and chance.random() < 0.7:
            return chance.choice(self.leases)
        if field.name == "host":
            return chance.choice((self.victim, self.victim, 0, 99, 2**31 - 1))
        if field.type == FieldDescriptor.TYPE_STRING and chance.random() < 0.4:
            return chance.choice(self.names)
        if field.type == FieldDescriptor.TYPE_BYTES:
            return chance.randbytes(chance.choice((0, 16, 16, 32, 500, 20_000)))
        if field.type == FieldDescriptor.TYPE_STRING:
            return "".join(
                chr(chance.choice((0, 10, 65, 233, 0x202E, 0x1F600)))
                for _ in range(chance.choice((0, 1, 8, 40, 3000)))
            )
        if field.type == FieldDescriptor.TYPE_BOOL:
            return chance.random() < 0.1
        number = chance.choice(NUMBERS)
        if field.name == "wait_ms":
            return 0
        return number if chance.random() < 0.7 else -number


async def bombard(
    address: str, tokens: list[str], fuzzer: Fuzzer, messages: int
) -> Counter[Any]:
    seen: Counter[Any] = Counter()
    improper: list[Any] = []
    async with grpc.aio.insecure_channel(
        address, options=[("grpc.max_send_message_length", 32 * 2**20)]
    ) as channel:
        calls = {path: channel.unary_unary(path) for path in METHODS}

        async def one() -> None:
            name = fuzzer.chance.choice(list(METHODS))
            # Whoever renews a token is a stranger from then on, and nothing else would be tried.
            usable = [] if name.endswith("/RenewMyToken") else tokens
            token = fuzzer.chance.choice([*usable, "wrong", ""])
            metadata = ((service.AUTHORIZATION, f"Bearer {token}"),) if token else ()
            data = fuzzer.request(name)
            if fuzzer.chance.random() < 0.0005:
                data += b"\x00" * (17 * 2**20)
            try:
                reply = await calls[name](data, metadata=metadata, timeout=120)
                seen[name, "OK"] += 1
                if name == REQUEST_WORK:
                    work = pb.RequestWorkReply.FromString(reply)
                    fuzzer.leases += [unit.lease_id for unit in work.workunits]
                    del fuzzer.leases[:-200]
            except grpc.aio.AioRpcError as error:
                seen[name, error.code()] += 1
                if error.code() not in PROPER or not error.details():
                    improper.append((name, error.code(), error.details(), data[:300]))

        sent = 0
        while sent < messages:
            await asyncio.gather(*(one() for _ in range(AT_ONCE)))
            sent += AT_ONCE
    assert improper == []
    return seen


def _say_hello(address: str, tokens: list[str], keys: list[bytes]) -> None:
    with grpc.insecure_channel(address) as channel:
        stub = service.CoordinatorStub(channel)
        for token, key in zip(tokens, keys, strict=True):
            hello = pb.HelloRequest(protocol_version=PROTOCOL_VERSION, host_key=key, workers=1)
            stub.Hello(hello, metadata=bearer(token), timeout=120)


@pytest.mark.parametrize("messages", [FEW_MESSAGES, pytest.param(MANY_MESSAGES, marks=long)])
def test_nothing_that_is_sent_does_harm(
    database: str, campaign: Campaign, connection: Connection, queue: Queue, monkeypatch: Any,
    messages: int,
) -> None:
    # Rates would keep most of the messages from what is to be tested.
    fast = Rate(per_second=1e9, burst=1e9)
    for module, name in (
        (admission, "ACCOUNT_RATE"), (admission, "STRANGER_RATE"), (hosts, "HOST_RATE")
    ):
        monkeypatch.setattr(module, name, fast)
    monkeypatch.setattr(holding, "LONGEST_SECONDS", 0.001)  # else most of them wait
    queue.add(30)
    connection.execute("UPDATE totals SET workunits = 30")  # as a generator would have counted
    create_campaign(connection, "reversi:4x4", name="steered", replication="none")
    open_account(connection, "otto", Role.VOLUNTEER, actor="test")
    with running_coordinator(database, require_token=True) as address:
        keys = [bytes([number]) * 16 for number in range(3)]
        with grpc.insecure_channel(address) as channel:
            stub = service.CoordinatorStub(channel)
            tokens = [stub.Register(pb.RegisterRequest(), timeout=120).token for _ in keys]
        _say_hello(address, tokens, keys)
        _say_hello(address, tokens[:1], [VICTIM])
        (victim,) = connection.execute(
            "SELECT id FROM hosts WHERE host_key_digest = %s", (hosts.host_key_digest(VICTIM),)
        ).fetchone() or (0,)
        staff = [
            open_account(connection, role.value, role, actor="test")
            for role in (Role.OPERATOR, Role.RESEARCHER)
        ]
        fuzzer = Fuzzer(keys, ["steered", "otto", "c1"], victim, seed=1)
        seen = asyncio.run(bombard(address, [*tokens, *staff], fuzzer, messages))
        # It still serves, and a host that says Hello holds nothing any more.
        with suppress(BanError):  # an operator of the fuzzer may have lifted it
            lift(connection, host_to_ban(connection, victim), "", actor="test")
        _say_hello(address, tokens, keys)
        _say_hello(address, tokens[:1], [VICTIM])
    assert {name for name, _ in seen} == set(METHODS)
    codes = {code for _, code in seen}
    assert {"OK", grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.PERMISSION_DENIED} <= codes
    stuck = connection.execute(
        "SELECT count(*) FROM leases JOIN hosts ON hosts.id = leases.host WHERE state = 'open'"
    ).fetchone()
    assert stuck == (0,)
    assert check_database(connection) == []
