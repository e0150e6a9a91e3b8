"""The dashboard shows what the services measure, and nothing that they do not."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.support.harness import Solve
from tests.support.places import REPOSITORY
from zermelo.server.campaigns import create_campaign
from zermelo.server.certificate_files import CertificateFiles
from zermelo.server.coordinator.metrics import CoordinatorMetrics
from zermelo.server.database import Connection
from zermelo.server.metrics import CertificateCollector, DatabaseCollector
from zermelo.server.trust.certificates import make_certificates

FOLDER = REPOSITORY / "deploy" / "monitoring"


def test_every_panel_and_alert_names_a_metric_there_is(
    database: str, connection: Connection, tmp_path: Path
) -> None:
    make_certificates(tmp_path, ["localhost"], 10)
    certificate = CertificateFiles(tmp_path / "server.pem", tmp_path / "server-key.pem")
    campaign = create_campaign(connection, "reversi:4x4", node_budget=40, replication="none")
    solve = Solve(connection, campaign)
    solve.step()
    metrics = CoordinatorMetrics()
    metrics.registry.register(DatabaseCollector(database))
    metrics.registry.register(CertificateCollector(certificate))
    metrics.served("Hello", 0.1)
    metrics.refused("Hello", "too-fast")
    metrics.leased(1)
    metrics.received(["accepted"])
    known = {
        sample.name for family in metrics.registry.collect() for sample in family.samples
    } | {family.name for family in metrics.registry.collect()}
    dashboard = json.loads((FOLDER / "grafana-dashboard.json").read_text())
    texts = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    texts.append((FOLDER / "zermelo-alerts.yml").read_text())
    named = set(re.findall(r"zermelo_\w+", " ".join(texts)))
    assert len(named) >= 10
    assert named <= known
