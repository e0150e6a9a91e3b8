from zermelo.proto import coordinator_pb2 as _coordinator_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ToWorker(_message.Message):
    __slots__ = ("prepare", "solve", "drop")
    class Prepare(_message.Message):
        __slots__ = ("game", "milliseconds")
        GAME_FIELD_NUMBER: _ClassVar[int]
        MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
        game: str
        milliseconds: int
        def __init__(self, game: _Optional[str] = ..., milliseconds: _Optional[int] = ...) -> None: ...
    class Solve(_message.Message):
        __slots__ = ("workunit", "resume")
        WORKUNIT_FIELD_NUMBER: _ClassVar[int]
        RESUME_FIELD_NUMBER: _ClassVar[int]
        workunit: _coordinator_pb2.Workunit
        resume: bool
        def __init__(self, workunit: _Optional[_Union[_coordinator_pb2.Workunit, _Mapping]] = ..., resume: _Optional[bool] = ...) -> None: ...
    class Drop(_message.Message):
        __slots__ = ("lease_id", "save")
        LEASE_ID_FIELD_NUMBER: _ClassVar[int]
        SAVE_FIELD_NUMBER: _ClassVar[int]
        lease_id: int
        save: bool
        def __init__(self, lease_id: _Optional[int] = ..., save: _Optional[bool] = ...) -> None: ...
    PREPARE_FIELD_NUMBER: _ClassVar[int]
    SOLVE_FIELD_NUMBER: _ClassVar[int]
    DROP_FIELD_NUMBER: _ClassVar[int]
    prepare: ToWorker.Prepare
    solve: ToWorker.Solve
    drop: ToWorker.Drop
    def __init__(self, prepare: _Optional[_Union[ToWorker.Prepare, _Mapping]] = ..., solve: _Optional[_Union[ToWorker.Solve, _Mapping]] = ..., drop: _Optional[_Union[ToWorker.Drop, _Mapping]] = ...) -> None: ...

class FromWorker(_message.Message):
    __slots__ = ("prepared", "progress", "result", "dropped", "failed", "note")
    class Prepared(_message.Message):
        __slots__ = ("game", "speed")
        GAME_FIELD_NUMBER: _ClassVar[int]
        SPEED_FIELD_NUMBER: _ClassVar[int]
        game: str
        speed: int
        def __init__(self, game: _Optional[str] = ..., speed: _Optional[int] = ...) -> None: ...
    class Dropped(_message.Message):
        __slots__ = ("lease_id", "nodes", "saved")
        LEASE_ID_FIELD_NUMBER: _ClassVar[int]
        NODES_FIELD_NUMBER: _ClassVar[int]
        SAVED_FIELD_NUMBER: _ClassVar[int]
        lease_id: int
        nodes: int
        saved: bool
        def __init__(self, lease_id: _Optional[int] = ..., nodes: _Optional[int] = ..., saved: _Optional[bool] = ...) -> None: ...
    class Failed(_message.Message):
        __slots__ = ("lease_id", "message")
        LEASE_ID_FIELD_NUMBER: _ClassVar[int]
        MESSAGE_FIELD_NUMBER: _ClassVar[int]
        lease_id: int
        message: str
        def __init__(self, lease_id: _Optional[int] = ..., message: _Optional[str] = ...) -> None: ...
    class Note(_message.Message):
        __slots__ = ("message",)
        MESSAGE_FIELD_NUMBER: _ClassVar[int]
        message: str
        def __init__(self, message: _Optional[str] = ...) -> None: ...
    PREPARED_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    prepared: FromWorker.Prepared
    progress: _coordinator_pb2.LeaseProgress
    result: _coordinator_pb2.Result
    dropped: FromWorker.Dropped
    failed: FromWorker.Failed
    note: FromWorker.Note
    def __init__(self, prepared: _Optional[_Union[FromWorker.Prepared, _Mapping]] = ..., progress: _Optional[_Union[_coordinator_pb2.LeaseProgress, _Mapping]] = ..., result: _Optional[_Union[_coordinator_pb2.Result, _Mapping]] = ..., dropped: _Optional[_Union[FromWorker.Dropped, _Mapping]] = ..., failed: _Optional[_Union[FromWorker.Failed, _Mapping]] = ..., note: _Optional[_Union[FromWorker.Note, _Mapping]] = ...) -> None: ...

class SavedSearch(_message.Message):
    __slots__ = ("workunit", "nodes", "milliseconds")
    WORKUNIT_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    workunit: _coordinator_pb2.Workunit
    nodes: int
    milliseconds: int
    def __init__(self, workunit: _Optional[_Union[_coordinator_pb2.Workunit, _Mapping]] = ..., nodes: _Optional[int] = ..., milliseconds: _Optional[int] = ...) -> None: ...
