"""docs/founding-numbers.md: the founding documents' tables beside ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from zermelo.cli.charts import text_plot
from zermelo.cli.output import short_count, short_time
from zermelo.figures import signed
from zermelo.research.founding import (
    LINES,
    NODE_BYTES,
    PEAK_PLY,
    POSITIONAL_SHARE,
    ROW_FACTORS,
    SPEC,
    TREE_SIZE,
    Founding,
    LineCount,
    Resolved,
)

#: The table of branching has one row for each PLIES_A_ROW plies.
PLIES_A_ROW = 5
UNMEASURED = "not measured"


def document(made: Founding, seed: int) -> str:
    """The whole document in Markdown."""
    return "\n".join([*_lines(made.lines), *_games(made, seed), *_nodes(made),
                      *_solved(made.solved)]) + "\n"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    cells = [columns, ["---"] * len(columns), *rows]
    return [f"| {' | '.join(row)} |" for row in cells] + [""]


def _lines(lines: Sequence[LineCount]) -> Iterator[str]:
    yield from (
        "# Founding numbers", "",
        "The figures of the founding documents beside ours. This page is written by", "",
        "```sh", "zermelo tree founding --solved --output docs/founding-numbers.md", "```", "",
        "`--solved` reads finished campaigns from the database; without it they are not measured.",
        "", f"## Lines of play of {SPEC}", "",
    )  # fmt: skip
    before = zip([1, *LINES], [1, *(line.here for line in lines)], lines, strict=False)
    yield from _table(
        ["moves", "there", "here", "ratio there", "ratio here", "forced passes before"],
        [[str(line.depth), f"{line.there:,}", f"{line.here:,}",
          f"{line.there / there:.2f}", f"{line.here / here:.2f}", f"{line.forced_passes:,}"]
         for there, here, line in before],
    )
    for line in lines:
        if line.here != line.there:
            missing = line.here - line.there
            yield (
                f"At {line.depth} moves {missing:,} lines are missing there. As many lines of"
                f" {line.depth - 1} moves end in a forced pass ({line.forced_passes:,}): a pass"
                " was given no child."
            )
            yield ""


def _games(made: Founding, seed: int) -> Iterator[str]:
    games = made.games
    ply, branching = made.peak
    low_plies = [each.ply for each in games.plies if (each.branching_without_pass or 1.0) < 1.0]
    below_one = f"from ply {low_plies[0]} on" if low_plies else "never"
    yield from (f"## Random games of {SPEC}", "",
                f"{games.games:,} games, seed {seed}, {games.mean_length:.1f} plies long on"
                " average. A pass is no move here.", "")  # fmt: skip
    yield from _table(["what", "there", "here"], [
        ["largest branching", f"near move {PEAK_PLY}", f"{branching:.2f} at ply {ply}"],
        ["branching below 1", "at the end", below_one],
        ["tree, sum of products of means", f"{TREE_SIZE:.2e}", f"{games.tree_size_of_means:.2e}"],
        ["tree, Knuth's estimate (95 %)", "", f"{games.tree_size:.2e} ({games.tree_size_low:.1e}"
                                              f" to {games.tree_size_high:.1e})"],
        [f"positional beats random ({made.matches:,} games here)", f"{POSITIONAL_SHARE:.0%}",
         f"{made.positional_share:.0%}"],
    ])  # fmt: skip
    yield from _table(
        ["ply", "branching", "a pass = no move", "games not over"],
        [[str(each.ply), f"{each.branching:.2f}", f"{each.branching_without_pass:.2f}",
          f"{each.games:,}"] for each in games.plies
         if each.ply % PLIES_A_ROW == 0 and each.branching is not None],
    )
    factors = [each.branching_without_pass or 0.0 for each in games.plies]
    yield from ("```", text_plot("branching by ply, a pass being no move", factors), "```", "")


def _nodes(made: Founding) -> Iterator[str]:
    yield from ("## A node on disk", "")
    rows = [["position alone", f"{NODE_BYTES} bytes", f"{made.key_bytes} bytes"]]
    rows += [[f"row of PostgreSQL, {nodes:,} nodes", f"{factor * NODE_BYTES:.0f} bytes"
              f" ({factor} times the position)", ""] for nodes, factor in ROW_FACTORS]
    if made.stored is not None and made.stored.nodes:
        each = made.stored.size / made.stored.nodes
        rows.append([f"row of PostgreSQL, {made.stored.nodes:,} nodes, indexes included", "",
                     f"{each:.0f} bytes ({each / made.key_bytes:.1f} times the position)"])
    yield from _table(["what", "there", "here"], rows)


def _solved(solved: Sequence[Resolved]) -> Iterator[str]:
    yield from ("## Solved games", "",
                "The score is that of the first player; the time here is that of all engines"
                " together.", "")  # fmt: skip
    yield from _table(
        ["game", "score there", "score here", "positions there", "nodes here", "time there",
         "engine time here"],
        [[f"`{each.there.campaign}`", signed(each.there.score),
          UNMEASURED if each.score is None else signed(each.score),
          f"about {each.there.nodes:.1e}",
          UNMEASURED if each.nodes is None else short_count(each.nodes), each.there.time,
          UNMEASURED if each.engine_seconds is None else short_time(each.engine_seconds)]
         for each in solved],
    )
