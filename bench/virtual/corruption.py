"""What the cheapest corruption of a campaign costs, computed over the rules and real trees.

To make the root wrong an attacker needs a *false proof*: wrong answers which, together with right
ones, prove a wrong bound. High in the tree one wrong answer is a false proof, but much rests on it
and it needs a second trusted user. Deeper down less rests on each, but all replies of one side need
a wrong answer. For each depth this computes the fewest wrong answers of a false proof that has none
above that depth, and the largest part of the campaign that one of them makes superfluous, on trees
that campaigns really grew.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from zermelo.engine import Engine, Window
from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection
from zermelo.server.tree.identity import NodeId
from zermelo.server.tree.tree import Node, Tree
from zermelo.server.trust import records
from zermelo.server.trust.assurance import FEW_TRUSTED

MOST_DEPTH = 12
#: Trees to look at, the latest, so that their checking is that of a mature project.
MOST_TREES = 3


@dataclass(frozen=True)
class FalseProof:
    """The fewest wrong answers that make the root wrong, none of them above a depth."""

    depth: int
    lies: float
    #: The largest part of the tree that one of them makes superfluous.
    share: float


@dataclass(frozen=True)
class Cost:
    """Honest work that must precede a corruption."""

    who: str
    #: In typical workunits and in nodes, until it probably succeeds.
    workunits: float
    nodes: float
    #: By the nodes that the campaign spends on checking.
    by_checking: float
    how: str


@dataclass(frozen=True)
class Corruption:
    typical_nodes: float
    campaign_nodes: float
    campaign_workunits: float
    checking_nodes: float
    proofs: list[FalseProof]
    costs: list[Cost]

    def lines(self) -> Iterator[str]:
        yield (f"the cheapest corruption of a campaign of {self.campaign_nodes:,.0f} nodes in"
               f" {self.campaign_workunits:,.0f} workunits, of which {self.checking_nodes:,.0f}"
               " nodes are for checking")
        yield f"{'no lie above depth':>20} {'fewest lies':>12} {'largest share':>14}"
        for proof in self.proofs:
            yield f"{proof.depth:>20} {proof.lies:>12.0f} {proof.share:>14.1%}"
        yield f"{'':30} {'workunits':>10} {'nodes':>12} {'by checking':>12}"
        for cost in self.costs:
            yield (f"{cost.who:30} {cost.workunits:>10,.0f} {cost.nodes:>12,.0f}"
                   f" {cost.by_checking:>11.1f}x  {cost.how}")


def cheapest_corruption(
    connection: Connection, campaigns: Sequence[Campaign], engine: Engine, trusted: int
) -> Corruption:
    """`trusted`: the number of users who are."""
    rows = connection.execute(
        "SELECT campaign, nodes, workunits, checking_nodes, expected_nodes FROM totals"
        " WHERE campaign = ANY(%s) ORDER BY campaign DESC LIMIT %s",
        ([campaign.id for campaign in campaigns], MOST_TREES),
    ).fetchall()
    count = len(rows)
    nodes, workunits, checking, expected = (
        float(sum(row[at] for row in rows)) / count for at in range(1, 5)
    )
    by_id = {campaign.id: campaign for campaign in campaigns}
    trees = [_FalseProofs(connection, by_id[row[0]], engine) for row in rows]
    proofs = []
    for depth in range(MOST_DEPTH + 1):
        found = [tree.cheapest(depth) for tree in trees]
        proofs.append(min(found, key=lambda proof: (proof.lies, proof.share)))
    typical = expected / workunits
    costs = [
        Cost(who, work, work * typical, work * typical / checking, how)
        for who, work, how in _costs(proofs, workunits, trusted)
    ]
    return Corruption(typical, nodes, workunits, checking, proofs, costs)


def _costs(
    proofs: Sequence[FalseProof], workunits: float, trusted: int
) -> Iterator[tuple[str, float, str]]:
    """Who corrupts the root, the typical workunits of honest work it takes, and how.

    A lie that matters is a lie about one certain question, so an attacker must be asked that one
    first, with a chance as large as its part of all answers. What it does not want it can answer,
    give back or call exhausted. The latter two cost the record, so that for each record it skips a
    limited number of questions. It may lie as soon as it is trusted, or after its probation.
    """
    refuted = (records.TOLERATED_REFUTED + 1) / records.LEAST_CHECKED_EXHAUSTED
    skipped = refuted + records.TOLERATED_ABANDONED

    def somewhere(record: int) -> float:
        return record / (1 - records.check_rate(record))

    lengths = (records.TRUSTED_AFTER, records.TRUSTED_AFTER + records.PROBATION)
    record = min(lengths, key=somewhere)
    checked = records.check_rate(record)
    yield ("a wrong bound somewhere", somewhere(record),
           f"one lie on a trusted word; found with {checked:.1%}, and with all else of that host"
           f" after {1 / checked:.0f} lies on average")

    def alone(proof: FalseProof, record: int) -> float:
        needed = max(record, proof.share * workunits / records.MOST_STAKES)
        chance = (1 - records.check_rate(record)) ** proof.lies
        return max(needed, record / (record + skipped) * workunits) / chance

    ways = [(proof, record) for proof in proofs if proof.depth > 0 for record in lengths]
    proof, record = min(ways, key=lambda way: alone(*way))
    cheapest = alone(proof, record)
    how = (f"{proof.lies:.0f} lies at depth {proof.depth} ({proof.share:.1%} rest on each), of"
           f" {workunits:.0f} questions {skipped / (record + skipped):.0%} skipped")
    yield "mature, one account", cheapest, how
    yield ("mature, many accounts", cheapest,
           "the same: each account skips no more than its own record allows")
    # Or two of its accounts are asked the same question that needs two trusted users: one that
    # ends a test or, at the end of a campaign, one that strangers alone agreed on.
    yield ("  at the root", *_two_asked(max(2, trusted)))
    yield "turncoat", cheapest, "as one account; its record is the honest work"
    yield "young, one account", cheapest, "a stranger is never believed alone"
    work, how = _two_asked(max(FEW_TRUSTED, trusted))
    yield ("young, many accounts", work,
           "what strangers alone agree on is asked again before the campaign ends: " + how)
    yield "lazy hosts", math.inf, "`exhausted` proves nothing: no bound, no trust"


def _two_asked(trusted: int) -> tuple[float, str]:
    """Until an attacker's accounts are the two of `trusted` users who are asked, at the least cost.

    The first of them has to lie before anybody knows who is the second, and is convicted if that
    is somebody else.
    """
    accounts = 1 + math.sqrt(trusted)
    tries = max(1.0, (trusted - 1) / (accounts - 1))
    return records.TRUSTED_AFTER * (accounts + tries), (
        f"{accounts:.0f} trusted accounts among {trusted} users, {tries:.0f} convictions; only"
        " where the referee cannot tell"
    )


class _FalseProofs:
    """The false proofs of one finished campaign."""

    def __init__(self, connection: Connection, campaign: Campaign, engine: Engine) -> None:
        tree = Tree(connection, campaign.id, campaign.game)
        ids = [row[0] for row in connection.execute(
            "SELECT id FROM nodes WHERE campaign = %s", (campaign.id,)
        )]  # fmt: skip
        nodes: dict[NodeId, Node] = {node.id: node for node in tree.load(ids)}
        self._root = campaign.root
        game = campaign.game

        @cache
        def score(id_: NodeId) -> int:
            node = nodes[id_]
            if node.children:
                return max(-score(child) for child in node.children)
            position = tree.position(node)
            if game.is_final(position):
                return game.score(position)
            rules = game.score_range
            return engine.solve(position, Window(rules.lo - 1, rules.hi + 1)).bounds.lo

        @cache
        def size(id_: NodeId) -> int:
            return 1 + sum(size(child) for child in nodes[id_].children or ())

        @cache
        def lies(id_: NodeId, threshold: int, claim: bool, above: int) -> tuple[float, float]:
            """The fewest lies that prove the claim, none in the first `above` plies, and the
            largest subtree that one of them makes superfluous."""
            if (score(id_) >= threshold) == claim:
                return 0, 0
            children = nodes[id_].children
            if children is not None and not children:
                return math.inf, 0  # the rules tell
            if above <= 0 or children is None:
                return 1, size(id_)
            below = [lies(child, 1 - threshold, not claim, above - 1) for child in children]
            if not claim:
                return sum(count for count, _ in below), max(skip for _, skip in below)
            count, skipped = min(below)
            # A no that is a lie itself closes this node, and all its other children.
            return count, max(skipped, size(id_) if count and above == 1 else 0)

        self._lies, self._size, self._score = lies, size, score

    def cheapest(self, depth: int) -> FalseProof:
        value = self._score(self._root)
        found = [
            self._lies(self._root, value + 1, True, depth),
            self._lies(self._root, value, False, depth),
        ]
        count, skipped = min(found)
        return FalseProof(depth, count, skipped / self._size(self._root))
