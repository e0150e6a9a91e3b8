"""A set of certificates for private use: an authority of one's own, a server, an operator.

Volunteers are given `ca.pem`, the server keeps `server.pem` with its key, an operator who
shall prove to be one gets `operator.pem` with its key. Whoever needs more uses a public
authority; the files have the same form.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from zermelo import ZermeloError

#: Clocks of volunteers may be slow.
BEFORE = timedelta(days=1)


class CertificateError(ZermeloError, ValueError):
    """Certificates cannot be made as asked."""

    exit_code = 2


def make_certificates(folder: Path, hosts: Sequence[str], days: int) -> list[Path]:
    """Write the set into a folder; its files. An existing set is never overwritten."""
    folder.mkdir(parents=True, exist_ok=True)
    taken = [name for name in ("ca.pem", "server.pem", "operator.pem") if (folder / name).exists()]
    if taken:
        raise CertificateError(f"{folder / taken[0]} exists already; choose another folder")
    authority_key = ec.generate_private_key(ec.SECP256R1())
    authority = _signed("Zermelo private authority", authority_key, None, authority_key, days)
    server_key, operator_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    server = _signed(hosts[0], server_key, authority, authority_key, days, hosts=hosts)
    operator = _signed("operator", operator_key, authority, authority_key, days)
    return [
        _write(folder / "ca.pem", _pem(authority)),
        _write(folder / "ca-key.pem", _private(authority_key), secret=True),
        _write(folder / "server.pem", _pem(server) + _pem(authority)),
        _write(folder / "server-key.pem", _private(server_key), secret=True),
        _write(folder / "operator.pem", _pem(operator)),
        _write(folder / "operator-key.pem", _private(operator_key), secret=True),
    ]


def _signed(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    authority: x509.Certificate | None,
    authority_key: ec.EllipticCurvePrivateKey,
    days: int,
    *,
    hosts: Sequence[str] = (),
) -> x509.Certificate:
    """A certificate: of the authority itself, of a server with host names, or of a client."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(authority.subject if authority else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BEFORE)
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=authority is None, path_length=None), critical=True)
    )
    if authority is not None:
        usage = ExtendedKeyUsageOID.SERVER_AUTH if hosts else ExtendedKeyUsageOID.CLIENT_AUTH
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    if hosts:
        names = x509.SubjectAlternativeName([_general_name(host) for host in hosts])
        builder = builder.add_extension(names, critical=False)
    return builder.sign(authority_key, hashes.SHA256())


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _write(path: Path, content: bytes, *, secret: bool = False) -> Path:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if secret else 0o644)
    with open(handle, "wb") as file:
        file.write(content)
    return path
