"""A real Prometheus with the files that the repository offers reads a real coordinator."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.coordinator import Host, Queue, answer, listens, running_coordinator, wait_until
from tests.support.daemons import daemon
from tests.support.places import REPOSITORY
from tests.support.preloaded import Command
from zermelo.server.campaigns import create_campaign
from zermelo.server.database import Connection, connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running
from zermelo.server.ports import free_port
from zermelo.server.trust.certificates import make_certificates

FILES = REPOSITORY / "deploy" / "monitoring"
#: Of trouble that this project does not have.
QUIET = {"zermelo_calls_refused_total"}


class Prometheus:
    def __init__(self, address: str) -> None:
        self.address = address

    def ask(self, what: str, **arguments: str) -> Any:
        url = f"http://{self.address}/api/v1/{what}?{urllib.parse.urlencode(arguments)}"
        with urllib.request.urlopen(url, timeout=60) as reply:
            answer = json.load(reply)
        assert answer["status"] == "success", answer
        return answer["data"]

    def firing(self) -> set[str]:
        alerts = self.ask("alerts")["alerts"]
        return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}


@contextmanager
def prometheus(folder: Path, target: str, *, patient: bool = True) -> Iterator[Prometheus]:
    """One that looks each second; the test is skipped where none is installed.

    An impatient one raises alerts as soon as their trouble has lasted for a second.
    """
    if not shutil.which("prometheus"):
        pytest.skip("needs prometheus")
    folder.mkdir()
    rules = (FILES / "zermelo-alerts.yml").read_text()
    if not patient:
        rules = re.sub(r"for: \d+[mh]", "for: 1s", rules)
    (folder / "zermelo-alerts.yml").write_text(rules)
    text = (FILES / "prometheus.yml").read_text()
    for ours, theirs in (
        ("127.0.0.1:9191", target), ("interval: 10s", "interval: 1s\n  evaluation_interval: 1s"),
    ):  # fmt: skip
        assert ours in text
        text = text.replace(ours, theirs)
    (folder / "prometheus.yml").write_text(text)
    address = f"127.0.0.1:{free_port()}"
    command = [
        "prometheus", f"--config.file={folder}/prometheus.yml",
        f"--storage.tsdb.path={folder}/data", f"--web.listen-address={address}",
    ]  # fmt: skip
    with daemon(command, folder / "log") as process:
        wait_until(lambda: process.poll() is not None or listens(address), 60)
        assert process.poll() is None, (folder / "log").read_text()
        yield Prometheus(address)


@pytest.mark.long
def test_rules_and_panels_work_on_what_a_coordinator_tells(
    database: str, queue: Queue, connection: Connection, tmp_path: Path
) -> None:
    queue.add(3)
    connection.execute(
        "INSERT INTO alarms (campaign, kind, detail)"
        " SELECT id, (enum_range(NULL::alarm_kind))[1], 'a test' FROM campaigns"
    )
    target = f"127.0.0.1:{free_port()}"
    with (
        running_coordinator(database, metrics_listen=target) as address,
        prometheus(tmp_path / "prometheus", target) as server,
    ):
        rules = yaml.safe_load((FILES / "zermelo-alerts.yml").read_text())["groups"][0]["rules"]
        host = Host(address)
        host.submit(*(answer(workunit) for workunit in host.take()))
        wait_until(lambda: "Alarm" in server.firing())
        loaded = server.ask("rules")["groups"][0]["rules"]
        assert {rule["name"] for rule in loaded} == {rule["alert"] for rule in rules}
        assert {(rule["health"], rule.get("lastError", "")) for rule in loaded} == {("ok", "")}
        dashboard = json.loads((FILES / "grafana-dashboard.json").read_text())
        shown = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
        shown = [query for query in shown if not any(name in query for name in QUIET)]
        wait_until(lambda: all(server.ask("query", query=query)["result"] for query in shown))
        assert server.firing() == {"Alarm"}
        host.close()


#: What is done to the database, and the alert that tells of it.
TROUBLES = {
    "QuestionsGrowOld": "UPDATE workunits SET created_at = now() - interval '2 hours'",
    "ResultsPileUp": "INSERT INTO results (lease, workunit, nodes, host, seconds, answer, campaign,"
    " lo, hi, late) SELECT 1000000 + n, 1, 0, 1, 0, 'yes', campaigns.id, 0, 1, false"
    " FROM campaigns, generate_series(0, 10000) AS n",
    "Undecided": "UPDATE workunits SET disputed = true",
    "Alarm": "INSERT INTO alarms (campaign, kind, detail)"
    " SELECT id, (enum_range(NULL::alarm_kind))[1], 'a test' FROM campaigns",
}


@pytest.mark.long
def test_every_trouble_raises_its_alert(open_path: Path, tmp_path: Path) -> None:
    """But a full disk, which the node exporter tells of."""
    tls, target = tmp_path / "tls", f"127.0.0.1:{free_port()}"
    make_certificates(tls, ["localhost"], 10)
    postgres = EmbeddedPostgres(open_path)
    with (
        running(postgres) as url,
        prometheus(tmp_path / "prometheus", target, patient=False) as server,
    ):
        ensure_schema(url)
        with connect_once(url) as connection:
            queue = Queue(connection, create_campaign(connection, "reversi:4x4"))
            queue.add(3)
        coordinator = Command(
            "serve", "coordinator", "--database", url, "--listen", f"127.0.0.1:{free_port()}",
            "--metrics-listen", target, "--certificate", tls / "server.pem",
            "--key", tls / "server-key.pem", stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            # Its certificate ends in ten days, and there are no other services.
            raised = {"CertificateEnds", "ServiceMissing"}
            wait_until(lambda: server.firing() == raised)
            for alert, trouble in TROUBLES.items():
                with connect_once(url) as connection:
                    connection.execute(trouble)
                raised.add(alert)
                wait_until(lambda: server.firing() == raised)
            assert postgres.pid is not None
            os.kill(postgres.pid, signal.SIGKILL)
            wait_until(lambda: server.firing() == {"CertificateEnds", "DatabaseAway"})
        finally:
            coordinator.kill()
            coordinator.wait(60)
        wait_until(lambda: server.firing() == {"CoordinatorDown"})
    rules = yaml.safe_load((FILES / "zermelo-alerts.yml").read_text())["groups"][0]["rules"]
    tried = {"CoordinatorDown", "DatabaseAway", "DiskFillsUp"} | raised
    assert tried == {rule["alert"] for rule in rules}
