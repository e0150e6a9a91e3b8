"""Where a coordinator listens and how: TLS from files, plain text on loopback alone.

Several gRPC servers of one process share each port (SO_REUSEPORT): a server of grpc.aio takes one
call at a time from its connections, and each takes a turn of a thread and of the event loop.
On a busy machine that took longer than serving the calls.
"""

from __future__ import annotations

import errno
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import grpc

from zermelo import ZermeloError
from zermelo.server import ports
from zermelo.server.certificate_files import CertificateFiles, Contents
from zermelo.server.coordinator.settings import CoordinatorSettings

#: Far longer than opening a port takes.
ALONE_SECONDS = 2.0


class PortTakenError(ZermeloError):
    """The coordinator cannot listen where it was told to."""

    exit_code = 5


class TransportError(ZermeloError, ValueError):
    """Options about certificates that do not go together."""

    exit_code = 2


def bind(
    servers: Sequence[grpc.aio.Server], settings: CoordinatorSettings
) -> CertificateFiles | None:
    """Open the port for everybody and, with certificates of their own, that for operators.

    The servers must be made with `grpc.so_reuseport`, and share the connections. The files of
    the certificate, if there is one.
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
        _add(servers, settings.listen, lambda: None)
        return None
    files = CertificateFiles(settings.certificate, settings.key, settings.client_ca)
    _add(servers, settings.listen, lambda: _credentials(files))
    if settings.client_ca is not None:
        _add(servers, settings.operator_listen, lambda: _credentials(files, for_operators=True))
    return files


def _credentials(files: CertificateFiles, *, for_operators: bool = False) -> object:
    """What one server shows of the files at each handshake; gRPC shares it among no two."""
    given = files.contents()

    def configuration(contents: Contents) -> object:
        return grpc.ssl_server_certificate_configuration(
            [(contents.key, contents.certificate)],
            root_certificates=contents.client_ca if for_operators else None,
        )

    def renewed() -> object | None:
        nonlocal given
        contents = files.contents()
        if contents is given:
            return None
        given = contents
        return configuration(contents)

    return grpc.dynamic_ssl_server_credentials(
        configuration(given), renewed, require_client_authentication=for_operators
    )


def is_loopback(address: str) -> bool:
    """Whether HOST:PORT can be reached from this machine alone."""
    return ports.is_loopback(address.rpartition(":")[0].strip("[]"))


def _add(
    servers: Sequence[grpc.aio.Server], listen: str, make_credentials: Callable[[], object | None]
) -> None:
    with _alone(listen):
        check_port_free(listen)
        for server in servers:
            credentials = make_credentials()
            try:
                bound = (
                    server.add_insecure_port(listen)
                    if credentials is None
                    else server.add_secure_port(listen, credentials)
                )
            except RuntimeError as error:
                raise _taken(listen) from error
            if not bound:
                raise PortTakenError(f"cannot listen on {listen}")
            listen = f"{listen.rpartition(':')[0]}:{bound}"  # where it was any free port


@contextmanager
def _alone(listen: str) -> Iterator[None]:
    """Nobody else of ours begins to listen on the same port meanwhile, where the system has
    names for that (Linux). Whoever keeps the name for longer than that takes is not ours."""
    if sys.platform != "linux":
        yield
        return
    with socket.socket(socket.AF_UNIX) as lock:
        deadline = time.monotonic() + ALONE_SECONDS
        while time.monotonic() < deadline:
            try:
                lock.bind(f"\0zermelo listens on {listen.rpartition(':')[2]}")
                break
            except OSError:
                time.sleep(0.02)
        yield


def check_port_free(listen: str) -> None:
    """`PortTakenError` if somebody listens on HOST:PORT: two coordinators on one port must be an
    error, not a lottery, which it is among sockets that share a port."""
    host, _, port = listen.rpartition(":")
    try:
        places = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        return  # gRPC says what is wrong with it
    for family, kind, protocol, _, place in places:
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                probe.bind(place)
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    raise _taken(listen) from error


def _taken(listen: str) -> PortTakenError:
    return PortTakenError(
        f"cannot listen on {listen}: the port is taken or the address is not ours; "
        "stop the other program or choose another --listen"
    )
