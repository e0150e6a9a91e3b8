"""What Prometheus reads: the HTTP endpoint, and the state of the whole database.

Queues, backlogs and trust are read from the database when they are asked for, so that any
coordinator tells them and none has to be the one that counts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import psycopg
from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from zermelo import ZermeloError
from zermelo.server.certificate_files import CertificateFiles
from zermelo.server.database import Connection, DatabaseError, connect_once
from zermelo.server.ports import PortTakenError
from zermelo.server.trust.records import TRUSTED_AFTER
from zermelo.sql import query

log = logging.getLogger(__name__)

#: Services that Prometheus does not reach; their connections show that they are there.
SERVICES = ("generator", "validator", "assimilator")


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
    except OSError as error:
        raise PortTakenError(
            f"cannot serve metrics on {listen}: {error.strerror or error}; choose another port"
        ) from error
    except (OverflowError, ValueError) as error:
        raise MetricsError(f"cannot serve metrics on {listen}: {error}") from error
    log.info("metrics are at http://%s/metrics", listen)


class DatabaseCollector(Collector):
    """Queue depth, ages, backlogs, disputes, hosts by trust, work; all of one moment."""

    def __init__(self, url: str) -> None:
        self._url = url

    def describe(self) -> list[Metric]:
        return []  # the database need not be there when the service starts

    def collect(self) -> Iterator[Metric]:
        measures: list[Metric] = []
        try:
            with connect_once(self._url) as connection:
                measures = list(_measures(connection))
        except (DatabaseError, psycopg.OperationalError) as error:
            log.debug("no metrics of the database: %s", error)
        yield GaugeMetricFamily(
            "zermelo_database_up", "Whether the database answers", value=bool(measures)
        )
        yield from measures


class CertificateCollector(Collector):
    """When the certificate that callers are shown ends."""

    def __init__(self, files: CertificateFiles) -> None:
        self._files = files

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily(
            "zermelo_certificate_not_after_seconds", "Unix time at which the certificate ends",
            value=self._files.not_after.timestamp(),
        )  # fmt: skip


def _measures(connection: Connection) -> Iterator[Metric]:
    depth = GaugeMetricFamily("zermelo_workunits", "Open workunits", labels=["campaign", "state"])
    age = GaugeMetricFamily(
        "zermelo_oldest_workunit_seconds", "Age of the oldest one", labels=["campaign", "state"]
    )
    for campaign, state, count, seconds in connection.execute(query("measured_queue")):
        depth.add_metric([campaign, state], count)
        age.add_metric([campaign, state], seconds)
    backlog = GaugeMetricFamily("zermelo_waiting_results", "Results that wait", labels=["state"])
    for state, count in connection.execute(query("measured_backlog")):
        backlog.add_metric([state], count)
    hosts = GaugeMetricFamily("zermelo_hosts", "Hosts seen lately", labels=["trust"])
    for trust, count in connection.execute(
        query("measured_hosts"), {"trusted_after": TRUSTED_AFTER}
    ):
        hosts.add_metric([trust], count)
    yield from (depth, age, backlog, hosts)
    row = connection.execute(query("measured_trouble")).fetchone()
    disputes, alarms, convictions, retractions = row or (0, 0, 0, 0)
    yield GaugeMetricFamily("zermelo_disputes", "Contradictions being decided", value=disputes)
    yield GaugeMetricFamily("zermelo_alarms", "Alarms nobody has settled", value=alarms)
    yield CounterMetricFamily("zermelo_convictions", "Hosts found lying", value=convictions)
    yield CounterMetricFamily("zermelo_retractions", "Retractions", value=retractions)
    work = CounterMetricFamily("zermelo_nodes", "Nodes searched", labels=["campaign", "kind"])
    answered = CounterMetricFamily("zermelo_answered", "Workunits answered", labels=["campaign"])
    for campaign, nodes, wasted, checking, done in connection.execute(query("measured_work")):
        for kind, number in (("all", nodes), ("wasted", wasted), ("checking", checking)):
            work.add_metric([campaign, kind], number)
        answered.add_metric([campaign], done)
    yield from (work, answered)
    row = connection.execute(query("measured_size")).fetchone()
    yield GaugeMetricFamily(
        "zermelo_database_bytes", "Size of the database", value=row[0] if row else 0
    )
    services = GaugeMetricFamily("zermelo_services", "Services connected", labels=["service"])
    for service, count in connection.execute(query("measured_services"), (list(SERVICES),)):
        services.add_metric([service], count)
    yield services
