"""Back-up in SQL against a naive evaluation, on random graphs."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zermelo.server.campaigns import create_campaign
from zermelo.server.database import Connection
from zermelo.server.tree.backup import Contradiction, Evidence, add_evidence, back_up

LIMIT = 10
Graph = list[list[int]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Children of each node, all of them later nodes; the last ones are the frontier."""
    size = draw(st.integers(2, 14))
    graph: Graph = []
    for node in range(size):
        later = list(range(node + 1, size))
        graph.append(draw(st.lists(st.sampled_from(later), max_size=4, unique=True))
                     if later and node < size * 2 // 3 else [])
    return graph


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Graph, list[int], list[tuple[int, int, int]]]:
    """A graph, the true score of every node, and true evidence about some nodes."""
    graph = draw(graphs())
    scores = [0] * len(graph)
    for node in reversed(range(len(graph))):
        below = graph[node]
        scores[node] = (
            max(-scores[child] for child in below) if below
            else draw(st.integers(-LIMIT, LIMIT))
        )
    evidence = []
    for node in draw(st.lists(st.integers(0, len(graph) - 1), max_size=12)):
        lo = draw(st.integers(-LIMIT, scores[node]))
        hi = draw(st.integers(scores[node], LIMIT))
        evidence.append((node, lo, hi))
    return graph, scores, evidence


def plant(connection: Connection, graph: Graph) -> int:
    """The graph as the tree of a new campaign; nodes are numbered from 1."""
    connection.execute("TRUNCATE nodes, histories, evidence, node_changes")
    campaign = create_campaign(connection, "reversi:4x4", replication="none").id
    for node, children in enumerate(graph):
        parents = [other + 1 for other, below in enumerate(graph) if node in below]
        connection.execute(
            "INSERT INTO nodes (id, parent, position, campaign, lo, hi, children, parents)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
            (
                node + 1, parents[0] if parents else node + 1, UUID(int=node), campaign,
                -LIMIT, LIMIT, [child + 1 for child in children] or None, parents[1:] or None,
            ),
        )
    return campaign


def naive(graph: Graph, evidence: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    bounds = [(-LIMIT, LIMIT)] * len(graph)
    for node in reversed(range(len(graph))):
        lo, hi = -LIMIT, LIMIT
        for proved, low, high in evidence:
            if proved == node:
                lo, hi = max(lo, low), min(hi, high)
        if graph[node]:
            lo = max(lo, max(-bounds[child][1] for child in graph[node]))
            hi = min(hi, max(-bounds[child][0] for child in graph[node]))
        bounds[node] = lo, hi
    return bounds


def stored(connection: Connection) -> list[tuple[int, int]]:
    return connection.execute("SELECT lo, hi FROM nodes WHERE id <= 20 ORDER BY id").fetchall()


@settings(max_examples=60)
@given(worlds())
def test_back_up_equals_naive_evaluation(
    connection: Connection, world: tuple[Graph, list[int], list[tuple[int, int, int]]]
) -> None:
    graph, scores, evidence = world
    campaign = plant(connection, graph)
    before = stored(connection)
    half = len(evidence) // 2
    for number, batch in enumerate((evidence[:half], evidence[half:])):
        add_evidence(connection, campaign, [
            Evidence(node + 1, 100 * number + place, lo, hi)
            for place, (node, lo, hi) in enumerate(batch)
        ])
        now = stored(connection)
        assert all(b[0] <= a[0] and a[1] <= b[1] for b, a in zip(before, now, strict=True))
        before = now
    assert stored(connection) == naive(graph, evidence)
    assert all(lo <= score <= hi for (lo, hi), score in zip(before, scores, strict=True))


def test_changes_are_published(connection: Connection) -> None:
    campaign = plant(connection, [[1, 2], [], []])
    changed = add_evidence(connection, campaign, [Evidence(2, 1, 3, 3), Evidence(3, 2, 4, 10)])
    assert changed == {1, 2, 3}
    assert {row[0] for row in connection.execute("SELECT node FROM node_changes")} == {1, 2, 3}
    assert stored(connection)[0] == (-3, -3)


def test_a_node_expanded_above_known_children_is_backed_up(connection: Connection) -> None:
    campaign = plant(connection, [[1], [], []])
    add_evidence(connection, campaign, [Evidence(3, 1, 5, 5)])
    connection.execute("UPDATE nodes SET children = '{3}' WHERE id = 2")
    assert back_up(connection, campaign, [2]) == {1, 2}
    assert stored(connection)[0] == (5, 5)


def test_a_contradiction_is_never_written(connection: Connection) -> None:
    campaign = plant(connection, [[1], []])
    add_evidence(connection, campaign, [Evidence(1, 1, 5, 10)])
    with pytest.raises(Contradiction) as caught, connection.transaction():
        add_evidence(connection, campaign, [Evidence(2, 2, 0, 0)])
    assert caught.value.nodes == [1]
    assert stored(connection) == [(5, 10), (-10, 10)]
