"""Who calls a coordinator and how, for commands and programs that are not the daemon."""

from __future__ import annotations

import ssl
from pathlib import Path

from zermelo.client.configuration import ConfigurationError, address, read_configuration
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


def identify_owner(folder: ClientFolder, given: ServerAddress) -> tuple[str, Identity]:
    """The address and the identity of the volunteer whose client is in this folder.

    `given` stands above what the configuration says, where it says anything.
    """
    configuration = read_configuration(folder.config)
    server = given.server or configuration.server
    if not server:
        raise ConfigurationError("no server is configured; run `zermelo client configure`")
    configured = configuration.token if server == configuration.server else ""
    token = given.token or configured or TokenFile(folder.token).token_for(server)
    ca_file = given.ca_file or folder.find(configuration.ca_file)
    tls = given.tls if given.tls != "auto" else configuration.tls
    where = ServerAddress(server, token, ca_file, tls)
    trusted = None if ca_file is None else _read(ca_file)
    _check_certificates(ca_file)
    return server, Identity(token, where.encrypted, trusted)


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
