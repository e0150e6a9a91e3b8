"""A moment of a performance as a picture: the tree as SVG, for lectures and pages.

States are told apart by shape and by colour: current a diamond, visited a disc, reached by the
game that is played a triangle, reachable a ring, unreachable a small grey dot, cut a red square
with a cross.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from zermelo.theatre.performance import Performance, State

#: The room of a leaf and of a ply; beyond WIDEST all is drawn smaller.
STEP, PLY, MARGIN, WIDEST = 28.0, 64.0, 70.0, 2400.0
#: Where leaves get less room than this, texts at nodes are left out.
READABLE = 18.0
RADIUS = 9.0
#: In larger trees the names of moves would cover each other.
MOST_NAMED = 60

STYLE = """
text { font: 10px sans-serif; fill: #222; text-anchor: middle; }
.level { font-weight: bold; text-anchor: start; }
.edge { stroke: #999; } .edge.cut { stroke: #c22; stroke-dasharray: 3 3; } .edge.best { stroke: #16a; stroke-width: 2.5; }
.reached { fill: #d9f2d9; stroke: #2a7; } .visited { fill: #cde3f7; stroke: #16a; } .current { fill: #ffd75e; stroke: #a60; stroke-width: 2; }
.reachable { fill: #fff; stroke: #777; } .unreachable { fill: #bbb; stroke: none; }
.cut { fill: #fdd; stroke: #c22; } .cross { stroke: #c22; }
.background { fill: #fff; }
"""  # noqa: E501


def layout(performance: Performance) -> list[tuple[float, float]]:
    """Where each node stands: leaves side by side, parents above the middle of their children."""
    tree = performance.tree
    leaves = sum(not node.children for node in tree.nodes)
    step = min(STEP, WIDEST / max(1, leaves))
    places: list[tuple[float, float]] = [(0.0, 0.0)] * len(tree)
    drawn = 0
    for node in tree.nodes:
        if not node.children:
            places[node.number] = (MARGIN + drawn * step, MARGIN / 2 + node.ply * PLY)
            drawn += 1
    for node in reversed(tree.nodes):
        if node.children:
            ends = places[node.children[0]][0], places[node.children[-1]][0]
            places[node.number] = (sum(ends) / 2, MARGIN / 2 + node.ply * PLY)
    return places


def draw(performance: Performance, step: int | None = None, *, style: str = STYLE) -> str:
    """The picture after `step` events; at the end if that is None. A page has its own `style`."""
    step = len(performance.events) if step is None else step
    tree, places = performance.tree, layout(performance)
    width = max(x for x, _ in places) + MARGIN
    height = MARGIN + tree.depth * PLY + 20
    title = f"{performance.algorithm} on {tree.game.short_spec}, step {step}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}"'
        f' width="{width:.0f}" height="{height:.0f}" role="img">',
        f"<title>{escape(title)}</title>{f'<style>{style}</style>' if style else ''}",
        f'<rect class="background" width="{width:.0f}" height="{height:.0f}"/>',
        *(
            f'<text class="level" x="6" y="{MARGIN / 2 + ply * PLY + 4:.0f}">'
            f'{"MIN" if ply % 2 else "MAX"}</text>'
            for ply in range(tree.depth + 1)
        ),
        *_edges(performance, step, places),
        *_nodes(performance, step, places),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _edges(
    performance: Performance, step: int, places: list[tuple[float, float]]
) -> Iterator[str]:
    states = performance.states(step)
    finished = step >= len(performance.events)
    for node in performance.tree.nodes[1:]:
        if node.parent is None:
            continue
        kind = "edge cut" if states[node.number] is State.CUT else "edge"
        if finished and node.number == performance.best:
            kind = "edge best"
        (x, y), (below_x, below_y) = places[node.parent], places[node.number]
        yield f'<path class="{kind}" d="M{x:.1f} {y:.0f}L{below_x:.1f} {below_y:.0f}"/>'


def _nodes(
    performance: Performance, step: int, places: list[tuple[float, float]]
) -> Iterator[str]:
    tree, values = performance.tree, performance.values(step)
    leaves = sum(not node.children for node in tree.nodes)
    radius = RADIUS if WIDEST / max(1, leaves) > READABLE else 3.0
    for number, state in enumerate(performance.states(step)):
        x, y = places[number]
        yield f"<g>{_shape(state, x, y, radius)}"
        yield f"<title>{escape(f'{tree.label(number)}: {state}')}</title>"
        if radius == RADIUS:
            if number in values:
                yield f'<text x="{x:.1f}" y="{y + 3.5:.1f}">{values[number]}</text>'
            if len(tree) <= MOST_NAMED:
                name = escape(tree.move_name(number))
                yield f'<text x="{x + RADIUS + 2:.1f}" y="{y - 12:.1f}">{name}</text>'
        yield "</g>"


def _shape(state: State, x: float, y: float, radius: float) -> str:
    if state is State.CURRENT:
        r = radius * 1.3
        points = f"{x:.1f},{y - r:.1f} {x + r:.1f},{y:.1f} {x:.1f},{y + r:.1f} {x - r:.1f},{y:.1f}"
        return f'<polygon class="current" points="{points}"/>'
    if state is State.REACHED:
        r = radius * 1.25
        points = f"{x:.1f},{y - r:.1f} {x + r:.1f},{y + 0.8 * r:.1f} {x - r:.1f},{y + 0.8 * r:.1f}"
        return f'<polygon class="reached" points="{points}"/>'
    if state is State.CUT:
        r = radius * 0.8
        return (
            f'<rect class="cut" x="{x - r:.1f}" y="{y - r:.1f}" width="{2 * r:.1f}"'
            f' height="{2 * r:.1f}"/><path class="cross" d="M{x - r:.1f} {y - r:.1f}'
            f'l{2 * r:.1f} {2 * r:.1f}m0 {-2 * r:.1f}l{-2 * r:.1f} {2 * r:.1f}"/>'
        )
    size = radius * 0.4 if state is State.UNREACHABLE else radius
    return f'<circle class="{state}" cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"/>'
