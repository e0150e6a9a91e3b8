"""Which function serves which RPC."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import grpc

from zermelo.server.http2.calls import Serve


class _Details(NamedTuple):
    """What gRPC's handlers are asked with."""

    method: str
    invocation_metadata: Sequence[tuple[str, str]] = ()


class Methods:
    """Collects handlers as a server of gRPC does, so that its generated code can add them."""

    def __init__(self, guard: Callable[[str, Any], Serve]) -> None:
        """`guard` makes what serves a method from its path and gRPC's handler."""
        self._guard = guard
        self._generic: list[grpc.GenericRpcHandler] = []
        #: What was called so far; a path that does not exist is not remembered.
        self._found: dict[str, Serve] = {}

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        self._generic += handlers

    def add_registered_method_handlers(
        self, service: str, handlers: Mapping[str, Any]
    ) -> None:
        """A second way to add what comes as generic handlers, too; gRPC's servers are faster so."""

    def find(self, path: str) -> Serve | None:
        """What serves /package.Service/Method; None for what does not exist."""
        found = self._found.get(path)
        if found is None:
            for generic in self._generic:
                handler = generic.service(_Details(path))
                if handler is not None:
                    found = self._found[path] = self._guard(path, handler)
                    break
        return found
