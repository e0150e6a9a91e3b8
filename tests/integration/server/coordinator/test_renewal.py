"""Certificates that are replaced while the coordinator and the pages run."""

from __future__ import annotations

import logging
import os
import shutil
import socket
import ssl
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography import x509

from tests.support.coordinator import listens, running_coordinator, wait_until
from zermelo.cli import zermelo
from zermelo.client.settings import ServerAddress
from zermelo.client.trial import try_server
from zermelo.server import certificate_files
from zermelo.server.certificate_files import CertificateFiles, TlsCertificateError
from zermelo.server.metrics import CertificateCollector
from zermelo.server.ports import free_port
from zermelo.server.trust.certificates import make_certificates
from zermelo.server.trust.certificates import renew as renew_certificate
from zermelo.web.server import serve
from zermelo.web.settings import WebSettings

NAMES = ("ca.pem", "server.pem", "server-key.pem")


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A server's certificate and its successor, by another authority."""
    monkeypatch.setattr(certificate_files, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr("zermelo.web.server.LOOK_SECONDS", 0.02)
    for name, days in (("now", 10), ("next", 20)):
        make_certificates(tmp_path / name, ["localhost"], days)
    return tmp_path / "now", tmp_path / "next"


def renew(folders: tuple[Path, Path], *names: str) -> None:
    now, successor = folders
    for name in names or NAMES:
        shutil.copy(successor / name, now / name)


def shown(port: int) -> int:
    """The number of the certificate that a server shows to whoever connects now."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2", "http/1.1"])
    with (
        socket.create_connection(("127.0.0.1", port), timeout=60) as plain,
        context.wrap_socket(plain) as encrypted,
    ):
        return x509.load_der_x509_certificate(encrypted.getpeercert(True) or b"").serial_number


def number(folder: Path) -> int:
    return x509.load_pem_x509_certificate((folder / "server.pem").read_bytes()).serial_number


def secure(folder: Path, port: int) -> object:
    import grpc

    roots = grpc.ssl_channel_credentials((folder / "ca.pem").read_bytes())
    return grpc.secure_channel(f"localhost:{port}", roots)


def test_a_coordinator_shows_the_new_certificate(
    database: str, folders: tuple[Path, Path]
) -> None:
    now, successor = folders
    port = free_port()
    old, new = number(now), number(successor)
    with running_coordinator(
        database, listen=f"127.0.0.1:{port}", channel=secure(now, port),
        certificate=now / "server.pem", key=now / "server-key.pem",
    ):  # fmt: skip
        # Every one of the servers that share the port.
        assert {shown(port) for _ in range(20)} == {old}
        renew(folders)
        time.sleep(0.05)
        wait_until(lambda: {shown(port) for _ in range(20)} == {new})


def test_the_own_authority_renews_and_volunteers_notice_nothing(
    database: str, folders: tuple[Path, Path]
) -> None:
    now, _ = folders
    port = free_port()
    key = now / "server-key.pem"
    if not os.geteuid():
        os.chown(key, 0, 10001)
    key.chmod(0o640)
    before = key.stat()
    with running_coordinator(
        database, listen=f"localhost:{port}", channel=secure(now, port),
        certificate=now / "server.pem", key=key,
    ):  # fmt: skip
        # They keep the file that they were given.
        trusted = now / "given.pem"
        shutil.copy(now / "ca.pem", trusted)
        old = number(now)
        run = CliRunner().invoke(zermelo, ["tls", "renew", str(now), "--days", "40"])
        assert run.exit_code == 0, run.output
        assert "is valid until" in run.output
        assert number(now) != old
        wait_until(lambda: {shown(port) for _ in range(20)} == {number(now)})
        trial = try_server(ServerAddress(f"localhost:{port}", ca_file=trusted))
        assert trial.works, trial.sentence
    after = key.stat()
    assert (before.st_uid, before.st_gid, before.st_mode) == (
        after.st_uid, after.st_gid, after.st_mode,
    )  # fmt: skip
    assert not list(now.glob("*.new"))


def test_an_authority_outlives_what_it_signs(folders: tuple[Path, Path]) -> None:
    now, successor = folders
    ends = x509.load_pem_x509_certificate((now / "ca.pem").read_bytes()).not_valid_after_utc
    assert ends - datetime.now(UTC) > timedelta(days=3649)
    # What would outlive it ends with it.
    assert renew_certificate(now, "operator", 5000) == ends
    for name, why in (("ca", "authority itself"), ("nobody", "signed")):
        with pytest.raises(TlsCertificateError, match=why):
            renew_certificate(now, name, 10)
    # Neither does it renew what another one of the same name signed.
    renew(folders, "server.pem")
    with pytest.raises(TlsCertificateError, match="signed"):
        renew_certificate(now, "server", 10)
    assert number(now) == number(successor)


def test_the_pages_show_the_new_certificate(database: str, folders: tuple[Path, Path]) -> None:
    now, successor = folders
    port, stop = free_port(), threading.Event()
    settings = WebSettings(f"127.0.0.1:{port}", now / "server.pem", now / "server-key.pem")
    thread = threading.Thread(target=serve, args=(database, stop, settings))
    thread.start()
    try:
        wait_until(lambda: listens(settings.listen))
        old, new = number(now), number(successor)
        assert shown(port) == old
        renew(folders)
        wait_until(lambda: shown(port) == new)
    finally:
        stop.set()
        thread.join(60)


@pytest.fixture
def files(folders: tuple[Path, Path]) -> CertificateFiles:
    now, _ = folders
    return CertificateFiles(now / "server.pem", now / "server-key.pem")


def test_half_a_renewal_changes_nothing(
    files: CertificateFiles, folders: tuple[Path, Path], caplog: pytest.LogCaptureFixture
) -> None:
    before = files.contents()
    renew(folders, "server.pem")
    with caplog.at_level(logging.WARNING):
        wait_until(lambda: files.contents() is before and caplog.messages)
    assert "stays as it is" in caplog.text
    renew(folders, "server-key.pem")
    after = wait_until(lambda: files.contents() is not before and files.contents())
    assert after.key == (folders[1] / "server-key.pem").read_bytes()


def test_the_end_of_the_certificate_is_measured(
    files: CertificateFiles, folders: tuple[Path, Path]
) -> None:
    def days_left() -> float:
        (family,) = CertificateCollector(files).collect()
        return float((family.samples[0].value - time.time()) / 86400)

    assert 9 < days_left() <= 10
    renew(folders)
    wait_until(lambda: 19 < days_left() <= 20)


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(TlsCertificateError, match=r"cannot read .*nowhere\.pem"):
        CertificateFiles(tmp_path / "nowhere.pem", tmp_path / "key.pem")
