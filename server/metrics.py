"""The HTTP endpoint that Prometheus reads, the same for every service."""

from __future__ import annotations

import logging

from prometheus_client import CollectorRegistry, start_http_server

from zermelo import ZermeloError

log = logging.getLogger(__name__)


class MetricsError(ZermeloError, ValueError):
    """The metrics cannot be served where they should be."""

    exit_code = 2


def serve_metrics(listen: str, registry: CollectorRegistry) -> None:
    """Serve a registry at HOST:PORT in a thread of its own; nothing where `listen` is empty."""
    if not listen:
        return
    host, _, port = listen.rpartition(":")
    try:
        start_http_server(int(port), host, registry)
    except (OSError, ValueError) as error:
        raise MetricsError(f"cannot serve metrics on {listen}: {error}") from error
    log.info("metrics are at http://%s/metrics", listen)
