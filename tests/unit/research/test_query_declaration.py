"""Each query is declared once: wire, tree and document agree with the declaration."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import fields
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from zermelo.proto.service import RESEARCH
from zermelo.research import document
from zermelo.research.api import TreeCampaigns
from zermelo.research.queries import (
    BY_RPC,
    OF_ONE_CAMPAIGN,
    Campaigns,
    Queries,
    Query,
    declared_in,
)
from zermelo.research.tree_queries import TreeQueries

FORMER = (Path(__file__).parent / "research_v1.txt").read_text().splitlines()
DOCUMENT = Path(__file__).parents[3] / "docs" / "research.md"
INTEGERS = {
    FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_SINT32,
    FieldDescriptor.TYPE_UINT32,
}  # fmt: skip
KINDS: dict[type, set[int]] = {
    int: INTEGERS, bool: {FieldDescriptor.TYPE_BOOL}, float: {FieldDescriptor.TYPE_DOUBLE},
    str: {FieldDescriptor.TYPE_STRING},
}  # fmt: skip
every_query = pytest.mark.parametrize("asked", BY_RPC.values(), ids=BY_RPC)


def field_differs(hint: Any, field: FieldDescriptor) -> bool:
    """Whether a field cannot hold exactly what the annotation says."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is UnionType:
        (hint,) = (part for part in parts if part is not NoneType)
        return not field.has_presence or kind_differs(hint, field)
    if origin in (list, tuple, Iterable):
        return not field.is_repeated or kind_differs(parts[0], field)
    scalar = field.message_type is None
    return field.is_repeated or (scalar and field.has_presence) or kind_differs(hint, field)


def kind_differs(hint: Any, field: FieldDescriptor) -> bool:
    if hint is datetime:
        return field.message_type is None or field.message_type.name != "Timestamp"
    if field.message_type is not None:
        return message_differs(hint, field.message_type)
    return field.type not in KINDS[str if issubclass(hint, StrEnum) else hint]


def message_differs(kind: Any, message: Descriptor) -> bool:
    hints = get_type_hints(kind)
    return (
        kind.__name__ != message.name
        or {field.name for field in fields(kind)} != set(message.fields_by_name)
        or any(field_differs(hints[field.name], field) for field in message.fields)
    )


def query_differs(asked: Query) -> bool:
    """Whether the RPC of a query asks for or answers anything else."""
    method = RESEARCH.methods_by_name[asked.rpc]
    parameters = dict(asked.parameters)
    if asked in OF_ONE_CAMPAIGN:
        parameters["campaign"] = str
    answer = method.output_type.fields_by_name["answer"]
    return (
        set(parameters) != set(method.input_type.fields_by_name)
        or any(field_differs(hint, method.input_type.fields_by_name[name])
               for name, hint in parameters.items())
        or asked.many != answer.is_repeated
        or kind_differs(asked.reply, answer)
    )


def test_every_rpc_is_a_query() -> None:
    assert set(BY_RPC) == set(RESEARCH.methods_by_name)


@every_query
def test_the_wire_agrees(asked: Query) -> None:
    assert not query_differs(asked)


def test_a_difference_is_found() -> None:
    def hosts(self: Any, least: int = 1) -> list[str]:
        raise NotImplementedError

    def progress(self: Any, most: str = "") -> list[str]:
        raise NotImplementedError

    assert query_differs(Query("hosts", "AskHosts", hosts))
    assert query_differs(Query("progress", "AskProgress", progress))
    assert query_differs(Query("results", "AskHosts", BY_RPC["AskResults"].declared))


def test_the_wire_of_the_former_version_is_kept() -> None:
    """Fields and RPCs may be added; none may change its number or its type."""
    now = {f"rpc {method.name} {method.input_type.name} {method.output_type.name}"
           for method in RESEARCH.methods}
    for message in RESEARCH.file.message_types_by_name.values():
        for field in message.fields:
            kind = field.message_type.full_name if field.message_type else field.type
            many = "repeated" if field.is_repeated else "single"
            now.add(f"field {message.name}.{field.name} {field.number} {kind} {many}")
    assert len(FORMER) > 150
    assert set(FORMER) <= now


@every_query
def test_the_tree_answers_with_the_same_parameters(asked: Query) -> None:
    tree = TreeQueries if asked in OF_ONE_CAMPAIGN else TreeCampaigns
    answering = inspect.signature(getattr(tree, f"_{asked.name}"))
    assert list(answering.parameters) == ["self", *asked.parameters]
    hints = get_type_hints(getattr(tree, f"_{asked.name}"))
    declared = get_type_hints(asked.declared)
    assert hints == declared


@every_query
def test_every_query_has_a_sentence(asked: Query) -> None:
    assert asked.sentence.endswith(".")
    assert "so many" not in asked.sentence


def test_the_document_has_the_table() -> None:
    text = DOCUMENT.read_text("utf-8")
    assert document.with_table(text) == text, (
        "run `python -m zermelo.research.document docs/research.md`"
    )
    for asked in [*declared_in(Campaigns), *declared_in(Queries)]:
        assert f".{asked.name}(" in text
