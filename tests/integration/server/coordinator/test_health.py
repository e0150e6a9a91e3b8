"""Readiness: a coordinator without its database lives, and is not ready."""

from __future__ import annotations

import json
from pathlib import Path

import grpc
import pytest
from click.testing import CliRunner, Result
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.support.coordinator import running_coordinator, wait_until
from zermelo.cli import zermelo
from zermelo.proto.service import COORDINATOR
from zermelo.server.coordinator import main
from zermelo.server.embedded import EmbeddedPostgres, running
from zermelo.server.ports import free_port
from zermelo.server.trust.certificates import make_certificates

SERVING = health_pb2.HealthCheckResponse.SERVING


def ask(*arguments: str) -> Result:
    return CliRunner().invoke(zermelo, ["health", *arguments])


def test_readiness_follows_the_database(
    used_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main, "HOUSEKEEPING_SECONDS", 0.02)
    postgres = EmbeddedPostgres(used_path)
    with (
        running(postgres) as url, running_coordinator(url) as address,
        grpc.insecure_channel(address) as channel,
    ):
        stub = health_pb2_grpc.HealthStub(channel)

        def serving(service: str) -> bool:
            request = health_pb2.HealthCheckRequest(service=service)
            return bool(stub.Check(request, timeout=60).status == SERVING)

        wait_until(lambda: serving(COORDINATOR.full_name))
        postgres.stop()
        wait_until(lambda: not serving(COORDINATOR.full_name))
        assert serving("")  # starting it again would be no use
        said = ask(address)
        assert (said.exit_code, "not ready" in str(said.exception)) == (1, True)
        assert ask(address, "--only", "alive").exit_code == 0
        postgres.begin()
        postgres.wait_ready()
        wait_until(lambda: serving(COORDINATOR.full_name))
        assert json.loads(ask(address, "--json").output)["healthy"]


def test_a_probe_of_an_encrypted_coordinator(database: str, tmp_path: Path) -> None:
    make_certificates(tmp_path / "tls", ["play.example"], 10)
    roots = tmp_path / "tls/ca.pem"
    port = free_port()
    name = (("grpc.ssl_target_name_override", "play.example"),)
    channel = grpc.secure_channel(
        f"127.0.0.1:{port}", grpc.ssl_channel_credentials(roots.read_bytes()), options=name
    )
    with running_coordinator(
        database, listen=f"127.0.0.1:{port}", channel=channel,
        certificate=tmp_path / "tls/server.pem", key=tmp_path / "tls/server-key.pem",
    ) as address:  # fmt: skip
        asked = (address, "--ca-file", str(roots), "--tls-name", "play.example")
        wait_until(lambda: ask(*asked).exit_code == 0)
        # Where nothing but the certificate itself is at hand, as in Kubernetes.
        itself = str(tmp_path / "tls/server.pem")
        assert ask(address, "--ca-file", itself, "--tls-name", "play.example").exit_code == 0
        plain = ask(address, "--timeout", "0.5")
        assert plain.exit_code == 1
        assert "give --ca-file or --tls" in str(plain.exception)
        other = ask(address, "--ca-file", str(roots), "--timeout", "0.5")
        assert other.exit_code == 1
        assert "is not for 127.0.0.1" in str(other.exception)


def test_nobody_there() -> None:
    nobody = ask(f"127.0.0.1:{free_port()}", "--timeout", "0.1")
    assert nobody.exit_code == 1
    assert "nothing listens" in str(nobody.exception)
    assert ask(f"http://127.0.0.1:{free_port()}/", "--timeout", "0.1").exit_code == 1
