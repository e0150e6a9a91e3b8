"""Writing the proof of a campaign down: strategies of both sides, leaves, provenance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from psycopg import IsolationLevel

from zermelo import __version__
from zermelo.checker import Entry, Header, write_certificate
from zermelo.figures import span
from zermelo.proof.descent import Descent
from zermelo.proof.moves import MoveFinder
from zermelo.proof.strategy import ProofError, Strategy, find_strategy
from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection
from zermelo.server.goals import Goal
from zermelo.server.tree.tree import Tree

#: Called now and then with what is being done and how many positions that has met.
Report = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    header: Header
    size: int
    entries: int
    leaves: int
    #: What the campaign has not proved yet, in words; empty if it has reached its goal.
    unproved: str


def export_proof(
    connection: Connection,
    campaign: Campaign,
    path: Path,
    *,
    to_depth: int | None = None,
    full: bool = False,
    report: Report = lambda stage, count: None,
) -> Exported:
    """Write the certificate of what the campaign has proved about its root so far.

    The strategies go down to the frontier of the tree; with `to_depth` on from there, as
    many plies from the root, and with `full` to the end of every game.
    """
    game = campaign.game
    moves = MoveFinder(game)
    tree = Tree(connection, campaign.id, game)
    entries: dict[Any, Entry] = {}
    most = moves.checked.max_score
    lo, hi = -most, most
    former = connection.isolation_level
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    try:
        with connection.transaction():
            strategies = [
                find_strategy(
                    tree, campaign, at_least=at_least, report=lambda count: report("tree", count)
                )
                for at_least in (True, False)
            ]
    finally:
        connection.isolation_level = former
    descent = Descent(moves, None if full else to_depth) if full or to_depth is not None else None
    for strategy in filter(None, strategies):
        if abs(strategy.bound) >= most and strategy.at_least == (strategy.bound < 0):
            continue  # the checker sees in the rules what the tree had to prove
        lo, hi = (strategy.bound, hi) if strategy.at_least else (lo, strategy.bound)
        found = entries_of(strategy, moves)
        if descent is not None:
            found = descent.continue_from(
                campaign.start, found, lambda count: report("below the frontier", count)
            )
        for entry in found:
            entries[entry.order] = stronger(entry, entries.get(entry.order, entry))
    if not entries:
        raise ProofError(
            f"nothing is proved about the root of {campaign.name!r} yet beyond what the rules"
            " tell; there is no proof to export"
        )
    header = Header(
        game=game.spec,
        goal=str(campaign.goal),
        campaign=campaign.name,
        position=game.format(campaign.start),
        lo=lo,
        hi=hi,
        entries=len(entries),
        leaves=sum(entry.leaf is not None for entry in entries.values()),
        version=__version__,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        definition=game.definition_text or "",
        symmetries=" ".join(game.symmetry_names()),
    )
    size = write_certificate(path, header, list(entries.values()))
    return Exported(
        header, size, header.entries, header.leaves, unproved(campaign, lo, hi)
    )


def entries_of(strategy: Strategy, moves: MoveFinder) -> list[Entry]:
    """The strategy as entries; positions where the game is over need none."""
    entries = []
    for statement, reason in strategy.reasons.items():
        node = reason.node
        if node.children == ():
            continue
        move = None
        if statement.at_least and reason.leaf is None:
            (child,) = reason.below
            below = strategy.reasons[child].node
            move = moves.find((node.key, node.history), (below.key, below.history))
        bound = strategy.bound_of(statement)
        entries.append(
            Entry(node.key, node.history, statement.at_least, bound, move, reason.leaf)
        )
    return entries


def stronger(one: Entry, other: Entry) -> Entry:
    """Of two entries about a position the one that implies the other.

    Where a side passes, both strategies may state something about the same discs.
    """
    first = one.bound >= other.bound if one.at_least else one.bound <= other.bound
    return one if first else other


def unproved(campaign: Campaign, lo: int, hi: int) -> str:
    """What is missing to the campaign's goal."""
    if campaign.goal is Goal.SCORE:
        return "" if lo == hi else f"the score is somewhere from {span(lo, hi)}"
    if lo > 0 or hi < 0 or lo == hi == 0:
        return ""
    return f"who wins: the score is somewhere from {span(lo, hi)}"
