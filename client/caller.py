"""Who calls a coordinator and how, for commands and programs that are not the daemon."""

from __future__ import annotations

from pathlib import Path

from zermelo.client.configuration import ConfigurationError, address
from zermelo.client.folder import why
from zermelo.client.settings import ServerAddress
from zermelo.proto.remote import Identity


def identify(
    server: str, token: str, ca_file: Path | None = None,
    certificate: Path | None = None, key: Path | None = None,
) -> tuple[str, Identity]:  # fmt: skip
    """The address and the identity to call with; `ConfigurationError` for what cannot be."""
    if (certificate is None) != (key is None):
        raise ConfigurationError("a certificate and its key go together; give both or neither")
    if not token:
        raise ConfigurationError(
            "a server needs the token of an account there: give --token-file or ZERMELO_TOKEN"
        )
    try:
        where = ServerAddress(address(server), token, ca_file)
    except ValueError as error:
        raise ConfigurationError(f"server: {error}") from None
    read = [None if file is None else _read(file) for file in (ca_file, certificate, key)]
    return where.server, Identity(token, where.encrypted or certificate is not None, *read)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"cannot read {str(file)!r}: {why(error)}") from None
