from google.protobuf import descriptor_pb2 as _descriptor_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROLE_UNSPECIFIED: _ClassVar[Role]
    ANYONE: _ClassVar[Role]
    VOLUNTEER: _ClassVar[Role]
    OPERATOR: _ClassVar[Role]
    RESEARCHER: _ClassVar[Role]
ROLE_UNSPECIFIED: Role
ANYONE: Role
VOLUNTEER: Role
OPERATOR: Role
RESEARCHER: Role
LIMIT_FIELD_NUMBER: _ClassVar[int]
limit: _descriptor.FieldDescriptor
ALLOWED_FIELD_NUMBER: _ClassVar[int]
allowed: _descriptor.FieldDescriptor

class Limit(_message.Message):
    __slots__ = ("max_bytes", "exact_bytes", "max_items", "min", "max", "required", "deferred")
    MAX_BYTES_FIELD_NUMBER: _ClassVar[int]
    EXACT_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_ITEMS_FIELD_NUMBER: _ClassVar[int]
    MIN_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    DEFERRED_FIELD_NUMBER: _ClassVar[int]
    max_bytes: int
    exact_bytes: int
    max_items: int
    min: int
    max: int
    required: bool
    deferred: bool
    def __init__(self, max_bytes: _Optional[int] = ..., exact_bytes: _Optional[int] = ..., max_items: _Optional[int] = ..., min: _Optional[int] = ..., max: _Optional[int] = ..., required: _Optional[bool] = ..., deferred: _Optional[bool] = ...) -> None: ...
