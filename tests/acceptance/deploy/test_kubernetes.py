"""The manifests applied to a real API server, whose controllers make pods of them."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.support.coordinator import wait_until
from tests.support.kubernetes import Cluster, kubernetes
from tests.support.places import REPOSITORY
from zermelo.server.trust.certificates import make_certificates

MANIFESTS = REPOSITORY / "deploy" / "kubernetes"
RESTRICTED = "pod-security.kubernetes.io/enforce=restricted"
SERVICES = {
    "zermelo-coordinator": 2, "zermelo-generator": 2, "zermelo-validator": 1,
    "zermelo-assimilator": 2, "zermelo-web": 1, "zermelo-migrate": 1,
}  # fmt: skip


def pods(cluster: Cluster, namespace: str) -> Counter[str]:
    found = cluster.items("-n", namespace, "pods")
    return Counter(pod["metadata"]["labels"]["app"] for pod in found)


@pytest.mark.long
def test_a_restricted_namespace_lets_every_pod_in(tmp_path: Path) -> None:
    with kubernetes(tmp_path / "cluster") as cluster:
        cluster.kubectl("create", "namespace", "fleet")
        cluster.kubectl("label", "namespace", "fleet", RESTRICTED)
        # As the files say, step by step.
        cluster.kubectl("apply", "-f", MANIFESTS / "server" / "namespace.yaml")
        make_certificates(tmp_path / "tls", ["play.example.org"], 10)
        inside = ("-n", "zermelo")
        settings = tmp_path / "database.env"
        settings.write_text("ZERMELO_DATABASE=postgresql://db.example.org/zermelo\n")
        cluster.kubectl(
            *inside, "create", "secret", "generic", "zermelo-database",
            f"--from-env-file={settings}",
        )  # fmt: skip
        cluster.kubectl(
            *inside, "create", "secret", "tls", "zermelo-tls",
            f"--cert={tmp_path}/tls/server.pem", f"--key={tmp_path}/tls/server-key.pem",
        )  # fmt: skip
        cluster.kubectl("apply", "-k", MANIFESTS / "server")
        cluster.kubectl("-n", "fleet", "apply", "-k", MANIFESTS / "client")
        wait_until(lambda: pods(cluster, "zermelo") == Counter(SERVICES))
        wait_until(lambda: pods(cluster, "fleet") == Counter({"zermelo-client": 2}))

        # The standard holds there: a pod that asks for nothing is refused.
        for namespace in ("zermelo", "fleet"):
            refused = cluster.try_("-n", namespace, "run", "other", "--image=other")
            assert 'violates PodSecurity "restricted' in refused.stderr

        upgrade(cluster, tmp_path)


def upgrade(cluster: Cluster, folder: Path) -> None:
    """A new version: its migration is a new job, and the other objects change in their places."""
    here = folder / "server"
    shutil.copytree(MANIFESTS / "server", here)
    file = here / "kustomization.yaml"
    file.write_text(file.read_text().replace("newTag: latest", "newTag: next"))
    refused = cluster.try_("apply", "-k", here)
    assert "field is immutable" in refused.stderr
    cluster.kubectl("-n", "zermelo", "delete", "job", "zermelo-migrate", "--wait=false")
    wait_until(lambda: not cluster.try_("apply", "-k", here).returncode)
    (job,) = cluster.items("-n", "zermelo", "jobs")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["image"].endswith(":next")
