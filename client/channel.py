"""A gRPC channel to the coordinator: encrypted where it leaves this computer."""

from __future__ import annotations

from pathlib import Path

import grpc

from zermelo.client.files import write_atomically
from zermelo.client.folder import ClientFolder, why
from zermelo.client.settings import ClientError, ServerAddress
from zermelo.proto import replies, service

#: gRPC gives up an attempt to connect after this time and no sooner; TLS on a busy machine takes
#: seconds. It does not delay the next attempt, which the back-off below does.
CONNECT_MS = 20_000

CHANNEL_OPTIONS = (
    *replies.channel_options(service.COORDINATOR),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", CONNECT_MS),
    ("grpc.max_reconnect_backoff_ms", 5_000),
)


class CredentialsError(ClientError):
    """The token or the certificates are wrong; the message says what to do."""


def open_channel(address: ServerAddress) -> grpc.aio.Channel:
    if not address.encrypted:
        return grpc.aio.insecure_channel(address.server, options=CHANNEL_OPTIONS)
    credentials = grpc.ssl_channel_credentials(root_certificates=trusted(address))
    return grpc.aio.secure_channel(address.server, credentials, options=CHANNEL_OPTIONS)


def call_metadata(address: ServerAddress) -> tuple[tuple[str, str], ...]:
    """What every call carries: the volunteer's token."""
    if not address.token:
        return ()
    return ((service.AUTHORIZATION, f"{service.BEARER}{address.token}"),)


def trusted(address: ServerAddress) -> bytes | None:
    """The certificates of the owner's choice; None for those that gRPC brings along."""
    return None if address.ca_file is None else _read_certificates(address.ca_file)


def keep_certificates(file: Path, folder: ClientFolder) -> Path:
    """Copy certificates to the client's own folder, where it finds them wherever it is started
    and whatever else its system lets it see; the copy, relative to the folder, which may move."""
    pem = _read_certificates(file)
    try:
        write_atomically(folder.trusted, [pem], durable=True)
    except OSError as error:
        raise CredentialsError(f"cannot write {folder.trusted}: {why(error)}") from error
    return folder.trusted.relative_to(folder.path)


def _read_certificates(file: Path) -> bytes:
    try:
        pem = file.expanduser().read_bytes()
    except OSError as error:
        raise CredentialsError(f"cannot read ca_file {file}: {error.strerror}") from error
    if b"BEGIN CERTIFICATE" not in pem:
        raise CredentialsError(
            f"ca_file {file} holds no certificate; it should begin with "
            "-----BEGIN CERTIFICATE-----"
        )
    return pem
