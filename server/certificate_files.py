"""The certificate of a server as its files have it, read again when they change.

Whoever renews certificates (certbot, cert-manager) replaces the files. Nobody restarts a service
for that: connections that begin later get the new certificate.
"""

from __future__ import annotations

import logging
import ssl
import threading
import time
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from zermelo import ZermeloError

log = logging.getLogger(__name__)

#: How often files are looked at.
LOOK_SECONDS = 1.0


class TlsCertificateError(ZermeloError, ValueError):
    """Certificates of TLS that are missing, cannot be used or cannot be made as asked."""

    exit_code = 2


class Contents(NamedTuple):
    certificate: bytes
    key: bytes
    #: Who signs the certificates of operators; empty for nobody.
    client_ca: bytes


class CertificateFiles:
    """A certificate, its key and the operators' authority; threads may share it."""

    def __init__(self, certificate: Path, key: Path, client_ca: Path | None = None) -> None:
        """`TlsCertificateError` if they cannot be used."""
        self.certificate, self.key, self._client_ca = certificate, key, client_ca
        self._lock = threading.Lock()
        self._stamp = self._look()
        self._looked_at = time.monotonic()
        self._contents = self._read()

    @property
    def not_after(self) -> datetime:
        """When the certificate in use ends."""
        # A tenth of what a server loads; one on loopback alone has no use for it.
        from cryptography import x509

        return x509.load_pem_x509_certificate(self.contents().certificate).not_valid_after_utc

    def contents(self) -> Contents:
        """What the files hold, or held a second ago.

        Files that do not fit together, as in the middle of a renewal, are left alone.
        """
        with self._lock:
            now = time.monotonic()
            if now - self._looked_at > LOOK_SECONDS:
                self._looked_at = now
                stamp = self._look()
                if stamp != self._stamp:
                    self._renew()
                    self._stamp = stamp
            return self._contents

    def _renew(self) -> None:
        try:
            self._contents = self._read()
        except TlsCertificateError as error:
            log.warning("the certificate stays as it is: %s", error)
        else:
            log.info("%s was renewed", self.certificate)

    def _look(self) -> tuple[tuple[int, int], ...]:
        """What changes when files are replaced, also behind links."""
        found = []
        for path in filter(None, (self.certificate, self.key, self._client_ca)):
            try:
                status = path.stat()
            except OSError:
                found.append((0, 0))
            else:
                found.append((status.st_ino, status.st_mtime_ns))
        return tuple(found)

    def _read(self) -> Contents:
        check_pair(self.certificate, self.key)
        return Contents(
            _read(self.certificate), _read(self.key),
            b"" if self._client_ca is None else _read(self._client_ca),
        )  # fmt: skip


def check_pair(certificate: Path, key: Path) -> None:
    """`TlsCertificateError` unless this is a certificate and its key, not one for a passphrase."""
    for path in (certificate, key):
        _read(path)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except ssl.SSLError as error:
        raise TlsCertificateError(
            f"{key} is not the key of the certificate {certificate}, or one of them cannot be"
            f" read: {error.reason or error}"
        ) from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TlsCertificateError(f"cannot read {path}: {error.strerror}") from error
