"""The strategy that secures a bound, as the tree of a campaign proves it.

To prove "at least b" one move is enough where the proving side moves, and every reply
must be met where it does not. Where several moves prove the bound, the one whose leaves
took the fewest nodes to settle is taken: it is the cheapest to check again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from zermelo import ZermeloError
from zermelo.checker import Leaf
from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection
from zermelo.server.tree.identity import NodeId
from zermelo.server.tree.tree import Node, Tree
from zermelo.sql import query

#: Nodes read with one query.
BATCH = 5000

#: Called now and then with the number of nodes looked at.
Report = Callable[[int], None]


class ProofError(ZermeloError):
    """The tree does not prove what is to be exported; the message says where."""

    exit_code = 4


class Statement(NamedTuple):
    """"The score of this node is at least (or at most) the bound"; the bound follows."""

    node: NodeId
    at_least: bool


@dataclass(slots=True)
class Reason:
    """Why a statement holds: statements about children, of which one or all are needed."""

    node: Node
    #: At least: any one of these proves it. At most: all of these together do.
    below: list[Statement] = field(default_factory=list)
    leaf: Leaf | None = None


class Strategy(NamedTuple):
    """The statements that prove the one about the root, each with its reason."""

    at_least: bool
    bound: int
    reasons: dict[Statement, Reason]

    def bound_of(self, statement: Statement) -> int:
        return self.bound if statement.at_least == self.at_least else -self.bound


def find_strategy(
    tree: Tree, campaign: Campaign, *, at_least: bool, report: Report = lambda count: None
) -> Strategy | None:
    """The cheapest strategy for this bound of the root; None if only the rules give it."""
    (root,) = tree.load([campaign.root])
    bound = root.lo if at_least else root.hi
    if bound == (-tree.game.max_score if at_least else tree.game.max_score):
        return None
    top = Statement(root.id, at_least)
    reasons = _Search(tree, Strategy(at_least, bound, {}), report).run(top, root)
    return Strategy(at_least, bound, _cheapest(top, reasons))


class _Search:
    """Everything below the root that could be part of the proof."""

    def __init__(self, tree: Tree, target: Strategy, report: Report) -> None:
        self._tree, self._target, self._report = tree, target, report
        self._reasons: dict[Statement, Reason] = {}

    def run(self, top: Statement, root: Node) -> dict[Statement, Reason]:
        level = {top: root}
        while level:
            self._reasons.update((statement, Reason(node)) for statement, node in level.items())
            following: dict[Statement, Node] = {}
            leaves: list[Statement] = []
            children = self._load(child for node in level.values() for child in node.children or ())
            for statement, node in level.items():
                below = self._below(statement, node, children)
                if not below and node.children != ():
                    leaves.append(statement)
                self._reasons[statement].below = below
                for child in below:
                    if child not in self._reasons:
                        following[child] = children[child.node]
            self._settle(leaves)
            self._report(len(self._reasons))
            level = following
        return self._reasons

    def _below(
        self, statement: Statement, node: Node, children: dict[NodeId, Node]
    ) -> list[Statement]:
        """The children that prove the statement; none if they do not."""
        nodes = [children[child] for child in node.children or ()]
        needed = -self._target.bound_of(statement)
        if statement.at_least:
            return [Statement(child.id, False) for child in nodes if child.hi <= needed]
        if all(child.lo >= needed for child in nodes):
            return [Statement(child.id, True) for child in nodes]
        return []

    def _load(self, ids: Iterable[NodeId]) -> dict[NodeId, Node]:
        wanted = sorted(set(ids))
        return {
            node.id: node
            for at in range(0, len(wanted), BATCH)
            for node in self._tree.load(wanted[at : at + BATCH])
        }

    def _settle(self, leaves: list[Statement]) -> None:
        """Give leaves the results they rest on."""
        evidence = leaf_evidence(self._tree.connection, [statement.node for statement in leaves])
        for statement in leaves:
            bound = self._target.bound_of(statement)
            proving = [
                one
                for one in evidence.get(statement.node, ())
                if (one.lo >= bound if statement.at_least else one.hi <= bound)
            ]
            if not proving:
                sign = "at least" if statement.at_least else "at most"
                raise ProofError(
                    f"no result proves that node {statement.node} is worth {sign} {bound};"
                    " run `zermelo db check`"
                )
            self._reasons[statement].leaf = Leaf(
                nodes=min(one.nodes for one in proving),
                results=len(proving),
                hosts=len({one.host for one in proving}),
            )


class Evidence(NamedTuple):
    """Bounds of a node that one result proves, the nodes it took and who searched them."""

    lo: int
    hi: int
    nodes: int
    host: int


def leaf_evidence(connection: Connection, nodes: list[NodeId]) -> dict[NodeId, list[Evidence]]:
    found: dict[NodeId, list[Evidence]] = {}
    for at in range(0, len(nodes), BATCH):
        rows = connection.execute(query("evidence_of_nodes"), (nodes[at : at + BATCH],))
        for node, *evidence in rows:
            found.setdefault(node, []).append(Evidence(*evidence))
    return found


def _cheapest(top: Statement, reasons: dict[Statement, Reason]) -> dict[Statement, Reason]:
    """Only what is needed: of several moves the one that is cheapest to check."""
    costs: dict[Statement, int] = {}
    stack = [top]
    while stack:
        statement = stack[-1]
        reason = reasons[statement]
        waiting = [child for child in reason.below if child not in costs]
        if waiting:
            stack += waiting
            continue
        stack.pop()
        below = [costs[child] for child in reason.below]
        own = 1 if reason.leaf is None else reason.leaf.nodes
        costs[statement] = own + (min(below, default=0) if statement.at_least else sum(below))
    needed: dict[Statement, Reason] = {}
    stack = [top]
    while stack:
        statement = stack.pop()
        if statement in needed:
            continue
        needed[statement] = reason = reasons[statement]
        if statement.at_least and reason.below:
            reason.below = [min(reason.below, key=lambda child: (costs[child], child))]
        stack += reason.below
    return needed
