"""Solved campaigns and their certificates, for the tests of proofs and of research."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.harness import Solve
from zermelo.checker import Certificate, read_certificate
from zermelo.proof.export import export_proof
from zermelo.server.campaigns import Campaign, create_campaign, find_campaign
from zermelo.server.database import Connection


def solve(connection: Connection, spec: str, **options: Any) -> Campaign:
    """A finished campaign whose tree is deep, because its workunits are small."""
    options.setdefault("node_budget", 200)
    campaign = create_campaign(connection, spec, replication="none", **options)
    Solve(connection, campaign).run()
    return find_campaign(connection, campaign.name)


def certify(
    connection: Connection, spec: str, path: Path, *, full: bool = False,
    to_depth: int | None = None, **options: Any,
) -> Certificate:
    """The certificate of a campaign that is solved for it."""
    campaign = solve(connection, spec, **options)
    export_proof(connection, campaign, path, full=full, to_depth=to_depth)
    return read_certificate(path)
