"""Where a coordinator listens and how: TLS from files, plain text on loopback alone."""

from __future__ import annotations

import socket
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from zermelo import ZermeloError
from zermelo.server import ports
from zermelo.server.certificate_files import CertificateFiles, Contents
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.http2.server import BACKLOG
from zermelo.server.ports import PortTakenError


class TransportError(ZermeloError, ValueError):
    """Options about certificates that do not go together."""

    exit_code = 2


class Door(NamedTuple):
    """A socket that listens, and what TLS it speaks, if any."""

    listening: socket.socket
    tls: ssl.SSLContext | None


def bind(settings: CoordinatorSettings) -> tuple[list[Door], CertificateFiles | None]:
    """Open the port for everybody and, with certificates of their own, that for operators.

    And the files of the certificate, if there is one.
    """
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
        if settings.listening is not None:
            return [Door(settings.listening, None)], None
        return _doors(settings.listen, None), None
    files = CertificateFiles(settings.certificate, settings.key, settings.client_ca)
    doors = _doors(settings.listen, _renewed(files))
    if settings.client_ca is not None:
        try:
            doors += _doors(settings.operator_listen, _renewed(files, for_operators=True))
        except PortTakenError:
            for door in doors:
                door.listening.close()
            raise
    return doors, files


def _renewed(files: CertificateFiles, *, for_operators: bool = False) -> ssl.SSLContext:
    """TLS with what the files hold at each handshake."""
    used = files.contents()
    first = current = _context(used, for_operators=for_operators)

    def renew(connecting: ssl.SSLObject, _name: str | None, _first: ssl.SSLContext) -> None:
        nonlocal used, current
        contents = files.contents()
        if contents is not used:
            used, current = contents, _context(contents, for_operators=for_operators)
        if current is not first:
            connecting.context = current

    first.sni_callback = renew
    return first


def _context(contents: Contents, *, for_operators: bool) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["h2"])
    with _files_of(contents) as (certificate, key):
        context.load_cert_chain(certificate, key, password="")
    if for_operators:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=contents.client_ca.decode())
    return context


@contextmanager
def _files_of(contents: Contents) -> Iterator[tuple[Path, Path]]:
    """The certificate and its key as files, which is all that `ssl` reads: those that were
    checked, whatever is in their place by now.
    """
    with tempfile.TemporaryDirectory(prefix="zermelo-tls-") as folder:  # for us alone
        certificate, key = Path(folder, "certificate.pem"), Path(folder, "key.pem")
        certificate.write_bytes(contents.certificate)
        key.touch(mode=0o600)
        key.write_bytes(contents.key)
        yield certificate, key


def is_loopback(address: str) -> bool:
    """Whether HOST:PORT can be reached from this machine alone."""
    return ports.is_loopback(address.rpartition(":")[0].strip("[]"))


def _doors(listen: str, tls: ssl.SSLContext | None) -> list[Door]:
    """One for each address that HOST:PORT stands for."""
    host, _, port = listen.rpartition(":")
    doors: list[Door] = []
    try:
        for family, kind, protocol, _, place in _places(host.strip("[]"), int(port)):
            bound = socket.socket(family, kind, protocol)
            doors.append(Door(bound, tls))
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, place[0] != "::")
            bound.bind((place[0], doors[0].listening.getsockname()[1] or place[1], *place[2:]))
            # Two sockets that were only bound may share a port.
            bound.listen(BACKLOG)
    except (OSError, ValueError, OverflowError) as error:
        for door in doors:
            door.listening.close()
        raise PortTakenError(
            f"cannot listen on {listen}: the port is taken, or the address is not one of this "
            "machine; stop the other program or choose another --listen"
        ) from error
    return doors


def _places(host: str, port: int) -> list[Any]:
    return list(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE))
