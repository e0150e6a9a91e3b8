"""How commands ask the coordinator about the volunteer's own account."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from zermelo.cli.client.options import data_dir_option, server_options
from zermelo.cli.options import json_option
from zermelo.client.caller import Given, identify_owner
from zermelo.client.configuration import ConfigurationError
from zermelo.client.folder import ClientFolder

F = TypeVar("F", bound=Callable[..., Any])
#: Gives the reply to a request.
Ask = Callable[[Any], Any]


def asks_as_volunteer(command: F) -> Callable[..., Any]:
    """Give a command a way to ask instead of the options that say where and as whom."""

    @server_options
    @data_dir_option
    @json_option
    @wraps(command)
    def asking(
        *arguments: Any, server: str | None, token: str | None, ca_file: Path | None,
        tls: str | None, data_dir: Path, **more: Any,
    ) -> None:  # fmt: skip
        from zermelo.proto.remote import Remote
        from zermelo.proto.service import VOLUNTEERS

        given = Given(server, token, ca_file, tls)
        address, identity = identify_owner(ClientFolder(data_dir), given)
        if not identity.token:
            raise ConfigurationError(
                f"this computer has no account at {address}; `zermelo client configure` opens one,"
                " `zermelo client recover` finds yours again"
            )
        with Remote(address, VOLUNTEERS, identity) as remote:
            command(remote.ask, *arguments, **more)

    return asking
