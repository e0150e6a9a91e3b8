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
from zermelo.proto.wire import check_wire, largest_bytes
from zermelo.texts import LONGEST, one_line

#: The largest reply to a volunteer. Fifteen workunits with all that their limits allow fit.
MAX_REPLY_BYTES = 4 * 1024 * 1024
#: More fields than any reply within its limits has on the wire, nested ones included.
MAX_FIELDS = 524_288
#: Room for the fields of future releases.
LEAST_MAX_BYTES = 64 * 1024


class ReplyError(ZermeloError, ValueError):
    """A reply is none that the protocol allows; the message says what is wrong with it."""


def reply_parser(kind: Any) -> Callable[[bytes], Any]:
    """Makes a checked message of a reply's bytes, or the `ReplyError` that says why not.

    The error is returned because gRPC would only log it, with its traceback, if it were raised.
    """

    def parse(data: bytes) -> Any:
        try:
            check_wire(kind.DESCRIPTOR, data, MAX_FIELDS)
            reply = kind.FromString(data)
            check(reply)
        except (LimitError, DecodeError) as error:
            return ReplyError(one_line(str(error)))
        _clean(reply)
        return reply

    return parse


def channel_options(
    service: ServiceDescriptor, most: int = MAX_REPLY_BYTES
) -> tuple[tuple[str, Any], ...]:
    """What makes gRPC itself refuse replies that are too large (at most `most` bytes), or
    compressed."""
    methods = [
        {
            "name": [{"service": service.full_name, "method": method.name}],
            "maxResponseMessageBytes": max_reply_bytes(method.output_type, most),
        }
        for method in service.methods
    ]
    return (
        ("grpc.max_receive_message_length", most),
        ("grpc.service_config", json.dumps({"methodConfig": methods})),
        # Only ever "identity": what is not decompressed cannot burst.
        ("grpc.compression_enabled_algorithms_bitset", 1),
        ("grpc.per_message_decompression", 0),
    )


@cache
def max_reply_bytes(descriptor: Descriptor, most: int = MAX_REPLY_BYTES) -> int:
    """Twice what the limits of a reply's fields allow, and never more than `most`."""
    return min(most, max(LEAST_MAX_BYTES, 2 * largest_bytes(descriptor)))


def _clean(message: Message) -> None:
    """Make every text of a message one line that a terminal can show."""
    texts, messages = _text_fields(message.DESCRIPTOR)
    for field, longest in texts:
        value = getattr(message, field.name)
        if field.is_repeated:
            value[:] = [one_line(text, longest) for text in value]
        elif value:
            setattr(message, field.name, one_line(value, longest))
    for field in messages:
        if field.is_repeated:
            for item in getattr(message, field.name):
                _clean(item)
        elif message.HasField(field.name):
            _clean(getattr(message, field.name))


@cache
def _text_fields(
    descriptor: Descriptor,
) -> tuple[tuple[tuple[FieldDescriptor, int], ...], tuple[FieldDescriptor, ...]]:
    """The fields that are texts, each with its longest, and those whose messages hold some."""
    texts, messages = [], []
    for field in descriptor.fields:
        if field.type == FieldDescriptor.TYPE_STRING:
            texts.append((field, max(LONGEST, limit_of(field).max_bytes)))
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            messages.append(field)
    return tuple(texts), tuple(messages)
