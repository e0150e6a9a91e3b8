"""Certificates for download: written once for what is proved, one at a time."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import tempfile
from dataclasses import dataclass
from pathlib import Path

from zermelo.proof.export import export_proof
from zermelo.proof.statement import statement
from zermelo.server.campaigns import Campaign, find_campaign, standings
from zermelo.server.database import Connection
from zermelo.web.errors import Offer, TroubleError
from zermelo.web.finding import campaign_href
from zermelo.web.library import Library

#: The certificate of a larger tree takes too long for a page.
MOST_NODES = 2_000_000
MOST_KEPT = 30


@dataclass(frozen=True, slots=True)
class Certificate:
    """A file that is ready, and what it says."""

    file: str
    size: int
    sha256: str
    proves: str
    entries: int
    leaves: int
    created: str
    #: What the campaign has not proved yet; empty if it has reached its goal.
    unproved: str


class Certificates:
    def __init__(self, library: Library) -> None:
        self._library = library
        self._folder = tempfile.TemporaryDirectory(prefix="zermelo-web-")
        self._made: dict[tuple[str, int, int], tuple[Certificate, Path]] = {}
        self._numbers = itertools.count()
        self._turn = asyncio.Lock()

    async def make(self, name: str) -> tuple[Certificate, Path]:
        """The certificate of what a campaign has proved; a `ZermeloError` if there is none."""
        key = await self._library.read(lambda connection: _proved(connection, name))
        async with self._turn:
            if key not in self._made:
                path = Path(self._folder.name) / f"{next(self._numbers)}.proof"
                made = await self._library.read(
                    lambda connection: _write(connection, find_campaign(connection, name), path)
                )
                self._made[key] = (made, path)
                while len(self._made) > MOST_KEPT:
                    _, oldest = self._made.pop(next(iter(self._made)))
                    oldest.unlink()
            return self._made[key]

    def close(self) -> None:
        self._folder.cleanup()


def file_name(campaign: str) -> str:
    """A name for the file that every system takes."""
    return "".join(char if char.isascii() and char.isalnum() else "-" for char in campaign) + (
        ".proof"
    )


def _proved(connection: Connection, name: str) -> tuple[str, int, int]:
    """What the certificate depends on."""
    standing = standings(connection, campaign=find_campaign(connection, name).id)[0]
    if standing.tree_nodes > MOST_NODES:
        raise TroubleError(
            404, "Too large for a page", f"The tree has {standing.tree_nodes:,} positions; its"
            " certificate is written with `zermelo proof export`.",
            [Offer("the campaign", campaign_href(name))],
        )  # fmt: skip
    return (name, *standing.bounds)


def _write(connection: Connection, campaign: Campaign, path: Path) -> Certificate:
    exported = export_proof(connection, campaign, path)
    return Certificate(
        file_name(campaign.name), exported.size, hashlib.sha256(path.read_bytes()).hexdigest(),
        statement(exported.header), exported.entries, exported.leaves, exported.header.created,
        exported.unproved,
    )  # fmt: skip
