"""Replies of a server that may be broken or hostile.

A caller trusts no server with its memory or its terminal. Four steps, in this order: gRPC
refuses a reply that is larger than its RPC's limit before the rest of it is received, the items
are counted on the wire, the parsed message is checked against the limits in the `.proto`, and
its texts become single lines without control characters.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor, ServiceDescriptor
from google.protobuf.message import DecodeError, Message

from zermelo import ZermeloError
from zermelo.proto.limits import LimitError, check, limit_of
from zermelo.proto.wire import check_wire
from zermelo.texts import one_line

#: The largest reply of any RPC. One workunit with all that its limits allow fits.
MAX_REPLY_BYTES = 8 * 1024 * 1024
#: Room for the fields of future releases.
LEAST_MAX_BYTES = 64 * 1024
#: Tag and length, or tag and value, of one field on the wire.
_FIELD_BYTES = 20


class ReplyError(ZermeloError, ValueError):
    """A reply is none that the protocol allows; the message says what is wrong with it."""


def reply_parser(kind: Any) -> Callable[[bytes], Any]:
    """Makes a checked message of a reply's bytes, or the `ReplyError` that says why not.

    The error is returned because gRPC would only log it, with its traceback, if it were raised.
    """

    def parse(data: bytes) -> Any:
        try:
            check_wire(kind.DESCRIPTOR, data)
            reply = kind.FromString(data)
            check(reply)
        except (LimitError, DecodeError) as error:
            return ReplyError(one_line(str(error)))
        _clean(reply)
        return reply

    return parse


def channel_options(service: ServiceDescriptor) -> tuple[tuple[str, Any], ...]:
    """What makes gRPC itself refuse replies that are too large, or compressed."""
    methods = [
        {
            "name": [{"service": service.full_name, "method": method.name}],
            "maxResponseMessageBytes": max_reply_bytes(method.output_type),
        }
        for method in service.methods
    ]
    return (
        ("grpc.max_receive_message_length", MAX_REPLY_BYTES),
        ("grpc.service_config", json.dumps({"methodConfig": methods})),
        # Only ever "identity": what is not decompressed cannot burst.
        ("grpc.compression_enabled_algorithms_bitset", 1),
        ("grpc.per_message_decompression", 0),
    )


@cache
def max_reply_bytes(descriptor: Descriptor) -> int:
    """Twice what the limits of a reply's fields allow, and never more than MAX_REPLY_BYTES."""
    return min(MAX_REPLY_BYTES, max(LEAST_MAX_BYTES, 2 * _largest(descriptor, ())))


def _largest(descriptor: Descriptor, within: tuple[Descriptor, ...]) -> int:
    if descriptor in within:
        return MAX_REPLY_BYTES
    total = 0
    for field in descriptor.fields:
        rule, size = limit_of(field), 0
        if field.message_type is not None:
            size = _largest(field.message_type, (*within, descriptor))
        elif field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES):
            size = rule.exact_bytes or rule.max_bytes or MAX_REPLY_BYTES
        total += (size + _FIELD_BYTES) * (rule.max_items if field.is_repeated else 1)
    return total


def _clean(message: Message) -> None:
    """Make every text of a message one line that a terminal can show."""
    texts, messages = _text_fields(message.DESCRIPTOR)
    for field in texts:
        value = getattr(message, field.name)
        if field.is_repeated:
            value[:] = [one_line(text) for text in value]
        elif value:
            setattr(message, field.name, one_line(value))
    for field in messages:
        if field.is_repeated:
            for item in getattr(message, field.name):
                _clean(item)
        elif message.HasField(field.name):
            _clean(getattr(message, field.name))


@cache
def _text_fields(
    descriptor: Descriptor,
) -> tuple[tuple[FieldDescriptor, ...], tuple[FieldDescriptor, ...]]:
    """The fields that are texts, and those whose messages hold some."""
    texts, messages = [], []
    for field in descriptor.fields:
        if field.type == FieldDescriptor.TYPE_STRING:
            texts.append(field)
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            messages.append(field)
    return tuple(texts), tuple(messages)
