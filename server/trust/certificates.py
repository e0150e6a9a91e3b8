"""A set of certificates for private use: an authority of one's own, a server, an operator.

Volunteers are given `ca.pem`, the server keeps `server.pem` with its key, an operator who
shall prove to be one gets a certificate on the name of the account, with its key. Whoever
needs more uses a public authority; the files have the same form.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from zermelo.server.certificate_files import TlsCertificateError
from zermelo.server.trust.accounts import checked_name

#: Clocks of volunteers may be slow.
BEFORE = timedelta(days=1)
#: An authority outlives what it signs: volunteers would all need another `ca.pem`.
AUTHORITY_DAYS = 3650


def make_certificates(
    folder: Path, hosts: Sequence[str], days: int, operator: str = "operator"
) -> list[Path]:
    """Write the set into a folder; its files. An existing set is never overwritten."""
    folder.mkdir(parents=True, exist_ok=True)
    _refuse_taken(folder, "ca", "server", _file_stem(operator))
    authority_key, server_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority = _signed(
        "Zermelo private authority", authority_key, None, authority_key, max(days, AUTHORITY_DAYS)
    )
    server = _signed(hosts[0], server_key, authority, authority_key, days, hosts=hosts)
    return [
        _write(folder / "ca.pem", _pem(authority)),
        _write(folder / "ca-key.pem", _private(authority_key), secret=True),
        _write(folder / "server.pem", _pem(server) + _pem(authority)),
        _write(folder / "server-key.pem", _private(server_key), secret=True),
        *add_operator(folder, operator, days),
    ]


def add_operator(folder: Path, name: str, days: int) -> list[Path]:
    """Have the authority of a folder sign a certificate for the operator's account of this name."""
    stem = _file_stem(name)
    _refuse_taken(folder, stem)
    authority, authority_key = _authority(folder)
    key = ec.generate_private_key(ec.SECP256R1())
    return [
        _write(folder / f"{stem}.pem", _pem(_signed(name, key, authority, authority_key, days))),
        _write(folder / f"{stem}-key.pem", _private(key), secret=True),
    ]


def renew(folder: Path, stem: str, days: int) -> datetime:
    """Have the authority sign the certificate of these files anew, with a new key; until when.

    It keeps its names, its files their owners and modes, and nobody needs another `ca.pem`.
    """
    authority, authority_key = _authority(folder)
    file = folder / f"{stem}.pem"
    try:
        former = x509.load_pem_x509_certificate(file.read_bytes())
        former.verify_directly_issued_by(authority)
    except (OSError, ValueError, InvalidSignature) as error:
        raise TlsCertificateError(
            f"{file} is no certificate that the authority in {folder} signed"
        ) from error
    if former == authority:
        raise TlsCertificateError(
            f"{file} is the authority itself: make another one in a new folder"
        )
    (name,) = former.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    key = ec.generate_private_key(ec.SECP256R1())
    hosts = _hosts(former)
    renewed = _signed(str(name.value), key, authority, authority_key, days, hosts=hosts)
    chain = _pem(renewed) + (_pem(authority) if hosts else b"")
    # Whoever reads between the two sees that they do not fit, and keeps the former ones.
    _replace(folder / f"{stem}-key.pem", _private(key), secret=True)
    _replace(file, chain)
    return renewed.not_valid_after_utc


def _authority(folder: Path) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    try:
        authority = x509.load_pem_x509_certificate((folder / "ca.pem").read_bytes())
        authority_key = serialization.load_pem_private_key(
            (folder / "ca-key.pem").read_bytes(), password=None
        )
    except (OSError, ValueError) as error:
        raise TlsCertificateError(
            f"no authority in {folder}: it takes ca.pem and ca-key.pem of `zermelo tls make`"
        ) from error
    if not isinstance(authority_key, ec.EllipticCurvePrivateKey):
        raise TlsCertificateError(f"{folder / 'ca-key.pem'} is not a key of `zermelo tls make`")
    return authority, authority_key


def _hosts(certificate: x509.Certificate) -> list[str]:
    """The names of a server; none for an operator."""
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    return [str(name.value) for name in names]


def _file_stem(name: str) -> str:
    """What the files of an operator are called: by the account."""
    checked_name(name)
    if not name or "/" in name or name.startswith(".") or name in ("ca", "server"):
        raise TlsCertificateError(
            f"no file can have the name {name!r}; give the operator's account another one"
        )
    return name


def _refuse_taken(folder: Path, *stems: str) -> None:
    for file in (folder / f"{stem}{kind}.pem" for stem in stems for kind in ("", "-key")):
        if file.exists():
            raise TlsCertificateError(f"{file} exists already; choose another folder or name")


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
    end = now + timedelta(days=days)
    if authority is not None:
        # Nobody believes what outlives who signed it.
        end = min(end, authority.not_valid_after_utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(authority.subject if authority else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BEFORE)
        .not_valid_after(end)
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


def _replace(path: Path, content: bytes, *, secret: bool = False) -> None:
    """Put a new file in the place of an old one, whoever may read that."""
    path.with_suffix(".new").unlink(missing_ok=True)
    new = _write(path.with_suffix(".new"), content, secret=secret)
    with suppress(FileNotFoundError):
        before = path.stat()
        with suppress(PermissionError):
            os.chown(new, before.st_uid, before.st_gid)
            new.chmod(before.st_mode & 0o777)
    new.replace(path)
