"""Zermelo: volunteer computing for weak solutions of two-player games."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from zermelo.research.queries import Campaigns

__version__ = "0.1.0"

# Must be said before gRPC is loaded. Its handlers of a fork crash about one child in a hundred
# between fork and exec, and none of our children goes on with its parent's gRPC.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")


class ZermeloError(Exception):
    """The root of all errors whose message is meant for the user.

    The command line prints the message as one line and ends with `exit_code`.
    """

    exit_code = 1


def open(
    url: str | None = None,
    *,
    data_dir: str | Path | None = None,
    server: str | None = None,
    token: str = "",
    ca_file: str | Path | None = None,
) -> Campaigns:
    """Open campaigns for queries; docs/research.md says which.

    `url` names a PostgreSQL, `server` a coordinator (HOST:PORT) where the owner of `token` is
    a researcher; without either it is the embedded database of `data_dir`.
    """
    from pathlib import Path

    if sum(given is not None for given in (url, data_dir, server)) > 1:
        raise ZermeloError("give one of a database URL, a data directory and a server")
    if server is None:
        from zermelo.research.api import Database

        return Database(url, None if data_dir is None else Path(data_dir))
    from zermelo.client.caller import identify
    from zermelo.research.remote import RemoteCampaigns

    trusted = None if ca_file is None else Path(ca_file)
    return RemoteCampaigns(*identify(server, token, trusted))
