from zermelo.proto import limits_pb2 as _limits_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Answer(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ANSWER_UNSPECIFIED: _ClassVar[Answer]
    YES: _ClassVar[Answer]
    NO: _ClassVar[Answer]
    EXHAUSTED: _ClassVar[Answer]
ANSWER_UNSPECIFIED: Answer
YES: Answer
NO: Answer
EXHAUSTED: Answer

class RegisterRequest(_message.Message):
    __slots__ = ("user_name", "team", "secret")
    USER_NAME_FIELD_NUMBER: _ClassVar[int]
    TEAM_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    user_name: str
    team: str
    secret: bytes
    def __init__(self, user_name: _Optional[str] = ..., team: _Optional[str] = ..., secret: _Optional[bytes] = ...) -> None: ...

class RegisterReply(_message.Message):
    __slots__ = ("token", "user_name")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    USER_NAME_FIELD_NUMBER: _ClassVar[int]
    token: str
    user_name: str
    def __init__(self, token: _Optional[str] = ..., user_name: _Optional[str] = ...) -> None: ...

class StandingRequest(_message.Message):
    __slots__ = ("host_key",)
    HOST_KEY_FIELD_NUMBER: _ClassVar[int]
    host_key: bytes
    def __init__(self, host_key: _Optional[bytes] = ...) -> None: ...

class StandingReply(_message.Message):
    __slots__ = ("user_name", "team", "credit", "month_credit", "host_credit", "team_credit", "rank", "users", "notice")
    USER_NAME_FIELD_NUMBER: _ClassVar[int]
    TEAM_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    MONTH_CREDIT_FIELD_NUMBER: _ClassVar[int]
    HOST_CREDIT_FIELD_NUMBER: _ClassVar[int]
    TEAM_CREDIT_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    USERS_FIELD_NUMBER: _ClassVar[int]
    NOTICE_FIELD_NUMBER: _ClassVar[int]
    user_name: str
    team: str
    credit: float
    month_credit: float
    host_credit: float
    team_credit: float
    rank: int
    users: int
    notice: str
    def __init__(self, user_name: _Optional[str] = ..., team: _Optional[str] = ..., credit: _Optional[float] = ..., month_credit: _Optional[float] = ..., host_credit: _Optional[float] = ..., team_credit: _Optional[float] = ..., rank: _Optional[int] = ..., users: _Optional[int] = ..., notice: _Optional[str] = ...) -> None: ...

class HelloRequest(_message.Message):
    __slots__ = ("protocol_version", "client_version", "host_key", "host_name", "cores", "memory_mb", "platform", "workers", "speed", "held_leases")
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    CLIENT_VERSION_FIELD_NUMBER: _ClassVar[int]
    HOST_KEY_FIELD_NUMBER: _ClassVar[int]
    HOST_NAME_FIELD_NUMBER: _ClassVar[int]
    CORES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_MB_FIELD_NUMBER: _ClassVar[int]
    PLATFORM_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    SPEED_FIELD_NUMBER: _ClassVar[int]
    HELD_LEASES_FIELD_NUMBER: _ClassVar[int]
    protocol_version: int
    client_version: str
    host_key: bytes
    host_name: str
    cores: int
    memory_mb: int
    platform: str
    workers: int
    speed: int
    held_leases: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, protocol_version: _Optional[int] = ..., client_version: _Optional[str] = ..., host_key: _Optional[bytes] = ..., host_name: _Optional[str] = ..., cores: _Optional[int] = ..., memory_mb: _Optional[int] = ..., platform: _Optional[str] = ..., workers: _Optional[int] = ..., speed: _Optional[int] = ..., held_leases: _Optional[_Iterable[int]] = ...) -> None: ...

class HelloReply(_message.Message):
    __slots__ = ("protocol_version", "oldest_protocol_version", "server_version", "heartbeat_ms", "longest_wait_ms", "notice", "games", "store_ms")
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    OLDEST_PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    SERVER_VERSION_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_MS_FIELD_NUMBER: _ClassVar[int]
    LONGEST_WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    NOTICE_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    STORE_MS_FIELD_NUMBER: _ClassVar[int]
    protocol_version: int
    oldest_protocol_version: int
    server_version: str
    heartbeat_ms: int
    longest_wait_ms: int
    notice: str
    games: _containers.RepeatedScalarFieldContainer[str]
    store_ms: int
    def __init__(self, protocol_version: _Optional[int] = ..., oldest_protocol_version: _Optional[int] = ..., server_version: _Optional[str] = ..., heartbeat_ms: _Optional[int] = ..., longest_wait_ms: _Optional[int] = ..., notice: _Optional[str] = ..., games: _Optional[_Iterable[str]] = ..., store_ms: _Optional[int] = ...) -> None: ...

class DefinitionRequest(_message.Message):
    __slots__ = ("digest",)
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    digest: bytes
    def __init__(self, digest: _Optional[bytes] = ...) -> None: ...

class DefinitionReply(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: bytes
    def __init__(self, text: _Optional[bytes] = ...) -> None: ...

class RequestWorkRequest(_message.Message):
    __slots__ = ("host_key", "wanted", "speed", "wait_ms")
    HOST_KEY_FIELD_NUMBER: _ClassVar[int]
    WANTED_FIELD_NUMBER: _ClassVar[int]
    SPEED_FIELD_NUMBER: _ClassVar[int]
    WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    host_key: bytes
    wanted: int
    speed: int
    wait_ms: int
    def __init__(self, host_key: _Optional[bytes] = ..., wanted: _Optional[int] = ..., speed: _Optional[int] = ..., wait_ms: _Optional[int] = ...) -> None: ...

class RequestWorkReply(_message.Message):
    __slots__ = ("workunits", "no_work")
    WORKUNITS_FIELD_NUMBER: _ClassVar[int]
    NO_WORK_FIELD_NUMBER: _ClassVar[int]
    workunits: _containers.RepeatedCompositeFieldContainer[Workunit]
    no_work: NoWork
    def __init__(self, workunits: _Optional[_Iterable[_Union[Workunit, _Mapping]]] = ..., no_work: _Optional[_Union[NoWork, _Mapping]] = ...) -> None: ...

class Workunit(_message.Message):
    __slots__ = ("lease_id", "campaign_id", "game", "position", "history", "threshold", "node_budget", "lease_ms", "known")
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    CAMPAIGN_ID_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    NODE_BUDGET_FIELD_NUMBER: _ClassVar[int]
    LEASE_MS_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    lease_id: int
    campaign_id: int
    game: str
    position: bytes
    history: bytes
    threshold: int
    node_budget: int
    lease_ms: int
    known: KnownBounds
    def __init__(self, lease_id: _Optional[int] = ..., campaign_id: _Optional[int] = ..., game: _Optional[str] = ..., position: _Optional[bytes] = ..., history: _Optional[bytes] = ..., threshold: _Optional[int] = ..., node_budget: _Optional[int] = ..., lease_ms: _Optional[int] = ..., known: _Optional[_Union[KnownBounds, _Mapping]] = ...) -> None: ...

class KnownBounds(_message.Message):
    __slots__ = ("positions", "lo", "hi", "histories")
    POSITIONS_FIELD_NUMBER: _ClassVar[int]
    LO_FIELD_NUMBER: _ClassVar[int]
    HI_FIELD_NUMBER: _ClassVar[int]
    HISTORIES_FIELD_NUMBER: _ClassVar[int]
    positions: bytes
    lo: _containers.RepeatedScalarFieldContainer[int]
    hi: _containers.RepeatedScalarFieldContainer[int]
    histories: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, positions: _Optional[bytes] = ..., lo: _Optional[_Iterable[int]] = ..., hi: _Optional[_Iterable[int]] = ..., histories: _Optional[_Iterable[bytes]] = ...) -> None: ...

class NoWork(_message.Message):
    __slots__ = ("reason", "message", "retry_after_ms")
    class Reason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        REASON_UNSPECIFIED: _ClassVar[NoWork.Reason]
        NO_CAMPAIGN: _ClassVar[NoWork.Reason]
        PAUSED: _ClassVar[NoWork.Reason]
        ALL_LEASED: _ClassVar[NoWork.Reason]
        TOO_MANY_LEASES: _ClassVar[NoWork.Reason]
        STOPPING: _ClassVar[NoWork.Reason]
        OTHERS_ASKED: _ClassVar[NoWork.Reason]
    REASON_UNSPECIFIED: NoWork.Reason
    NO_CAMPAIGN: NoWork.Reason
    PAUSED: NoWork.Reason
    ALL_LEASED: NoWork.Reason
    TOO_MANY_LEASES: NoWork.Reason
    STOPPING: NoWork.Reason
    OTHERS_ASKED: NoWork.Reason
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    reason: NoWork.Reason
    message: str
    retry_after_ms: int
    def __init__(self, reason: _Optional[_Union[NoWork.Reason, str]] = ..., message: _Optional[str] = ..., retry_after_ms: _Optional[int] = ...) -> None: ...

class Result(_message.Message):
    __slots__ = ("lease_id", "answer", "lo", "hi", "nodes", "milliseconds", "proved")
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    LO_FIELD_NUMBER: _ClassVar[int]
    HI_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    PROVED_FIELD_NUMBER: _ClassVar[int]
    lease_id: int
    answer: Answer
    lo: int
    hi: int
    nodes: int
    milliseconds: int
    proved: KnownBounds
    def __init__(self, lease_id: _Optional[int] = ..., answer: _Optional[_Union[Answer, str]] = ..., lo: _Optional[int] = ..., hi: _Optional[int] = ..., nodes: _Optional[int] = ..., milliseconds: _Optional[int] = ..., proved: _Optional[_Union[KnownBounds, _Mapping]] = ...) -> None: ...

class SubmitResultsRequest(_message.Message):
    __slots__ = ("host_key", "results")
    HOST_KEY_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    host_key: bytes
    results: _containers.RepeatedCompositeFieldContainer[Result]
    def __init__(self, host_key: _Optional[bytes] = ..., results: _Optional[_Iterable[_Union[Result, _Mapping]]] = ...) -> None: ...

class SubmitResultsReply(_message.Message):
    __slots__ = ("receipts",)
    RECEIPTS_FIELD_NUMBER: _ClassVar[int]
    receipts: _containers.RepeatedCompositeFieldContainer[Receipt]
    def __init__(self, receipts: _Optional[_Iterable[_Union[Receipt, _Mapping]]] = ...) -> None: ...

class Receipt(_message.Message):
    __slots__ = ("lease_id", "status", "message")
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATUS_UNSPECIFIED: _ClassVar[Receipt.Status]
        ACCEPTED: _ClassVar[Receipt.Status]
        DUPLICATE: _ClassVar[Receipt.Status]
        LATE: _ClassVar[Receipt.Status]
        REFUSED: _ClassVar[Receipt.Status]
    STATUS_UNSPECIFIED: Receipt.Status
    ACCEPTED: Receipt.Status
    DUPLICATE: Receipt.Status
    LATE: Receipt.Status
    REFUSED: Receipt.Status
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    lease_id: int
    status: Receipt.Status
    message: str
    def __init__(self, lease_id: _Optional[int] = ..., status: _Optional[_Union[Receipt.Status, str]] = ..., message: _Optional[str] = ...) -> None: ...

class LeaseProgress(_message.Message):
    __slots__ = ("lease_id", "nodes", "done_permille")
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    DONE_PERMILLE_FIELD_NUMBER: _ClassVar[int]
    lease_id: int
    nodes: int
    done_permille: int
    def __init__(self, lease_id: _Optional[int] = ..., nodes: _Optional[int] = ..., done_permille: _Optional[int] = ...) -> None: ...

class HeartbeatRequest(_message.Message):
    __slots__ = ("host_key", "leases")
    HOST_KEY_FIELD_NUMBER: _ClassVar[int]
    LEASES_FIELD_NUMBER: _ClassVar[int]
    host_key: bytes
    leases: _containers.RepeatedCompositeFieldContainer[LeaseProgress]
    def __init__(self, host_key: _Optional[bytes] = ..., leases: _Optional[_Iterable[_Union[LeaseProgress, _Mapping]]] = ...) -> None: ...

class HeartbeatReply(_message.Message):
    __slots__ = ("leases", "next_heartbeat_ms")
    LEASES_FIELD_NUMBER: _ClassVar[int]
    NEXT_HEARTBEAT_MS_FIELD_NUMBER: _ClassVar[int]
    leases: _containers.RepeatedCompositeFieldContainer[LeaseUpdate]
    next_heartbeat_ms: int
    def __init__(self, leases: _Optional[_Iterable[_Union[LeaseUpdate, _Mapping]]] = ..., next_heartbeat_ms: _Optional[int] = ...) -> None: ...

class LeaseUpdate(_message.Message):
    __slots__ = ("lease_id", "directive", "cause", "lease_ms", "lo", "hi")
    class Directive(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DIRECTIVE_UNSPECIFIED: _ClassVar[LeaseUpdate.Directive]
        CONTINUE: _ClassVar[LeaseUpdate.Directive]
        DROP: _ClassVar[LeaseUpdate.Directive]
    DIRECTIVE_UNSPECIFIED: LeaseUpdate.Directive
    CONTINUE: LeaseUpdate.Directive
    DROP: LeaseUpdate.Directive
    class Cause(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        CAUSE_UNSPECIFIED: _ClassVar[LeaseUpdate.Cause]
        WITHDRAWN: _ClassVar[LeaseUpdate.Cause]
        EXPIRED: _ClassVar[LeaseUpdate.Cause]
        CAMPAIGN_FINISHED: _ClassVar[LeaseUpdate.Cause]
        CAMPAIGN_PAUSED: _ClassVar[LeaseUpdate.Cause]
        UNKNOWN: _ClassVar[LeaseUpdate.Cause]
    CAUSE_UNSPECIFIED: LeaseUpdate.Cause
    WITHDRAWN: LeaseUpdate.Cause
    EXPIRED: LeaseUpdate.Cause
    CAMPAIGN_FINISHED: LeaseUpdate.Cause
    CAMPAIGN_PAUSED: LeaseUpdate.Cause
    UNKNOWN: LeaseUpdate.Cause
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    DIRECTIVE_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    LEASE_MS_FIELD_NUMBER: _ClassVar[int]
    LO_FIELD_NUMBER: _ClassVar[int]
    HI_FIELD_NUMBER: _ClassVar[int]
    lease_id: int
    directive: LeaseUpdate.Directive
    cause: LeaseUpdate.Cause
    lease_ms: int
    lo: int
    hi: int
    def __init__(self, lease_id: _Optional[int] = ..., directive: _Optional[_Union[LeaseUpdate.Directive, str]] = ..., cause: _Optional[_Union[LeaseUpdate.Cause, str]] = ..., lease_ms: _Optional[int] = ..., lo: _Optional[int] = ..., hi: _Optional[int] = ...) -> None: ...

class ReturnedLease(_message.Message):
    __slots__ = ("lease_id", "cause", "nodes", "message")
    class Cause(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        CAUSE_UNSPECIFIED: _ClassVar[ReturnedLease.Cause]
        STOPPING: _ClassVar[ReturnedLease.Cause]
        FAILED: _ClassVar[ReturnedLease.Cause]
        DROPPED: _ClassVar[ReturnedLease.Cause]
    CAUSE_UNSPECIFIED: ReturnedLease.Cause
    STOPPING: ReturnedLease.Cause
    FAILED: ReturnedLease.Cause
    DROPPED: ReturnedLease.Cause
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    lease_id: int
    cause: ReturnedLease.Cause
    nodes: int
    message: str
    def __init__(self, lease_id: _Optional[int] = ..., cause: _Optional[_Union[ReturnedLease.Cause, str]] = ..., nodes: _Optional[int] = ..., message: _Optional[str] = ...) -> None: ...

class ReturnWorkRequest(_message.Message):
    __slots__ = ("host_key", "leases", "leaving")
    HOST_KEY_FIELD_NUMBER: _ClassVar[int]
    LEASES_FIELD_NUMBER: _ClassVar[int]
    LEAVING_FIELD_NUMBER: _ClassVar[int]
    host_key: bytes
    leases: _containers.RepeatedCompositeFieldContainer[ReturnedLease]
    leaving: bool
    def __init__(self, host_key: _Optional[bytes] = ..., leases: _Optional[_Iterable[_Union[ReturnedLease, _Mapping]]] = ..., leaving: _Optional[bool] = ...) -> None: ...

class ReturnWorkReply(_message.Message):
    __slots__ = ("returned",)
    RETURNED_FIELD_NUMBER: _ClassVar[int]
    returned: int
    def __init__(self, returned: _Optional[int] = ...) -> None: ...
