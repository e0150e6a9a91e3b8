"""The daemon's status drawn for people: every search as a board."""

from __future__ import annotations

import contextlib
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from rich import box
from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from zermelo.cli.output import short_count, short_time
from zermelo.client.settings import ClientError
from zermelo.figures import counted, signed
from zermelo.games import GameError, open_game

REFRESH_SECONDS = 0.5
PANEL_WIDTH = 36
BAR_WIDTH = 22
STYLES = {
    "working": "green", "paused": "yellow", "waiting": "yellow", "connecting": "yellow",
    "preparing": "yellow", "offline": "red", "stopping": "red",
}  # fmt: skip


def follow(get: Callable[[], dict[str, Any]], stream: TextIO) -> None:
    """Show the status full screen until q or Ctrl-C, or until the daemon ends."""
    console = Console(file=stream, highlight=False)
    if not console.is_terminal:
        raise ClientError("--watch needs a terminal; without one use `status` or `status --json`")
    with _single_keys() as pressed, contextlib.suppress(KeyboardInterrupt):
        first = draw(get())
        with Live(first, console=console, screen=True, auto_refresh=False) as live:
            live.refresh()
            while "q" not in pressed(REFRESH_SECONDS):
                live.update(draw(get()), refresh=True)


def draw(status: dict[str, Any]) -> RenderableType:
    """The whole view."""
    parts: list[RenderableType] = [_title(status), _facts(status)]
    busy = [worker for worker in status["workers"] if worker["search"]]
    if busy:
        parts.append(Columns([_panel(worker) for worker in busy]))
    free = len(status["workers"]) - len(busy)
    if free:
        workers = counted(len(status["workers"]), "worker")
        parts.append(Text(f"{free} of {workers} without a search", "dim"))
    return Group(*parts)


def _title(status: dict[str, Any]) -> Text:
    title = Text.assemble(
        ("zermelo client", "bold"), "  ",
        (status["state"], f"bold {STYLES.get(status['state'], 'white')}"),
    )  # fmt: skip
    if status["reason"]:
        title.append(f": {status['reason']}")
    return title


def _facts(status: dict[str, Any]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    name = f" as {status['host_name']}" if status["host_name"] else ""
    table.add_row("server", Text(f"{status['server']}{name}"))
    table.add_row("computer", Text(_computer(status)))
    sent = f"{status['handed_in']:,} handed in"
    if status["late"]:
        sent += f", {status['late']:,} of them too late to be needed"
    if status["unsent_results"]:
        sent += f", {status['unsent_results']:,} waiting to be sent"
    if status["waiting_workunits"]:
        sent += f"; {counted(status['waiting_workunits'], 'workunit')} in store"
    table.add_row("results", Text(sent))
    if status["disk_trouble"]:
        table.add_row("disk", Text(status["disk_trouble"], "bold red"))
    if status["standing"]:
        table.add_row("standing", Text(_standing(status["standing"])))
        if notice := status["standing"].get("notice"):
            table.add_row("notice", Text(notice, "bold yellow"))
    return table


def _computer(status: dict[str, Any]) -> str:
    limits = status["limits"]
    use = "in use" if status["in_use"] else "idle"
    text = f"{use}: {counted(limits['cores'], 'core')}, {limits['memory_mb']:,} MB"
    if limits["cpu_share"] < 1:
        text += f", {100 * limits['cpu_share']:.0f} % of the time"
    if status["speed"]:
        text += f"; {short_count(status['speed'])} nodes/s a core"
    return f"{text}; running for {short_time(status['seconds'])}"


def _standing(standing: dict[str, Any]) -> str:
    text = f"credit {standing['credit']:,.1f} M nodes"
    if standing.get("rank"):
        text += f", rank {standing['rank']:,} of {standing['users']:,}"
    if standing.get("team"):
        text += f", team {standing['team']}"
    if standing.get("user_name"):
        text += f" ({standing['user_name']})"
    return text


def _panel(worker: dict[str, Any]) -> Panel:
    search = worker["search"]
    spec, board = _board(search)
    share = max(search["done"], min(1.0, search["nodes"] / max(1, search["node_budget"])))
    bar = Table.grid(padding=(0, 1))
    bar.add_row(ProgressBar(total=1.0, completed=share, width=BAR_WIDTH), f"{100 * share:3.0f} %")
    speed = f"{short_count(search['speed'])} nodes/s"
    lines = Group(
        Text(board),
        Text(f"at least {signed(search['threshold'])}?", "cyan"),
        bar,
        Text(f"{short_count(search['nodes'])} nodes  {speed}", "dim"),
        Text(f"{short_time(search['seconds'])}, lease for {search['lease_seconds']:.0f} s", "dim"),
    )
    title = f"{worker['number']} {spec} {worker['state']}"
    if search["resumed"]:
        title += ", resumed"
    return Panel(lines, title=Text(title), title_align="left", box=box.ROUNDED, width=PANEL_WIDTH)


def _board(search: dict[str, Any]) -> tuple[str, str]:
    try:
        game = open_game(search["game"])
        position = game.decode(bytes.fromhex(search["position"]), bytes.fromhex(search["history"]))
        return game.short_spec, game.draw(position)
    except (GameError, ValueError):
        return search["game"], "(a position that this release cannot draw)"


@contextlib.contextmanager
def _single_keys() -> Iterator[Callable[[float], str]]:
    """Read keys as they are pressed; what is yielded waits for some, at most so long."""
    if not sys.stdin.isatty():
        def wait(seconds: float) -> str:
            time.sleep(seconds)
            return ""

        yield wait
        return
    handle = sys.stdin.fileno()
    before = termios.tcgetattr(handle)

    def pressed(seconds: float) -> str:
        ready, _, _ = select.select([handle], [], [], seconds)
        return sys.stdin.read(1).lower() if ready else ""

    try:
        tty.setcbreak(handle)
        yield pressed
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)
