import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from zermelo.proto import limits_pb2 as _limits_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AskCampaignsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class AskCampaignsReply(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, answer: _Optional[_Iterable[str]] = ...) -> None: ...

class AskStandingsRequest(_message.Message):
    __slots__ = ("most", "skip")
    MOST_FIELD_NUMBER: _ClassVar[int]
    SKIP_FIELD_NUMBER: _ClassVar[int]
    most: int
    skip: int
    def __init__(self, most: _Optional[int] = ..., skip: _Optional[int] = ...) -> None: ...

class AskStandingsReply(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: _containers.RepeatedCompositeFieldContainer[Summary]
    def __init__(self, answer: _Optional[_Iterable[_Union[Summary, _Mapping]]] = ...) -> None: ...

class AskClaimsRequest(_message.Message):
    __slots__ = ("name", "most", "skip")
    NAME_FIELD_NUMBER: _ClassVar[int]
    MOST_FIELD_NUMBER: _ClassVar[int]
    SKIP_FIELD_NUMBER: _ClassVar[int]
    name: str
    most: int
    skip: int
    def __init__(self, name: _Optional[str] = ..., most: _Optional[int] = ..., skip: _Optional[int] = ...) -> None: ...

class AskClaimsReply(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: _containers.RepeatedCompositeFieldContainer[ClaimReport]
    def __init__(self, answer: _Optional[_Iterable[_Union[ClaimReport, _Mapping]]] = ...) -> None: ...

class AskTeamsRequest(_message.Message):
    __slots__ = ("most",)
    MOST_FIELD_NUMBER: _ClassVar[int]
    most: int
    def __init__(self, most: _Optional[int] = ...) -> None: ...

class AskTeamsReply(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: _containers.RepeatedCompositeFieldContainer[TeamRecord]
    def __init__(self, answer: _Optional[_Iterable[_Union[TeamRecord, _Mapping]]] = ...) -> None: ...

class AskVolunteersRequest(_message.Message):
    __slots__ = ("most",)
    MOST_FIELD_NUMBER: _ClassVar[int]
    most: int
    def __init__(self, most: _Optional[int] = ...) -> None: ...

class AskVolunteersReply(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: _containers.RepeatedCompositeFieldContainer[VolunteerRecord]
    def __init__(self, answer: _Optional[_Iterable[_Union[VolunteerRecord, _Mapping]]] = ...) -> None: ...

class AskClaimTotalsRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class AskClaimTotalsReply(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: ClaimTotals
    def __init__(self, answer: _Optional[_Union[ClaimTotals, _Mapping]] = ...) -> None: ...

class AskSubjectRequest(_message.Message):
    __slots__ = ("campaign",)
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    def __init__(self, campaign: _Optional[str] = ...) -> None: ...

class AskSubjectReply(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: Subject
    def __init__(self, answer: _Optional[_Union[Subject, _Mapping]] = ...) -> None: ...

class AskStandingRequest(_message.Message):
    __slots__ = ("campaign",)
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    def __init__(self, campaign: _Optional[str] = ...) -> None: ...

class AskStandingReply(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: Summary
    def __init__(self, answer: _Optional[_Union[Summary, _Mapping]] = ...) -> None: ...

class AskProgressRequest(_message.Message):
    __slots__ = ("campaign", "most")
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    MOST_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    most: int
    def __init__(self, campaign: _Optional[str] = ..., most: _Optional[int] = ...) -> None: ...

class AskProgressReply(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: _containers.RepeatedCompositeFieldContainer[ProgressPoint]
    def __init__(self, answer: _Optional[_Iterable[_Union[ProgressPoint, _Mapping]]] = ...) -> None: ...

class AskOpenQuestionsRequest(_message.Message):
    __slots__ = ("campaign",)
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    def __init__(self, campaign: _Optional[str] = ...) -> None: ...

class AskOpenQuestionsReply(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: _containers.RepeatedCompositeFieldContainer[OpenLevel]
    def __init__(self, answer: _Optional[_Iterable[_Union[OpenLevel, _Mapping]]] = ...) -> None: ...

class AskPositionRequest(_message.Message):
    __slots__ = ("campaign", "position", "moves")
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    position: str
    moves: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, campaign: _Optional[str] = ..., position: _Optional[str] = ..., moves: _Optional[_Iterable[str]] = ...) -> None: ...

class AskPositionReply(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: PositionReport
    def __init__(self, answer: _Optional[_Union[PositionReport, _Mapping]] = ...) -> None: ...

class AskLineRequest(_message.Message):
    __slots__ = ("campaign", "position", "moves")
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    position: str
    moves: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, campaign: _Optional[str] = ..., position: _Optional[str] = ..., moves: _Optional[_Iterable[str]] = ...) -> None: ...

class AskLineReply(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: _containers.RepeatedCompositeFieldContainer[LineStep]
    def __init__(self, answer: _Optional[_Iterable[_Union[LineStep, _Mapping]]] = ...) -> None: ...

class AskLevelsRequest(_message.Message):
    __slots__ = ("campaign", "depth")
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    depth: int
    def __init__(self, campaign: _Optional[str] = ..., depth: _Optional[int] = ...) -> None: ...

class AskLevelsReply(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: _containers.RepeatedCompositeFieldContainer[Level]
    def __init__(self, answer: _Optional[_Iterable[_Union[Level, _Mapping]]] = ...) -> None: ...

class AskContributorsRequest(_message.Message):
    __slots__ = ("campaign", "most")
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    MOST_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    most: int
    def __init__(self, campaign: _Optional[str] = ..., most: _Optional[int] = ...) -> None: ...

class AskContributorsReply(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: _containers.RepeatedCompositeFieldContainer[Contributor]
    def __init__(self, answer: _Optional[_Iterable[_Union[Contributor, _Mapping]]] = ...) -> None: ...

class AskHostsRequest(_message.Message):
    __slots__ = ("campaign", "most")
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    MOST_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    most: int
    def __init__(self, campaign: _Optional[str] = ..., most: _Optional[int] = ...) -> None: ...

class AskHostsReply(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: _containers.RepeatedCompositeFieldContainer[HostRecord]
    def __init__(self, answer: _Optional[_Iterable[_Union[HostRecord, _Mapping]]] = ...) -> None: ...

class AskWorkunitRequest(_message.Message):
    __slots__ = ("campaign", "number")
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    number: int
    def __init__(self, campaign: _Optional[str] = ..., number: _Optional[int] = ...) -> None: ...

class AskWorkunitReply(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: WorkunitReport
    def __init__(self, answer: _Optional[_Union[WorkunitReport, _Mapping]] = ...) -> None: ...

class AskWorkunitsRequest(_message.Message):
    __slots__ = ("campaign", "most", "before")
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    MOST_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    most: int
    before: int
    def __init__(self, campaign: _Optional[str] = ..., most: _Optional[int] = ..., before: _Optional[int] = ...) -> None: ...

class AskWorkunitsReply(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: _containers.RepeatedCompositeFieldContainer[WorkunitRecord]
    def __init__(self, answer: _Optional[_Iterable[_Union[WorkunitRecord, _Mapping]]] = ...) -> None: ...

class AskResultsRequest(_message.Message):
    __slots__ = ("campaign", "most", "before")
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    MOST_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    most: int
    before: int
    def __init__(self, campaign: _Optional[str] = ..., most: _Optional[int] = ..., before: _Optional[int] = ...) -> None: ...

class AskResultsReply(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: _containers.RepeatedCompositeFieldContainer[ResultRecord]
    def __init__(self, answer: _Optional[_Iterable[_Union[ResultRecord, _Mapping]]] = ...) -> None: ...

class Subject(_message.Message):
    __slots__ = ("campaign", "game", "position")
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    game: str
    position: str
    def __init__(self, campaign: _Optional[str] = ..., game: _Optional[str] = ..., position: _Optional[str] = ...) -> None: ...

class Summary(_message.Message):
    __slots__ = ("campaign", "game", "goal", "state", "threshold", "bounds", "value", "outcome", "line", "tree_nodes", "workunits", "answered", "splits", "withdrawn", "ready", "leased", "returned", "nodes", "wasted_nodes", "split_nodes", "engine_seconds", "open_questions", "remaining", "remaining_factor", "alarms", "seconds")
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    GOAL_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    BOUNDS_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    TREE_NODES_FIELD_NUMBER: _ClassVar[int]
    WORKUNITS_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_FIELD_NUMBER: _ClassVar[int]
    SPLITS_FIELD_NUMBER: _ClassVar[int]
    WITHDRAWN_FIELD_NUMBER: _ClassVar[int]
    READY_FIELD_NUMBER: _ClassVar[int]
    LEASED_FIELD_NUMBER: _ClassVar[int]
    RETURNED_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    WASTED_NODES_FIELD_NUMBER: _ClassVar[int]
    SPLIT_NODES_FIELD_NUMBER: _ClassVar[int]
    ENGINE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    OPEN_QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    REMAINING_FIELD_NUMBER: _ClassVar[int]
    REMAINING_FACTOR_FIELD_NUMBER: _ClassVar[int]
    ALARMS_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    game: str
    goal: str
    state: str
    threshold: int
    bounds: _containers.RepeatedScalarFieldContainer[int]
    value: int
    outcome: str
    line: _containers.RepeatedScalarFieldContainer[str]
    tree_nodes: int
    workunits: int
    answered: int
    splits: int
    withdrawn: int
    ready: int
    leased: int
    returned: int
    nodes: int
    wasted_nodes: int
    split_nodes: int
    engine_seconds: float
    open_questions: int
    remaining: float
    remaining_factor: float
    alarms: int
    seconds: float
    def __init__(self, campaign: _Optional[str] = ..., game: _Optional[str] = ..., goal: _Optional[str] = ..., state: _Optional[str] = ..., threshold: _Optional[int] = ..., bounds: _Optional[_Iterable[int]] = ..., value: _Optional[int] = ..., outcome: _Optional[str] = ..., line: _Optional[_Iterable[str]] = ..., tree_nodes: _Optional[int] = ..., workunits: _Optional[int] = ..., answered: _Optional[int] = ..., splits: _Optional[int] = ..., withdrawn: _Optional[int] = ..., ready: _Optional[int] = ..., leased: _Optional[int] = ..., returned: _Optional[int] = ..., nodes: _Optional[int] = ..., wasted_nodes: _Optional[int] = ..., split_nodes: _Optional[int] = ..., engine_seconds: _Optional[float] = ..., open_questions: _Optional[int] = ..., remaining: _Optional[float] = ..., remaining_factor: _Optional[float] = ..., alarms: _Optional[int] = ..., seconds: _Optional[float] = ...) -> None: ...

class ProgressPoint(_message.Message):
    __slots__ = ("at", "lo", "hi", "threshold", "open_questions", "ready", "leased", "tree_nodes", "nodes", "wasted_nodes", "split_nodes", "remaining", "remaining_factor")
    AT_FIELD_NUMBER: _ClassVar[int]
    LO_FIELD_NUMBER: _ClassVar[int]
    HI_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    OPEN_QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    READY_FIELD_NUMBER: _ClassVar[int]
    LEASED_FIELD_NUMBER: _ClassVar[int]
    TREE_NODES_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    WASTED_NODES_FIELD_NUMBER: _ClassVar[int]
    SPLIT_NODES_FIELD_NUMBER: _ClassVar[int]
    REMAINING_FIELD_NUMBER: _ClassVar[int]
    REMAINING_FACTOR_FIELD_NUMBER: _ClassVar[int]
    at: _timestamp_pb2.Timestamp
    lo: int
    hi: int
    threshold: int
    open_questions: int
    ready: int
    leased: int
    tree_nodes: int
    nodes: int
    wasted_nodes: int
    split_nodes: int
    remaining: float
    remaining_factor: float
    def __init__(self, at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., lo: _Optional[int] = ..., hi: _Optional[int] = ..., threshold: _Optional[int] = ..., open_questions: _Optional[int] = ..., ready: _Optional[int] = ..., leased: _Optional[int] = ..., tree_nodes: _Optional[int] = ..., nodes: _Optional[int] = ..., wasted_nodes: _Optional[int] = ..., split_nodes: _Optional[int] = ..., remaining: _Optional[float] = ..., remaining_factor: _Optional[float] = ...) -> None: ...

class OpenLevel(_message.Message):
    __slots__ = ("ply", "ready", "leased", "expected")
    PLY_FIELD_NUMBER: _ClassVar[int]
    READY_FIELD_NUMBER: _ClassVar[int]
    LEASED_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    ply: int
    ready: int
    leased: int
    expected: float
    def __init__(self, ply: _Optional[int] = ..., ready: _Optional[int] = ..., leased: _Optional[int] = ..., expected: _Optional[float] = ...) -> None: ...

class Worth(_message.Message):
    __slots__ = ("proof_state", "lo", "hi")
    PROOF_STATE_FIELD_NUMBER: _ClassVar[int]
    LO_FIELD_NUMBER: _ClassVar[int]
    HI_FIELD_NUMBER: _ClassVar[int]
    proof_state: str
    lo: int
    hi: int
    def __init__(self, proof_state: _Optional[str] = ..., lo: _Optional[int] = ..., hi: _Optional[int] = ...) -> None: ...

class MoveWorth(_message.Message):
    __slots__ = ("move", "worth", "best", "secures")
    MOVE_FIELD_NUMBER: _ClassVar[int]
    WORTH_FIELD_NUMBER: _ClassVar[int]
    BEST_FIELD_NUMBER: _ClassVar[int]
    SECURES_FIELD_NUMBER: _ClassVar[int]
    move: str
    worth: Worth
    best: bool
    secures: bool
    def __init__(self, move: _Optional[str] = ..., worth: _Optional[_Union[Worth, _Mapping]] = ..., best: _Optional[bool] = ..., secures: _Optional[bool] = ...) -> None: ...

class Provenance(_message.Message):
    __slots__ = ("result", "workunit", "lo", "hi", "answer", "nodes", "seconds", "received_at", "host", "host_name", "user")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    WORKUNIT_FIELD_NUMBER: _ClassVar[int]
    LO_FIELD_NUMBER: _ClassVar[int]
    HI_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_AT_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    HOST_NAME_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    result: int
    workunit: int
    lo: int
    hi: int
    answer: str
    nodes: int
    seconds: float
    received_at: _timestamp_pb2.Timestamp
    host: int
    host_name: str
    user: str
    def __init__(self, result: _Optional[int] = ..., workunit: _Optional[int] = ..., lo: _Optional[int] = ..., hi: _Optional[int] = ..., answer: _Optional[str] = ..., nodes: _Optional[int] = ..., seconds: _Optional[float] = ..., received_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., host: _Optional[int] = ..., host_name: _Optional[str] = ..., user: _Optional[str] = ...) -> None: ...

class PositionReport(_message.Message):
    __slots__ = ("position", "node", "worth", "expanded", "moves", "provenance")
    POSITION_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    WORTH_FIELD_NUMBER: _ClassVar[int]
    EXPANDED_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    position: str
    node: int
    worth: Worth
    expanded: bool
    moves: _containers.RepeatedCompositeFieldContainer[MoveWorth]
    provenance: _containers.RepeatedCompositeFieldContainer[Provenance]
    def __init__(self, position: _Optional[str] = ..., node: _Optional[int] = ..., worth: _Optional[_Union[Worth, _Mapping]] = ..., expanded: _Optional[bool] = ..., moves: _Optional[_Iterable[_Union[MoveWorth, _Mapping]]] = ..., provenance: _Optional[_Iterable[_Union[Provenance, _Mapping]]] = ...) -> None: ...

class LineStep(_message.Message):
    __slots__ = ("side", "move", "worth", "source")
    SIDE_FIELD_NUMBER: _ClassVar[int]
    MOVE_FIELD_NUMBER: _ClassVar[int]
    WORTH_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    side: str
    move: str
    worth: Worth
    source: str
    def __init__(self, side: _Optional[str] = ..., move: _Optional[str] = ..., worth: _Optional[_Union[Worth, _Mapping]] = ..., source: _Optional[str] = ...) -> None: ...

class Level(_message.Message):
    __slots__ = ("ply", "nodes", "frontier", "proved", "bounded", "unknown")
    PLY_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    FRONTIER_FIELD_NUMBER: _ClassVar[int]
    PROVED_FIELD_NUMBER: _ClassVar[int]
    BOUNDED_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    ply: int
    nodes: int
    frontier: int
    proved: int
    bounded: int
    unknown: int
    def __init__(self, ply: _Optional[int] = ..., nodes: _Optional[int] = ..., frontier: _Optional[int] = ..., proved: _Optional[int] = ..., bounded: _Optional[int] = ..., unknown: _Optional[int] = ...) -> None: ...

class Contributor(_message.Message):
    __slots__ = ("name", "hosts", "results", "accepted", "refused", "nodes", "seconds", "last_at")
    NAME_FIELD_NUMBER: _ClassVar[int]
    HOSTS_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    LAST_AT_FIELD_NUMBER: _ClassVar[int]
    name: str
    hosts: int
    results: int
    accepted: int
    refused: int
    nodes: int
    seconds: float
    last_at: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., hosts: _Optional[int] = ..., results: _Optional[int] = ..., accepted: _Optional[int] = ..., refused: _Optional[int] = ..., nodes: _Optional[int] = ..., seconds: _Optional[float] = ..., last_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class HostRecord(_message.Message):
    __slots__ = ("host", "name", "user", "version", "workers", "results", "accepted", "refused", "nodes", "seconds", "seen_at")
    HOST_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    SEEN_AT_FIELD_NUMBER: _ClassVar[int]
    host: int
    name: str
    user: str
    version: str
    workers: int
    results: int
    accepted: int
    refused: int
    nodes: int
    seconds: float
    seen_at: _timestamp_pb2.Timestamp
    def __init__(self, host: _Optional[int] = ..., name: _Optional[str] = ..., user: _Optional[str] = ..., version: _Optional[str] = ..., workers: _Optional[int] = ..., results: _Optional[int] = ..., accepted: _Optional[int] = ..., refused: _Optional[int] = ..., nodes: _Optional[int] = ..., seconds: _Optional[float] = ..., seen_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ResultRecord(_message.Message):
    __slots__ = ("result", "workunit", "answer", "lo", "hi", "state", "nodes", "seconds", "late", "received_at", "host", "host_name", "user")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    WORKUNIT_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    LO_FIELD_NUMBER: _ClassVar[int]
    HI_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    LATE_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_AT_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    HOST_NAME_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    result: int
    workunit: int
    answer: str
    lo: int
    hi: int
    state: str
    nodes: int
    seconds: float
    late: bool
    received_at: _timestamp_pb2.Timestamp
    host: int
    host_name: str
    user: str
    def __init__(self, result: _Optional[int] = ..., workunit: _Optional[int] = ..., answer: _Optional[str] = ..., lo: _Optional[int] = ..., hi: _Optional[int] = ..., state: _Optional[str] = ..., nodes: _Optional[int] = ..., seconds: _Optional[float] = ..., late: _Optional[bool] = ..., received_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., host: _Optional[int] = ..., host_name: _Optional[str] = ..., user: _Optional[str] = ...) -> None: ...

class WorkunitReport(_message.Message):
    __slots__ = ("workunit", "node", "threshold", "state", "ply", "plies_left", "guess", "expected", "node_budget", "created_at", "position", "results")
    WORKUNIT_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    PLY_FIELD_NUMBER: _ClassVar[int]
    PLIES_LEFT_FIELD_NUMBER: _ClassVar[int]
    GUESS_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    NODE_BUDGET_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    workunit: int
    node: int
    threshold: int
    state: str
    ply: int
    plies_left: int
    guess: int
    expected: float
    node_budget: int
    created_at: _timestamp_pb2.Timestamp
    position: str
    results: _containers.RepeatedCompositeFieldContainer[ResultRecord]
    def __init__(self, workunit: _Optional[int] = ..., node: _Optional[int] = ..., threshold: _Optional[int] = ..., state: _Optional[str] = ..., ply: _Optional[int] = ..., plies_left: _Optional[int] = ..., guess: _Optional[int] = ..., expected: _Optional[float] = ..., node_budget: _Optional[int] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., position: _Optional[str] = ..., results: _Optional[_Iterable[_Union[ResultRecord, _Mapping]]] = ...) -> None: ...

class WorkunitRecord(_message.Message):
    __slots__ = ("workunit", "threshold", "state", "ply", "plies_left", "expected", "created_at", "results")
    WORKUNIT_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    PLY_FIELD_NUMBER: _ClassVar[int]
    PLIES_LEFT_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    workunit: int
    threshold: int
    state: str
    ply: int
    plies_left: int
    expected: float
    created_at: _timestamp_pb2.Timestamp
    results: int
    def __init__(self, workunit: _Optional[int] = ..., threshold: _Optional[int] = ..., state: _Optional[str] = ..., ply: _Optional[int] = ..., plies_left: _Optional[int] = ..., expected: _Optional[float] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., results: _Optional[int] = ...) -> None: ...

class TeamRecord(_message.Message):
    __slots__ = ("name", "description", "founder", "created_at", "credit", "month_credit", "members", "average_credit")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    FOUNDER_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    MONTH_CREDIT_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    AVERAGE_CREDIT_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    founder: str
    created_at: _timestamp_pb2.Timestamp
    credit: float
    month_credit: float
    members: int
    average_credit: float
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., founder: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., credit: _Optional[float] = ..., month_credit: _Optional[float] = ..., members: _Optional[int] = ..., average_credit: _Optional[float] = ...) -> None: ...

class VolunteerRecord(_message.Message):
    __slots__ = ("name", "team", "created_at", "credit", "month_credit", "average_credit", "results", "hosts")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TEAM_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    MONTH_CREDIT_FIELD_NUMBER: _ClassVar[int]
    AVERAGE_CREDIT_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    HOSTS_FIELD_NUMBER: _ClassVar[int]
    name: str
    team: str
    created_at: _timestamp_pb2.Timestamp
    credit: float
    month_credit: float
    average_credit: float
    results: int
    hosts: int
    def __init__(self, name: _Optional[str] = ..., team: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., credit: _Optional[float] = ..., month_credit: _Optional[float] = ..., average_credit: _Optional[float] = ..., results: _Optional[int] = ..., hosts: _Optional[int] = ...) -> None: ...

class ClaimTotals(_message.Message):
    __slots__ = ("claims", "confirmed", "refuted", "open", "nodes", "remaining", "without_estimate")
    CLAIMS_FIELD_NUMBER: _ClassVar[int]
    CONFIRMED_FIELD_NUMBER: _ClassVar[int]
    REFUTED_FIELD_NUMBER: _ClassVar[int]
    OPEN_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    REMAINING_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_ESTIMATE_FIELD_NUMBER: _ClassVar[int]
    claims: int
    confirmed: int
    refuted: int
    open: int
    nodes: int
    remaining: float
    without_estimate: int
    def __init__(self, claims: _Optional[int] = ..., confirmed: _Optional[int] = ..., refuted: _Optional[int] = ..., open: _Optional[int] = ..., nodes: _Optional[int] = ..., remaining: _Optional[float] = ..., without_estimate: _Optional[int] = ...) -> None: ...

class ClaimReport(_message.Message):
    __slots__ = ("campaign", "position", "lower", "upper", "worth", "state")
    CAMPAIGN_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    LOWER_FIELD_NUMBER: _ClassVar[int]
    UPPER_FIELD_NUMBER: _ClassVar[int]
    WORTH_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    campaign: str
    position: str
    lower: int
    upper: int
    worth: Worth
    state: str
    def __init__(self, campaign: _Optional[str] = ..., position: _Optional[str] = ..., lower: _Optional[int] = ..., upper: _Optional[int] = ..., worth: _Optional[_Union[Worth, _Mapping]] = ..., state: _Optional[str] = ...) -> None: ...
