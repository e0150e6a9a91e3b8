"""Where a coordinator listens and how: TLS from files, plain text on loopback alone."""

from __future__ import annotations

import ssl
from pathlib import Path

import grpc

from zermelo import ZermeloError
from zermelo.server import ports
from zermelo.server.coordinator.settings import CoordinatorSettings


class PortTakenError(ZermeloError):
    """The coordinator cannot listen where it was told to."""

    exit_code = 5


class TransportError(ZermeloError, ValueError):
    """Certificates that are missing or cannot be used."""

    exit_code = 2


def bind(server: grpc.aio.Server, settings: CoordinatorSettings) -> None:
    """Open the port for everybody and, with certificates of their own, that for operators."""
    if (settings.certificate is None) != (settings.key is None):
        raise TransportError("--certificate and --key go together; give both or neither")
    if (settings.client_ca is None) != (not settings.operator_listen):
        raise TransportError("--client-ca and --operator-listen go together")
    if settings.certificate is None or settings.key is None:
        if settings.client_ca is not None:
            raise TransportError("--client-ca needs --certificate and --key")
        if not is_loopback(settings.listen):
            raise TransportError(
                f"plain text is for loopback alone, and {settings.listen} is not; make"
                " certificates with `zermelo tls make` and give --certificate and --key"
            )
        _add(server, settings.listen, None)
        return
    check_pair(settings.certificate, settings.key)
    pair = (_read(settings.key), _read(settings.certificate))
    _add(server, settings.listen, grpc.ssl_server_credentials([pair]))
    if settings.client_ca is not None:
        credentials = grpc.ssl_server_credentials(
            [pair], root_certificates=_read(settings.client_ca), require_client_auth=True
        )
        _add(server, settings.operator_listen, credentials)


def check_pair(certificate: Path, key: Path) -> None:
    """`TransportError` unless this is a certificate and its key, not one for a passphrase."""
    for path in (certificate, key):
        _read(path)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except ssl.SSLError as error:
        raise TransportError(
            f"{key} is not the key of the certificate {certificate}, or one of them cannot be"
            f" read: {error.reason or error}"
        ) from error


def is_loopback(address: str) -> bool:
    """Whether HOST:PORT can be reached from this machine alone."""
    return ports.is_loopback(address.rpartition(":")[0].strip("[]"))


def _add(server: grpc.aio.Server, listen: str, credentials: object | None) -> None:
    try:
        bound = (
            server.add_insecure_port(listen)
            if credentials is None
            else server.add_secure_port(listen, credentials)
        )
    except RuntimeError as error:
        raise PortTakenError(
            f"cannot listen on {listen}: the port is taken or the address is not ours; "
            "stop the other program or choose another --listen"
        ) from error
    if not bound:
        raise PortTakenError(f"cannot listen on {listen}")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TransportError(f"cannot read {path}: {error.strerror}") from error
