"""The control plane of a Kubernetes on loopback, without a node: API server and controllers."""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.support.coordinator import wait_until
from tests.support.daemons import daemon
from zermelo.server.ports import free_port

_PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kubectl")
_CONTROLLERS = ("deployment", "replicaset", "statefulset", "job", "serviceaccount")


class Cluster:
    def __init__(self, configuration: Path) -> None:
        self._kubectl = ["kubectl", "--kubeconfig", str(configuration)]

    def try_(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """What kubectl says; again where a busy computer let its handshake wait for too long."""

        def said() -> subprocess.CompletedProcess[str] | None:
            done = subprocess.run(
                [*self._kubectl, *map(str, arguments)],
                capture_output=True, text=True, timeout=120, check=False,
            )  # fmt: skip
            return None if "handshake timeout" in done.stderr else done

        done: subprocess.CompletedProcess[str] = wait_until(said)
        return done

    def kubectl(self, *arguments: object) -> str:
        done = self.try_(*arguments)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        return done.stdout

    def items(self, *what: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.kubectl("get", "-o", "json", *what))["items"]
        return found


@contextmanager
def kubernetes(folder: Path) -> Iterator[Cluster]:
    """A control plane for one block; the test is skipped where its programs are not installed."""
    missing = [program for program in _PROGRAMS if not shutil.which(program)]
    if missing:
        pytest.skip(f"needs the programs {', '.join(missing)} of Kubernetes")
    folder.mkdir()
    token, port, store, peers = secrets.token_hex(16), free_port(), free_port(), free_port()
    _private(folder / "tokens", f"{token},admin,admin,system:masters\n")
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    _private(folder / "accounts.pem", key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode())  # fmt: skip
    configuration = folder / "kubeconfig"
    _private(configuration, json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "test",
        "clusters": [{"name": "test", "cluster": {
            "server": f"https://127.0.0.1:{port}",
            "certificate-authority": str(folder / "tls" / "apiserver.crt"),
        }}],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
    }))  # fmt: skip
    here, beside = f"http://127.0.0.1:{store}", f"http://127.0.0.1:{peers}"
    cluster = Cluster(configuration)
    with ExitStack() as stack:

        def start(name: str, *options: str) -> subprocess.Popen[bytes]:
            return stack.enter_context(daemon([name, *options], folder / f"{name}.log"))

        start(
            "etcd", f"--data-dir={folder}/etcd", "--unsafe-no-fsync",
            f"--listen-client-urls={here}", f"--advertise-client-urls={here}",
            f"--listen-peer-urls={beside}", f"--initial-advertise-peer-urls={beside}",
            f"--initial-cluster=default={beside}",
        )  # fmt: skip
        server = start(
            "kube-apiserver", f"--etcd-servers={here}", f"--secure-port={port}",
            "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
            f"--cert-dir={folder}/tls", f"--token-auth-file={folder}/tokens",
            "--authorization-mode=RBAC", "--anonymous-auth=false",
            "--service-cluster-ip-range=10.0.0.0/24", "--endpoint-reconciler-type=none",
            "--service-account-issuer=https://test.invalid",
            f"--service-account-key-file={folder}/accounts.pem",
            f"--service-account-signing-key-file={folder}/accounts.pem",
        )  # fmt: skip
        wait_until(
            lambda: server.poll() is not None or not cluster.try_("get", "--raw=/readyz").returncode
        )
        assert server.poll() is None, (folder / "kube-apiserver.log").read_text()[-2000:]
        start(
            "kube-controller-manager", f"--kubeconfig={configuration}", "--leader-elect=false",
            "--bind-address=127.0.0.1", "--secure-port=0",
            "--controllers=" + ",".join(f"{name}-controller" for name in _CONTROLLERS),
        )  # fmt: skip
        yield cluster


def _private(file: Path, text: str) -> None:
    file.touch(mode=0o600)
    file.write_text(text)
