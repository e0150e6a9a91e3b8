"""Messages of the coordinator as what pages show: objects with the same names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, TypeVar

from google.protobuf.message import Message

from zermelo.research.plain import message_values

T = TypeVar("T")


def record(kind: type[T], message: Message) -> T:
    """An object of the fields that the class names; None for what is not set."""
    values = message_values(message)
    return kind(**{field.name: values[field.name] for field in fields(kind)})  # type: ignore[arg-type]


def all_records(kind: type[T], messages: Iterable[Any]) -> list[T]:
    return [record(kind, message) for message in messages]


@dataclass(frozen=True, slots=True)
class MyHost:
    id: int
    name: str
    version: str
    platform: str
    cores: int
    memory_mb: int
    workers: int
    speed: float
    seen_at: datetime
    streak: int
    confirmed: int
    errors: int
    quota: int
    in_progress: int
    credit: float
    average_credit: float
    trusted: bool
    banned_at: datetime | None
    rests_until: datetime | None
    no_work: str


@dataclass(frozen=True, slots=True)
class MyResult:
    lease: int
    host: int
    campaign: str
    threshold: int
    answer: str
    state: str
    nodes: int
    seconds: float
    credit: float
    at: datetime


@dataclass(frozen=True, slots=True)
class MyToken:
    purpose: str
    created_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class MyAccount:
    name: str
    role: str
    team: str
    founder: bool
    created_at: datetime
    show_hosts: bool
    export_statistics: bool
    recovery_code: bool
    hosts: int


@dataclass(frozen=True, slots=True)
class Alarm:
    id: int
    campaign: str
    kind: str
    detail: str
    result: int | None
    raised_at: datetime
    settled_at: datetime | None
    settled_by: str | None
    settled_reason: str | None


@dataclass(frozen=True, slots=True)
class HostRow:
    id: int
    user: str
    name: str
    platform: str
    version: str
    cores: int
    workers: int
    streak: int
    confirmed: int
    errors: int
    quota: int
    open_leases: int
    credit: float
    seen_at: datetime
    banned_at: datetime | None
    #: Whether it is the server's own search.
    referee: bool


@dataclass(frozen=True, slots=True)
class UserRow:
    id: int
    name: str
    role: str
    team: str | None
    created_at: datetime
    banned_at: datetime | None
    tokens: int
    hosts: int
    credit: float


@dataclass(frozen=True, slots=True)
class Action:
    id: int
    at: datetime
    actor: str
    action: str
    subject: str
    detail: str


@dataclass(frozen=True, slots=True)
class QueueState:
    campaign: str
    state: str
    workunits: int
    oldest_seconds: float


@dataclass(frozen=True, slots=True)
class Backlog:
    service: str
    waiting: int
    oldest_seconds: float


@dataclass(frozen=True, slots=True)
class CampaignRow:
    name: str
    state: str
    replication: str
