"""What a person sees of a running solve, and of its end."""

from __future__ import annotations

import time
from collections import deque
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from zermelo.figures import clock, share, short, signed, span
from zermelo.games import open_game
from zermelo.server.campaigns import Summary
from zermelo.server.vocabulary import CampaignState

SPEED_SECONDS = 5.0
PLAIN_SECONDS = 10.0
BAR_WIDTH = 41


class LiveView:
    """Redraws in place on a terminal; elsewhere it writes a line now and then."""

    def __init__(self, stream: TextIO, *, quiet: bool) -> None:
        self._console = Console(file=stream)
        self._quiet = quiet
        self._live: Live | None = None
        self._samples: deque[tuple[float, int]] = deque()
        self._started = time.monotonic()
        self._last_line = self._started

    def __enter__(self) -> LiveView:
        if not self._quiet and self._console.is_terminal:
            # Without a refresh thread: the process must stay safe to fork.
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, summary: Summary, restarts: int) -> None:
        now = time.monotonic()
        speed = self._speed(now, summary.nodes)
        if self._live is not None:
            self._live.update(render(summary, speed, now - self._started, restarts), refresh=True)
        elif not self._quiet and now - self._last_line >= PLAIN_SECONDS:
            self._last_line = now
            self._console.print(plain_line(summary, speed), highlight=False, soft_wrap=True)

    def _speed(self, now: float, nodes: int) -> float:
        """Nodes a second over the last few seconds."""
        self._samples.append((now, nodes))
        while self._samples[0][0] < now - SPEED_SECONDS:
            self._samples.popleft()
        (then, before) = self._samples[0]
        return (nodes - before) / (now - then) if now > then else 0.0


def render(summary: Summary, speed: float, seconds: float, restarts: int) -> RenderableType:
    """The whole view."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    table.add_row("root", _root(summary))
    table.add_row("", _bar(summary))
    table.add_row("questions", f"{summary.open_questions:,} open")
    table.add_row(
        "workunits",
        f"{summary.ready:,} ready   {summary.leased:,} leased   {summary.answered:,} answered"
        f"   {summary.withdrawn:,} withdrawn   {summary.splits:,} split",
    )
    table.add_row(
        "search",
        f"{short(speed)} nodes/s   {short(summary.nodes)} nodes"
        f"   {summary.tree_nodes:,} positions in the tree",
    )
    table.add_row("unneeded", f"{share(summary.wasted_nodes, summary.nodes)} of the work so far")
    table.add_row("remaining", remaining(summary, speed))
    if summary.alarms:
        table.add_row("alarms", Text(f"{summary.alarms}: see `zermelo db check`", style="bold red"))
    if restarts:
        table.add_row("restarts", Text(f"{restarts}, see the log", style="yellow"))
    title = Text.assemble(
        (f"{summary.game}", "bold"), f"  {summary.goal}  ", (clock(seconds), "dim")
    )
    return Group(title, table, Text("Ctrl-C stops; the same command goes on.", style="dim"))


def plain_line(summary: Summary, speed: float) -> str:
    lo, hi = summary.bounds
    return (
        f"{summary.game}: {lo} to {hi}, {summary.open_questions:,} questions open, "
        f"{summary.ready:,} ready, {summary.leased:,} leased, {summary.answered:,} answered, "
        f"{summary.splits:,} split, {short(speed)} nodes/s, remaining {remaining(summary, speed)}"
    )


def show_result(summary: Summary, seconds: float) -> None:
    """The end of a solve, for people."""
    console = Console(highlight=False)
    lo, hi = summary.bounds
    if summary.state == CampaignState.CANCELLED:
        console.print(f"{summary.game}: the campaign was cancelled with {lo} to {hi} proved")
        return
    console.print(
        f"[bold]{summary.game}[/bold]: [bold]{span(lo, hi)}[/bold], {summary.outcome}"
    )
    if summary.line:
        console.print(f"best play: {' '.join(summary.line)}", soft_wrap=True)
    console.print(
        f"{summary.workunits:,} workunits, {summary.splits:,} split, "
        f"{summary.withdrawn:,} withdrawn; {summary.nodes:,} nodes, "
        f"{share(summary.wasted_nodes, summary.nodes)} unneeded; {seconds:.1f} s"
    )


# -- pieces -------------------------------------------------------------------------------


def _root(summary: Summary) -> Text:
    lo, hi = summary.bounds
    text = Text(f"{span(lo, hi)} proved", style="bold")
    if summary.threshold is not None:
        text.append(f"   now asking: at least {signed(summary.threshold)}?", style="not bold cyan")
    return text


def _bar(summary: Summary) -> Text:
    """The scores that are still possible, on the scale of all scores."""
    lo, hi = summary.bounds
    top = max(open_game(summary.game).max_score, 1)

    def place(score: int) -> int:
        return round((score + top) / (2 * top) * (BAR_WIDTH - 1))

    first, last = place(lo), place(hi)
    return Text.assemble(
        ("·" * first, "dim"), ("━" * (last - first + 1), "green"),
        ("·" * (BAR_WIDTH - 1 - last), "dim"),
    )  # fmt: skip


def remaining(summary: Summary, speed: float) -> str:
    """The estimate of what is left to search, with its uncertainty."""
    if summary.remaining is None:
        return "not known yet"
    factor = summary.remaining_factor or 1.0
    low, high = summary.remaining / factor, summary.remaining * factor
    text = f"about {short(summary.remaining)} nodes ({short(low)} to {short(high)})"
    if speed > 0:
        text += f", {clock(summary.remaining / speed)} ({clock(low / speed)} to "
        text += f"{clock(high / speed)})"
    return text
