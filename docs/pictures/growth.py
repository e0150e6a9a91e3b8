"""Draws growth-tree.svg and growth-fleet.svg from the numbers in the files of the same names.

The files are what `python bench/scale.py --processor-time --json` and `python bench/fleet.py
--json` print. Needs `zermelo[plot]`; `python docs/pictures/growth.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

FOLDER = Path(__file__).parent
#: What a line shows: its name in the file, its name in the picture, what turns it into seconds, and
#: its colour. Colours that people tell apart who see no red or green (Okabe and Ito).
LINES = (
    ("expand", "expansion", 1.0, "#0072b2"),
    ("db check", "db check", 1.0, "#d55e00"),
    ("vacuum", "vacuum", 1.0, "#009e73"),
    ("planning starts", "planning starts", 1.0, "#cc79a7"),
    ("back-up of 500: median", "back-up of 500 answers", 1e-3, "#e69f00"),
    ("query position: median", "query position", 1e-3, "#56b4e9"),
)
#: What was asked for, and what was hoped for, by clients.
MUST, GOAL = {16: 14, 256: 170, 1024: 600}, {16: 15, 256: 220, 1024: 800, 4096: 2000}
GREY = "#999999"


def main() -> None:
    # Texts stay texts, in a font that the reader has; the same numbers draw the same file.
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "zermelo", "font.size": 10}
    draw("growth-tree", tree)
    draw("growth-fleet", fleet)


def draw(name: str, lines: Any) -> None:
    figure = Figure((7.2, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    lines(axes, json.loads((FOLDER / f"{name}.json").read_text()))
    figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})


def tree(axes: Axes, runs: list[dict[str, float]]) -> None:
    nodes = [run["nodes"] for run in runs]
    for key, label, unit, colour in LINES:
        seconds = [run[key] * unit for run in runs]
        axes.plot(nodes, seconds, "o-", color=colour, markersize=4)
        axes.annotate(label, (nodes[-1], seconds[-1]), (8, 0), textcoords="offset points",
                      color=colour, va="center")  # fmt: skip
    first = runs[0]["expand"]
    axes.plot(nodes, [first * count / nodes[0] for count in nodes], ":", color=GREY, zorder=0)
    axes.annotate("linear", (nodes[1], first * nodes[1] / nodes[0]), (0, 10),
                  textcoords="offset points", color=GREY, ha="right")  # fmt: skip
    axes.set_xlim(nodes[0] / 1.3, nodes[-1] * 9)
    axes.set_xlabel("nodes of the tree")
    axes.set_ylabel("processor time, s")


def fleet(axes: Axes, runs: list[dict[str, Any]]) -> None:
    base = runs[0]
    clients = [run["clients"] for run in runs]
    share = [base["seconds"] / run["seconds"] / run["clients"] for run in runs]
    for_equal_nodes = [
        part * run["nodes"] / base["nodes"] for part, run in zip(share, runs, strict=True)
    ]
    axes.set_yscale("linear")
    axes.set_ylim(0, 1.1 * max(1.0, *share))
    axes.axhline(1, linestyle=":", color=GREY)
    axes.plot(clients, share, "o-", color="#0072b2", label="measured")
    axes.plot(clients, for_equal_nodes, "s--", color="#e69f00", label="for equal nodes")
    for wanted, mark, colour, label in (
        (MUST, "v", "#d55e00", "must"), (GOAL, "*", "#009e73", "goal"),
    ):  # fmt: skip
        axes.plot(list(wanted), [up / count for count, up in wanted.items()], mark,
                  color=colour, label=label)  # fmt: skip
    axes.legend(frameon=False, loc="lower left")
    counts = sorted({*clients, *GOAL})
    axes.set_xticks(counts, [f"{count:,}" for count in counts])
    axes.minorticks_off()
    axes.set_xlabel("clients")
    axes.set_ylabel("speed-up ÷ clients")


if __name__ == "__main__":
    main()
