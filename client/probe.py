"""Why a coordinator cannot be reached, step by step: name, network, encryption."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from zermelo.client.settings import ServerAddress

STEP_SECONDS = 10.0

#: What gRPC speaks, as TLS calls it.
HTTP2 = "h2"
#: How a gRPC client begins without encryption: the preface of HTTP/2 and empty settings.
_PLAIN_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
#: The first byte with which TLS refuses.
_TLS_ALERT = b"\x15"

# What OpenSSL calls the ways in which a certificate fails (X509_V_ERR_...).
_NOT_YET_VALID = 9
_EXPIRED = 10
_HOSTNAME_MISMATCH = 62
_IP_MISMATCH = 64


class _FoundError(Exception):
    """The reason, as a sentence."""


async def find_out(address: ServerAddress, *, encryption: bool = True) -> str:
    """A sentence about the first step that fails; empty when all of them work.

    Without `encryption` only what takes none of the server's time: its kernel answers.
    """
    try:
        await _resolve(address)
        await _reach(address)
        if encryption and address.encrypted:
            await _encrypt(address)
    except _FoundError as found:
        return str(found)
    return ""


async def find_out_more(address: ServerAddress) -> str:
    """The same after a call that nobody answered: the other side may want to encrypt."""
    found = await find_out(address)
    if not found and not address.encrypted and await _speaks_tls(address):
        return (
            f"{address.host} wants encrypted connections on port {address.port}; give the"
            ' operator\'s certificate by --ca-file, or set tls = "on"'
        )
    return found


async def _resolve(address: ServerAddress) -> None:
    try:
        await asyncio.wait_for(
            asyncio.get_running_loop().getaddrinfo(
                address.host, address.port, type=socket.SOCK_STREAM
            ),
            STEP_SECONDS,
        )
    except (OSError, TimeoutError):
        raise _FoundError(
            f"no computer named {address.host} was found; check the name of the server and "
            "that this computer is online"
        ) from None


async def _reach(address: ServerAddress) -> None:
    try:
        _, writer = await asyncio.wait_for(
            asyncio.open_connection(address.host, address.port), STEP_SECONDS
        )
    except ConnectionRefusedError:
        raise _FoundError(
            f"{address.host} is there, but nothing listens on port {address.port}; check the "
            "port, or the coordinator is down at the moment"
        ) from None
    except (OSError, TimeoutError):
        raise _FoundError(
            f"{address.host} does not answer on port {address.port}; a firewall may be in the "
            "way, or the server is down at the moment"
        ) from None
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


async def _encrypt(address: ServerAddress) -> None:
    try:
        context = ssl.create_default_context(
            cafile=str(address.ca_file.expanduser()) if address.ca_file else None
        )
    except (ssl.SSLError, OSError) as error:
        raise _FoundError(
            f"ca_file {address.ca_file} cannot be used: {error.strerror or error}"
        ) from None
    context.set_alpn_protocols([HTTP2])
    try:
        with _certificate_in_words(address):
            _, writer = await asyncio.wait_for(
                asyncio.open_connection(
                    address.host, address.port, ssl=context, server_hostname=address.host
                ),
                STEP_SECONDS,
            )
    except OSError:
        raise _FoundError(await _why_no_tls(address)) from None
    protocol = writer.get_extra_info("ssl_object").selected_alpn_protocol()
    # Everything is known now. An orderly end would wait for the server's, which a gRPC
    # server on a busy machine sends after half a minute or never.
    writer.transport.abort()
    if protocol != HTTP2:
        raise _FoundError(
            f"no coordinator listens on port {address.port} of {address.host}, but perhaps web"
            " pages; check the port"
        )


async def _speaks_tls(address: ServerAddress) -> bool:
    """Whether anybody there encrypts; whose certificate it is matters later."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        _, writer = await asyncio.wait_for(
            asyncio.open_connection(address.host, address.port, ssl=context), STEP_SECONDS
        )
    except (OSError, TimeoutError):
        return False
    writer.transport.abort()
    return True


async def _why_no_tls(address: ServerAddress) -> str:
    """Who cuts the connection looks like who cannot encrypt: only an answer tells them apart."""
    if await _answers_without_tls(address):
        return (
            f"{address.host} does not speak TLS on port {address.port}; check the port, or set "
            'tls = "off" if the operator says that the connection is not encrypted'
        )
    return (
        f"{address.host} ends the connection on port {address.port} before it is encrypted; the "
        "coordinator may be down at the moment, behind a proxy that is not; if it goes on, check "
        "the port"
    )


async def _answers_without_tls(address: ServerAddress) -> bool:
    """Whether anybody there answers what is not encrypted."""
    try:
        async with asyncio.timeout(STEP_SECONDS):
            reader, writer = await asyncio.open_connection(address.host, address.port)
            try:
                writer.write(_PLAIN_GREETING)
                return await reader.read(1) not in (b"", _TLS_ALERT)
            finally:
                writer.transport.abort()
    except (OSError, TimeoutError):
        return False


@contextmanager
def _certificate_in_words(address: ServerAddress) -> Iterator[None]:
    name = address.host
    try:
        yield
    except ssl.SSLCertVerificationError as error:
        if error.verify_code == _EXPIRED:
            text = (
                f"the certificate of {name} has expired; tell its operator, unless the clock of "
                "this computer is wrong"
            )
        elif error.verify_code == _NOT_YET_VALID:
            text = f"the certificate of {name} is not valid yet; set the clock of this computer"
        elif error.verify_code in (_HOSTNAME_MISMATCH, _IP_MISMATCH):
            text = f"the certificate of the server is not for {name}; check the name of the server"
        else:
            text = (
                f"the certificate of {name} is not signed by anybody this computer trusts; "
                "ask the operator for the certificate and name it as ca_file"
            )
        raise _FoundError(text) from None
    except TimeoutError:
        # Not a reason to give encryption up: a server that stands still looks the same.
        raise _FoundError(
            f"{name} takes too long to begin an encrypted connection on port {address.port}; it "
            "may be overloaded at the moment; if it goes on, check the port"
        ) from None
