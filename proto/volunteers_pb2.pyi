import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from zermelo.proto import limits_pb2 as _limits_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ShowAccountRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ShowAccountReply(_message.Message):
    __slots__ = ("name", "role", "team", "founder", "created_at", "show_hosts", "export_statistics", "recovery_code", "hosts", "tokens")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TEAM_FIELD_NUMBER: _ClassVar[int]
    FOUNDER_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    SHOW_HOSTS_FIELD_NUMBER: _ClassVar[int]
    EXPORT_STATISTICS_FIELD_NUMBER: _ClassVar[int]
    RECOVERY_CODE_FIELD_NUMBER: _ClassVar[int]
    HOSTS_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    name: str
    role: str
    team: str
    founder: bool
    created_at: _timestamp_pb2.Timestamp
    show_hosts: bool
    export_statistics: bool
    recovery_code: bool
    hosts: int
    tokens: _containers.RepeatedCompositeFieldContainer[MyToken]
    def __init__(self, name: _Optional[str] = ..., role: _Optional[str] = ..., team: _Optional[str] = ..., founder: _Optional[bool] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., show_hosts: _Optional[bool] = ..., export_statistics: _Optional[bool] = ..., recovery_code: _Optional[bool] = ..., hosts: _Optional[int] = ..., tokens: _Optional[_Iterable[_Union[MyToken, _Mapping]]] = ...) -> None: ...

class MyToken(_message.Message):
    __slots__ = ("purpose", "created_at", "expires_at")
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    purpose: str
    created_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    def __init__(self, purpose: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SetConsentsRequest(_message.Message):
    __slots__ = ("show_hosts", "export_statistics")
    SHOW_HOSTS_FIELD_NUMBER: _ClassVar[int]
    EXPORT_STATISTICS_FIELD_NUMBER: _ClassVar[int]
    show_hosts: bool
    export_statistics: bool
    def __init__(self, show_hosts: _Optional[bool] = ..., export_statistics: _Optional[bool] = ...) -> None: ...

class SetConsentsReply(_message.Message):
    __slots__ = ("show_hosts", "export_statistics")
    SHOW_HOSTS_FIELD_NUMBER: _ClassVar[int]
    EXPORT_STATISTICS_FIELD_NUMBER: _ClassVar[int]
    show_hosts: bool
    export_statistics: bool
    def __init__(self, show_hosts: _Optional[bool] = ..., export_statistics: _Optional[bool] = ...) -> None: ...

class DeleteAccountRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class DeleteAccountReply(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class ListMyHostsRequest(_message.Message):
    __slots__ = ("host", "most")
    HOST_FIELD_NUMBER: _ClassVar[int]
    MOST_FIELD_NUMBER: _ClassVar[int]
    host: int
    most: int
    def __init__(self, host: _Optional[int] = ..., most: _Optional[int] = ...) -> None: ...

class ListMyHostsReply(_message.Message):
    __slots__ = ("hosts",)
    HOSTS_FIELD_NUMBER: _ClassVar[int]
    hosts: _containers.RepeatedCompositeFieldContainer[MyHost]
    def __init__(self, hosts: _Optional[_Iterable[_Union[MyHost, _Mapping]]] = ...) -> None: ...

class MyHost(_message.Message):
    __slots__ = ("id", "name", "version", "platform", "cores", "memory_mb", "workers", "speed", "created_at", "seen_at", "streak", "confirmed", "errors", "quota", "in_progress", "credit", "average_credit", "trusted", "banned_at", "rests_until", "no_work")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PLATFORM_FIELD_NUMBER: _ClassVar[int]
    CORES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_MB_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    SPEED_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    SEEN_AT_FIELD_NUMBER: _ClassVar[int]
    STREAK_FIELD_NUMBER: _ClassVar[int]
    CONFIRMED_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    QUOTA_FIELD_NUMBER: _ClassVar[int]
    IN_PROGRESS_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    AVERAGE_CREDIT_FIELD_NUMBER: _ClassVar[int]
    TRUSTED_FIELD_NUMBER: _ClassVar[int]
    BANNED_AT_FIELD_NUMBER: _ClassVar[int]
    RESTS_UNTIL_FIELD_NUMBER: _ClassVar[int]
    NO_WORK_FIELD_NUMBER: _ClassVar[int]
    id: int
    name: str
    version: str
    platform: str
    cores: int
    memory_mb: int
    workers: int
    speed: float
    created_at: _timestamp_pb2.Timestamp
    seen_at: _timestamp_pb2.Timestamp
    streak: int
    confirmed: int
    errors: int
    quota: int
    in_progress: int
    credit: float
    average_credit: float
    trusted: bool
    banned_at: _timestamp_pb2.Timestamp
    rests_until: _timestamp_pb2.Timestamp
    no_work: str
    def __init__(self, id: _Optional[int] = ..., name: _Optional[str] = ..., version: _Optional[str] = ..., platform: _Optional[str] = ..., cores: _Optional[int] = ..., memory_mb: _Optional[int] = ..., workers: _Optional[int] = ..., speed: _Optional[float] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., seen_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., streak: _Optional[int] = ..., confirmed: _Optional[int] = ..., errors: _Optional[int] = ..., quota: _Optional[int] = ..., in_progress: _Optional[int] = ..., credit: _Optional[float] = ..., average_credit: _Optional[float] = ..., trusted: _Optional[bool] = ..., banned_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., rests_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., no_work: _Optional[str] = ...) -> None: ...

class ListMyResultsRequest(_message.Message):
    __slots__ = ("host", "tab", "most", "before")
    HOST_FIELD_NUMBER: _ClassVar[int]
    TAB_FIELD_NUMBER: _ClassVar[int]
    MOST_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    host: int
    tab: str
    most: int
    before: int
    def __init__(self, host: _Optional[int] = ..., tab: _Optional[str] = ..., most: _Optional[int] = ..., before: _Optional[int] = ...) -> None: ...

class ListMyResultsReply(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[MyResult]
    def __init__(self, results: _Optional[_Iterable[_Union[MyResult, _Mapping]]] = ...) -> None: ...

class MyResult(_message.Message):
    __slots__ = ("lease", "host", "campaign", "threshold", "answer", "state", "nodes", "seconds", "credit", "at")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    lease: int
    host: int
    campaign: str
    threshold: int
    answer: str
    state: str
    nodes: int
    seconds: float
    credit: float
    at: _timestamp_pb2.Timestamp
    def __init__(self, lease: _Optional[int] = ..., host: _Optional[int] = ..., campaign: _Optional[str] = ..., threshold: _Optional[int] = ..., answer: _Optional[str] = ..., state: _Optional[str] = ..., nodes: _Optional[int] = ..., seconds: _Optional[float] = ..., credit: _Optional[float] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListTeamsRequest(_message.Message):
    __slots__ = ("name", "most")
    NAME_FIELD_NUMBER: _ClassVar[int]
    MOST_FIELD_NUMBER: _ClassVar[int]
    name: str
    most: int
    def __init__(self, name: _Optional[str] = ..., most: _Optional[int] = ...) -> None: ...

class ListTeamsReply(_message.Message):
    __slots__ = ("teams",)
    TEAMS_FIELD_NUMBER: _ClassVar[int]
    teams: _containers.RepeatedCompositeFieldContainer[Team]
    def __init__(self, teams: _Optional[_Iterable[_Union[Team, _Mapping]]] = ...) -> None: ...

class Team(_message.Message):
    __slots__ = ("name", "description", "founder", "created_at", "members", "credit", "month_credit", "average_credit")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    FOUNDER_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    MONTH_CREDIT_FIELD_NUMBER: _ClassVar[int]
    AVERAGE_CREDIT_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    founder: str
    created_at: _timestamp_pb2.Timestamp
    members: int
    credit: float
    month_credit: float
    average_credit: float
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., founder: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., members: _Optional[int] = ..., credit: _Optional[float] = ..., month_credit: _Optional[float] = ..., average_credit: _Optional[float] = ...) -> None: ...

class FoundTeamRequest(_message.Message):
    __slots__ = ("name", "description")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ...) -> None: ...

class JoinTeamRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class LeaveTeamRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeTeamRequest(_message.Message):
    __slots__ = ("description",)
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    description: str
    def __init__(self, description: _Optional[str] = ...) -> None: ...

class TeamReply(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class OpenSignInRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class OpenSignInReply(_message.Message):
    __slots__ = ("code", "seconds", "web_url")
    CODE_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    WEB_URL_FIELD_NUMBER: _ClassVar[int]
    code: str
    seconds: int
    web_url: str
    def __init__(self, code: _Optional[str] = ..., seconds: _Optional[int] = ..., web_url: _Optional[str] = ...) -> None: ...

class SignInRequest(_message.Message):
    __slots__ = ("code",)
    CODE_FIELD_NUMBER: _ClassVar[int]
    code: str
    def __init__(self, code: _Optional[str] = ...) -> None: ...

class SignInReply(_message.Message):
    __slots__ = ("token", "name", "role", "seconds")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    token: str
    name: str
    role: str
    seconds: int
    def __init__(self, token: _Optional[str] = ..., name: _Optional[str] = ..., role: _Optional[str] = ..., seconds: _Optional[int] = ...) -> None: ...

class SignOutRequest(_message.Message):
    __slots__ = ("token",)
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    token: str
    def __init__(self, token: _Optional[str] = ...) -> None: ...

class SignOutReply(_message.Message):
    __slots__ = ("ended",)
    ENDED_FIELD_NUMBER: _ClassVar[int]
    ended: bool
    def __init__(self, ended: _Optional[bool] = ...) -> None: ...

class RenewMyTokenRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class NewTokenReply(_message.Message):
    __slots__ = ("name", "token")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    name: str
    token: str
    def __init__(self, name: _Optional[str] = ..., token: _Optional[str] = ...) -> None: ...

class NewRecoveryCodeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class NewRecoveryCodeReply(_message.Message):
    __slots__ = ("name", "code")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    name: str
    code: str
    def __init__(self, name: _Optional[str] = ..., code: _Optional[str] = ...) -> None: ...

class RecoverRequest(_message.Message):
    __slots__ = ("name", "code", "revoke_others")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    REVOKE_OTHERS_FIELD_NUMBER: _ClassVar[int]
    name: str
    code: str
    revoke_others: bool
    def __init__(self, name: _Optional[str] = ..., code: _Optional[str] = ..., revoke_others: _Optional[bool] = ...) -> None: ...
