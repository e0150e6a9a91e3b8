"""Certificates that are replaced while the coordinator and the pages run."""

from __future__ import annotations

import logging
import shutil
import socket
import ssl
import threading
import time
from pathlib import Path

import pytest
from cryptography import x509

from tests.support.coordinator import listens, running_coordinator, wait_until
from zermelo.server import certificate_files
from zermelo.server.certificate_files import CertificateFiles, TlsCertificateError
from zermelo.server.metrics import CertificateCollector
from zermelo.server.ports import free_port
from zermelo.server.trust.certificates import make_certificates
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
