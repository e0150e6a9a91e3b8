import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from zermelo.proto import limits_pb2 as _limits_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ListUsersRequest(_message.Message):
    __slots__ = ("most",)
    MOST_FIELD_NUMBER: _ClassVar[int]
    most: int
    def __init__(self, most: _Optional[int] = ...) -> None: ...

class ListUsersReply(_message.Message):
    __slots__ = ("users",)
    USERS_FIELD_NUMBER: _ClassVar[int]
    users: _containers.RepeatedCompositeFieldContainer[User]
    def __init__(self, users: _Optional[_Iterable[_Union[User, _Mapping]]] = ...) -> None: ...

class User(_message.Message):
    __slots__ = ("id", "name", "role", "team", "created_at", "banned_at", "tokens", "hosts", "credit")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TEAM_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    BANNED_AT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    HOSTS_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    id: int
    name: str
    role: str
    team: str
    created_at: _timestamp_pb2.Timestamp
    banned_at: _timestamp_pb2.Timestamp
    tokens: int
    hosts: int
    credit: float
    def __init__(self, id: _Optional[int] = ..., name: _Optional[str] = ..., role: _Optional[str] = ..., team: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., banned_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., tokens: _Optional[int] = ..., hosts: _Optional[int] = ..., credit: _Optional[float] = ...) -> None: ...

class ListHostsRequest(_message.Message):
    __slots__ = ("most",)
    MOST_FIELD_NUMBER: _ClassVar[int]
    most: int
    def __init__(self, most: _Optional[int] = ...) -> None: ...

class ListHostsReply(_message.Message):
    __slots__ = ("hosts",)
    HOSTS_FIELD_NUMBER: _ClassVar[int]
    hosts: _containers.RepeatedCompositeFieldContainer[Host]
    def __init__(self, hosts: _Optional[_Iterable[_Union[Host, _Mapping]]] = ...) -> None: ...

class Host(_message.Message):
    __slots__ = ("id", "user", "name", "version", "workers", "speed", "streak", "confirmed", "errors", "quota", "open_leases", "credit", "seen_at", "error_at", "banned_at", "cores", "memory_mb", "platform", "referee")
    ID_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    SPEED_FIELD_NUMBER: _ClassVar[int]
    STREAK_FIELD_NUMBER: _ClassVar[int]
    CONFIRMED_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    QUOTA_FIELD_NUMBER: _ClassVar[int]
    OPEN_LEASES_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    SEEN_AT_FIELD_NUMBER: _ClassVar[int]
    ERROR_AT_FIELD_NUMBER: _ClassVar[int]
    BANNED_AT_FIELD_NUMBER: _ClassVar[int]
    CORES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_MB_FIELD_NUMBER: _ClassVar[int]
    PLATFORM_FIELD_NUMBER: _ClassVar[int]
    REFEREE_FIELD_NUMBER: _ClassVar[int]
    id: int
    user: str
    name: str
    version: str
    workers: int
    speed: float
    streak: int
    confirmed: int
    errors: int
    quota: int
    open_leases: int
    credit: float
    seen_at: _timestamp_pb2.Timestamp
    error_at: _timestamp_pb2.Timestamp
    banned_at: _timestamp_pb2.Timestamp
    cores: int
    memory_mb: int
    platform: str
    referee: bool
    def __init__(self, id: _Optional[int] = ..., user: _Optional[str] = ..., name: _Optional[str] = ..., version: _Optional[str] = ..., workers: _Optional[int] = ..., speed: _Optional[float] = ..., streak: _Optional[int] = ..., confirmed: _Optional[int] = ..., errors: _Optional[int] = ..., quota: _Optional[int] = ..., open_leases: _Optional[int] = ..., credit: _Optional[float] = ..., seen_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., error_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., banned_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., cores: _Optional[int] = ..., memory_mb: _Optional[int] = ..., platform: _Optional[str] = ..., referee: _Optional[bool] = ...) -> None: ...

class ShowHostRequest(_message.Message):
    __slots__ = ("host", "most")
    HOST_FIELD_NUMBER: _ClassVar[int]
    MOST_FIELD_NUMBER: _ClassVar[int]
    host: int
    most: int
    def __init__(self, host: _Optional[int] = ..., most: _Optional[int] = ...) -> None: ...

class ShowHostReply(_message.Message):
    __slots__ = ("host", "results")
    HOST_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    host: Host
    results: _containers.RepeatedCompositeFieldContainer[HostResult]
    def __init__(self, host: _Optional[_Union[Host, _Mapping]] = ..., results: _Optional[_Iterable[_Union[HostResult, _Mapping]]] = ...) -> None: ...

class HostResult(_message.Message):
    __slots__ = ("lease", "workunit", "received_at", "state", "answer", "lo", "hi", "nodes", "credit")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    WORKUNIT_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_AT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    LO_FIELD_NUMBER: _ClassVar[int]
    HI_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    lease: int
    workunit: int
    received_at: _timestamp_pb2.Timestamp
    state: str
    answer: str
    lo: int
    hi: int
    nodes: int
    credit: float
    def __init__(self, lease: _Optional[int] = ..., workunit: _Optional[int] = ..., received_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., state: _Optional[str] = ..., answer: _Optional[str] = ..., lo: _Optional[int] = ..., hi: _Optional[int] = ..., nodes: _Optional[int] = ..., credit: _Optional[float] = ...) -> None: ...

class ShowWorkunitRequest(_message.Message):
    __slots__ = ("workunit",)
    WORKUNIT_FIELD_NUMBER: _ClassVar[int]
    workunit: int
    def __init__(self, workunit: _Optional[int] = ...) -> None: ...

class ShowWorkunitReply(_message.Message):
    __slots__ = ("workunit", "history")
    WORKUNIT_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    workunit: AskedWorkunit
    history: _containers.RepeatedCompositeFieldContainer[Asked]
    def __init__(self, workunit: _Optional[_Union[AskedWorkunit, _Mapping]] = ..., history: _Optional[_Iterable[_Union[Asked, _Mapping]]] = ...) -> None: ...

class AskedWorkunit(_message.Message):
    __slots__ = ("id", "campaign", "node", "threshold", "state", "quorum", "disputed", "expected", "created_at", "lo", "hi")
    ID_FIELD_NUMBER: _ClassVar[int]
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    QUORUM_FIELD_NUMBER: _ClassVar[int]
    DISPUTED_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    LO_FIELD_NUMBER: _ClassVar[int]
    HI_FIELD_NUMBER: _ClassVar[int]
    id: int
    campaign: str
    node: int
    threshold: int
    state: str
    quorum: int
    disputed: bool
    expected: float
    created_at: _timestamp_pb2.Timestamp
    lo: int
    hi: int
    def __init__(self, id: _Optional[int] = ..., campaign: _Optional[str] = ..., node: _Optional[int] = ..., threshold: _Optional[int] = ..., state: _Optional[str] = ..., quorum: _Optional[int] = ..., disputed: _Optional[bool] = ..., expected: _Optional[float] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., lo: _Optional[int] = ..., hi: _Optional[int] = ...) -> None: ...

class Asked(_message.Message):
    __slots__ = ("lease", "host", "user", "leased_at", "ended_at", "lease_state", "probe", "state", "answer", "lo", "hi", "nodes")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    LEASED_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    LEASE_STATE_FIELD_NUMBER: _ClassVar[int]
    PROBE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    LO_FIELD_NUMBER: _ClassVar[int]
    HI_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    lease: int
    host: int
    user: str
    leased_at: _timestamp_pb2.Timestamp
    ended_at: _timestamp_pb2.Timestamp
    lease_state: str
    probe: bool
    state: str
    answer: str
    lo: int
    hi: int
    nodes: int
    def __init__(self, lease: _Optional[int] = ..., host: _Optional[int] = ..., user: _Optional[str] = ..., leased_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., lease_state: _Optional[str] = ..., probe: _Optional[bool] = ..., state: _Optional[str] = ..., answer: _Optional[str] = ..., lo: _Optional[int] = ..., hi: _Optional[int] = ..., nodes: _Optional[int] = ...) -> None: ...

class ListCreditRequest(_message.Message):
    __slots__ = ("by", "most")
    BY_FIELD_NUMBER: _ClassVar[int]
    MOST_FIELD_NUMBER: _ClassVar[int]
    by: str
    most: int
    def __init__(self, by: _Optional[str] = ..., most: _Optional[int] = ...) -> None: ...

class ListCreditReply(_message.Message):
    __slots__ = ("credit",)
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    credit: _containers.RepeatedCompositeFieldContainer[CreditSum]
    def __init__(self, credit: _Optional[_Iterable[_Union[CreditSum, _Mapping]]] = ...) -> None: ...

class CreditSum(_message.Message):
    __slots__ = ("name", "credit", "partial", "results")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    name: str
    credit: float
    partial: float
    results: int
    def __init__(self, name: _Optional[str] = ..., credit: _Optional[float] = ..., partial: _Optional[float] = ..., results: _Optional[int] = ...) -> None: ...

class ListCampaignsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListCampaignsReply(_message.Message):
    __slots__ = ("campaigns",)
    CAMPAIGNS_FIELD_NUMBER: _ClassVar[int]
    campaigns: _containers.RepeatedCompositeFieldContainer[Campaign]
    def __init__(self, campaigns: _Optional[_Iterable[_Union[Campaign, _Mapping]]] = ...) -> None: ...

class Campaign(_message.Message):
    __slots__ = ("id", "name", "game", "goal", "state", "replication", "created_at", "finished_at")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    GOAL_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    REPLICATION_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    FINISHED_AT_FIELD_NUMBER: _ClassVar[int]
    id: int
    name: str
    game: str
    goal: str
    state: str
    replication: str
    created_at: _timestamp_pb2.Timestamp
    finished_at: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[int] = ..., name: _Optional[str] = ..., game: _Optional[str] = ..., goal: _Optional[str] = ..., state: _Optional[str] = ..., replication: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., finished_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListAuditRequest(_message.Message):
    __slots__ = ("subject", "most")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    MOST_FIELD_NUMBER: _ClassVar[int]
    subject: str
    most: int
    def __init__(self, subject: _Optional[str] = ..., most: _Optional[int] = ...) -> None: ...

class ListAuditReply(_message.Message):
    __slots__ = ("audit",)
    AUDIT_FIELD_NUMBER: _ClassVar[int]
    audit: _containers.RepeatedCompositeFieldContainer[Action]
    def __init__(self, audit: _Optional[_Iterable[_Union[Action, _Mapping]]] = ...) -> None: ...

class Action(_message.Message):
    __slots__ = ("id", "at", "actor", "action", "subject", "detail")
    ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    id: int
    at: _timestamp_pb2.Timestamp
    actor: str
    action: str
    subject: str
    detail: str
    def __init__(self, id: _Optional[int] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., actor: _Optional[str] = ..., action: _Optional[str] = ..., subject: _Optional[str] = ..., detail: _Optional[str] = ...) -> None: ...

class OpenAccountRequest(_message.Message):
    __slots__ = ("name", "role", "team", "reason")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TEAM_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    role: str
    team: str
    reason: str
    def __init__(self, name: _Optional[str] = ..., role: _Optional[str] = ..., team: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class TokenReply(_message.Message):
    __slots__ = ("user", "token")
    USER_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    user: str
    token: str
    def __init__(self, user: _Optional[str] = ..., token: _Optional[str] = ...) -> None: ...

class RenewTokenRequest(_message.Message):
    __slots__ = ("name", "reason")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    reason: str
    def __init__(self, name: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class RevokeTokensRequest(_message.Message):
    __slots__ = ("name", "reason")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    reason: str
    def __init__(self, name: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class RevokeTokensReply(_message.Message):
    __slots__ = ("revoked",)
    REVOKED_FIELD_NUMBER: _ClassVar[int]
    revoked: int
    def __init__(self, revoked: _Optional[int] = ...) -> None: ...

class SetRoleRequest(_message.Message):
    __slots__ = ("name", "role", "reason")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    role: str
    reason: str
    def __init__(self, name: _Optional[str] = ..., role: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class SetRoleReply(_message.Message):
    __slots__ = ("user", "role")
    USER_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    user: str
    role: str
    def __init__(self, user: _Optional[str] = ..., role: _Optional[str] = ...) -> None: ...

class PreviewBanRequest(_message.Message):
    __slots__ = ("host", "name")
    HOST_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    host: int
    name: str
    def __init__(self, host: _Optional[int] = ..., name: _Optional[str] = ...) -> None: ...

class PreviewBanReply(_message.Message):
    __slots__ = ("user", "hosts", "open_leases", "results", "results_of_others", "bounds", "credit", "credit_lost")
    USER_FIELD_NUMBER: _ClassVar[int]
    HOSTS_FIELD_NUMBER: _ClassVar[int]
    OPEN_LEASES_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    RESULTS_OF_OTHERS_FIELD_NUMBER: _ClassVar[int]
    BOUNDS_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    CREDIT_LOST_FIELD_NUMBER: _ClassVar[int]
    user: str
    hosts: int
    open_leases: int
    results: int
    results_of_others: int
    bounds: int
    credit: float
    credit_lost: float
    def __init__(self, user: _Optional[str] = ..., hosts: _Optional[int] = ..., open_leases: _Optional[int] = ..., results: _Optional[int] = ..., results_of_others: _Optional[int] = ..., bounds: _Optional[int] = ..., credit: _Optional[float] = ..., credit_lost: _Optional[float] = ...) -> None: ...

class BanHostRequest(_message.Message):
    __slots__ = ("host", "reason")
    HOST_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    host: int
    reason: str
    def __init__(self, host: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class BanUserRequest(_message.Message):
    __slots__ = ("name", "reason")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    reason: str
    def __init__(self, name: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class BanReply(_message.Message):
    __slots__ = ("doubted",)
    DOUBTED_FIELD_NUMBER: _ClassVar[int]
    doubted: int
    def __init__(self, doubted: _Optional[int] = ...) -> None: ...

class UnbanHostRequest(_message.Message):
    __slots__ = ("host", "reason")
    HOST_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    host: int
    reason: str
    def __init__(self, host: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class UnbanUserRequest(_message.Message):
    __slots__ = ("name", "reason")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    reason: str
    def __init__(self, name: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class UnbanReply(_message.Message):
    __slots__ = ("judged_again",)
    JUDGED_AGAIN_FIELD_NUMBER: _ClassVar[int]
    judged_again: int
    def __init__(self, judged_again: _Optional[int] = ...) -> None: ...

class AskAgainRequest(_message.Message):
    __slots__ = ("workunit", "reason")
    WORKUNIT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    workunit: int
    reason: str
    def __init__(self, workunit: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class AskAgainReply(_message.Message):
    __slots__ = ("answers",)
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    answers: int
    def __init__(self, answers: _Optional[int] = ...) -> None: ...

class PauseCampaignRequest(_message.Message):
    __slots__ = ("campaign", "reason")
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    reason: str
    def __init__(self, campaign: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class ResumeCampaignRequest(_message.Message):
    __slots__ = ("campaign", "reason")
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    reason: str
    def __init__(self, campaign: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class CancelCampaignRequest(_message.Message):
    __slots__ = ("campaign", "reason")
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    reason: str
    def __init__(self, campaign: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class SteerCampaignReply(_message.Message):
    __slots__ = ("campaign", "state")
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    state: str
    def __init__(self, campaign: _Optional[str] = ..., state: _Optional[str] = ...) -> None: ...

class ListAlarmsRequest(_message.Message):
    __slots__ = ("settled", "most")
    SETTLED_FIELD_NUMBER: _ClassVar[int]
    MOST_FIELD_NUMBER: _ClassVar[int]
    settled: bool
    most: int
    def __init__(self, settled: _Optional[bool] = ..., most: _Optional[int] = ...) -> None: ...

class ListAlarmsReply(_message.Message):
    __slots__ = ("alarms",)
    ALARMS_FIELD_NUMBER: _ClassVar[int]
    alarms: _containers.RepeatedCompositeFieldContainer[Alarm]
    def __init__(self, alarms: _Optional[_Iterable[_Union[Alarm, _Mapping]]] = ...) -> None: ...

class Alarm(_message.Message):
    __slots__ = ("id", "campaign", "kind", "detail", "node", "result", "raised_at", "settled_at", "settled_by", "settled_reason")
    ID_FIELD_NUMBER: _ClassVar[int]
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    RAISED_AT_FIELD_NUMBER: _ClassVar[int]
    SETTLED_AT_FIELD_NUMBER: _ClassVar[int]
    SETTLED_BY_FIELD_NUMBER: _ClassVar[int]
    SETTLED_REASON_FIELD_NUMBER: _ClassVar[int]
    id: int
    campaign: str
    kind: str
    detail: str
    node: int
    result: int
    raised_at: _timestamp_pb2.Timestamp
    settled_at: _timestamp_pb2.Timestamp
    settled_by: str
    settled_reason: str
    def __init__(self, id: _Optional[int] = ..., campaign: _Optional[str] = ..., kind: _Optional[str] = ..., detail: _Optional[str] = ..., node: _Optional[int] = ..., result: _Optional[int] = ..., raised_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., settled_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., settled_by: _Optional[str] = ..., settled_reason: _Optional[str] = ...) -> None: ...

class SettleAlarmRequest(_message.Message):
    __slots__ = ("alarm", "reason")
    ALARM_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    alarm: int
    reason: str
    def __init__(self, alarm: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class SettleAlarmReply(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ShowQueueRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ShowQueueReply(_message.Message):
    __slots__ = ("queue", "backlog", "disputes", "alarms")
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    BACKLOG_FIELD_NUMBER: _ClassVar[int]
    DISPUTES_FIELD_NUMBER: _ClassVar[int]
    ALARMS_FIELD_NUMBER: _ClassVar[int]
    queue: _containers.RepeatedCompositeFieldContainer[QueueState]
    backlog: _containers.RepeatedCompositeFieldContainer[Backlog]
    disputes: int
    alarms: int
    def __init__(self, queue: _Optional[_Iterable[_Union[QueueState, _Mapping]]] = ..., backlog: _Optional[_Iterable[_Union[Backlog, _Mapping]]] = ..., disputes: _Optional[int] = ..., alarms: _Optional[int] = ...) -> None: ...

class QueueState(_message.Message):
    __slots__ = ("campaign", "state", "workunits", "oldest_seconds")
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    WORKUNITS_FIELD_NUMBER: _ClassVar[int]
    OLDEST_SECONDS_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    state: str
    workunits: int
    oldest_seconds: float
    def __init__(self, campaign: _Optional[str] = ..., state: _Optional[str] = ..., workunits: _Optional[int] = ..., oldest_seconds: _Optional[float] = ...) -> None: ...

class Backlog(_message.Message):
    __slots__ = ("service", "waiting", "oldest_seconds")
    SERVICE_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    OLDEST_SECONDS_FIELD_NUMBER: _ClassVar[int]
    service: str
    waiting: int
    oldest_seconds: float
    def __init__(self, service: _Optional[str] = ..., waiting: _Optional[int] = ..., oldest_seconds: _Optional[float] = ...) -> None: ...

class ShowProjectRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ShowProjectReply(_message.Message):
    __slots__ = ("registration_open", "notice", "web_url")
    REGISTRATION_OPEN_FIELD_NUMBER: _ClassVar[int]
    NOTICE_FIELD_NUMBER: _ClassVar[int]
    WEB_URL_FIELD_NUMBER: _ClassVar[int]
    registration_open: bool
    notice: str
    web_url: str
    def __init__(self, registration_open: _Optional[bool] = ..., notice: _Optional[str] = ..., web_url: _Optional[str] = ...) -> None: ...

class SetProjectRequest(_message.Message):
    __slots__ = ("registration_open", "notice", "web_url", "reason")
    REGISTRATION_OPEN_FIELD_NUMBER: _ClassVar[int]
    NOTICE_FIELD_NUMBER: _ClassVar[int]
    WEB_URL_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    registration_open: bool
    notice: str
    web_url: str
    reason: str
    def __init__(self, registration_open: _Optional[bool] = ..., notice: _Optional[str] = ..., web_url: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class DeleteUserRequest(_message.Message):
    __slots__ = ("name", "reason")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    reason: str
    def __init__(self, name: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class DeleteUserReply(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...
