"""Who calls a coordinator and how, for commands and programs that are not the daemon."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import NamedTuple

from zermelo.client.configuration import (
    Configuration,
    ConfigurationError,
    address,
    read_configuration,
    write_configuration,
)
from zermelo.client.folder import ClientFolder, why
from zermelo.client.settings import ServerAddress
from zermelo.client.token_file import TokenFile
from zermelo.proto.remote import Identity

#: An empty answer: else OpenSSL would ask whoever sits at the terminal.
_NO_PASSWORD = ""


def identify(
    server: str, token: str, ca_file: Path | None = None,
    certificate: Path | None = None, key: Path | None = None,
) -> tuple[str, Identity]:  # fmt: skip
    """The address and the identity to call with; `ConfigurationError` for what cannot be."""
    if (certificate is None) != (key is None):
        raise ConfigurationError("a certificate and its key go together; give both or neither")
    if not token:
        raise ConfigurationError(
            "a server needs the token of an account there: give --token-file or"
            " ZERMELO_REMOTE_TOKEN"
        )
    try:
        where = ServerAddress(address(server), token, ca_file)
    except ValueError as error:
        raise ConfigurationError(f"server: {error}") from None
    read = [None if file is None else _read(file) for file in (ca_file, certificate, key)]
    _check_certificates(ca_file, certificate, key)
    return where.server, Identity(token, where.encrypted or certificate is not None, *read)


class Given(NamedTuple):
    """What a command line says about the server; empty where it says nothing."""

    server: str | None = None
    token: str | None = None
    ca_file: Path | None = None
    tls: str | None = None


def owners_address(
    folder: ClientFolder, configuration: Configuration, given: Given
) -> ServerAddress:
    """How the client in this folder reaches its server, or the one that is given.

    `given` stands above the configuration. A token is shown to its own server alone.
    """
    server = given.server or configuration.server
    configured = configuration.token if server == configuration.server else ""
    return ServerAddress(
        server,
        given.token or configured or TokenFile(folder.token).token_for(server),
        given.ca_file or folder.find(configuration.ca_file),
        given.tls or configuration.tls,
    )


def identify_owner(folder: ClientFolder, given: Given) -> tuple[str, Identity]:
    """The address and the identity of the volunteer whose client is in this folder."""
    where = owners_address(folder, read_configuration(folder.config), given)
    if not where.server:
        raise ConfigurationError("no server is configured; run `zermelo client configure`")
    trusted = None if where.ca_file is None else _read(where.ca_file)
    _check_certificates(where.ca_file)
    return where.server, Identity(where.token, where.encrypted, trusted)


def replace_configuration(
    folder: ClientFolder, before: Configuration, after: Configuration
) -> None:
    """Write the configuration. The token of the server that was configured before stays in the
    folder, because nobody else has it."""
    if before.token and before.server != after.server:
        TokenFile(folder.token).keep(before.server, before.token)
    write_configuration(folder.config, after)


def _check_certificates(
    ca_file: Path | None, certificate: Path | None = None, key: Path | None = None
) -> None:
    """Of files that do not fit gRPC says only that the handshake failed."""
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except (ssl.SSLError, OSError):
        raise ConfigurationError(f"{ca_file} holds no certificates to trust, as PEM") from None
    if certificate is None:
        return
    try:
        context.load_cert_chain(certificate, key, password=_NO_PASSWORD)
    except (ssl.SSLError, OSError):
        raise ConfigurationError(
            f"{key} is not the key of the certificate {certificate}, or one of them cannot be"
            " read as PEM without a password"
        ) from None


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"cannot read {str(file)!r}: {why(error)}") from None
