"""How fast pages are, what live viewers cost, and how heavy the first page is.

    python bench/web.py position [--nodes 3500000] [--data-dir FOLDER]
                                                       p50 and p99 of a page of the explorer
    python bench/web.py viewers [--viewers 1000] [--seconds 30]
                                                       beside bench/pipeline.py, in turns
    python bench/web.py home                           bytes, requests and first paint

Real PostgreSQL, a real server over loopback, and for `home` a real Chromium. Run it on a quiet
machine. Growing the tree takes a minute; a FOLDER keeps it for the next run. `viewers` runs
bench/pipeline.py three times: alone, with the pages and their viewers, and alone again.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import psycopg

from zermelo.engine import open_engine
from zermelo.server.campaigns import Campaign, create_campaign, list_campaigns
from zermelo.server.database import Connection, DatabaseError, connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running
from zermelo.server.embedded.postmaster import read_postmaster
from zermelo.server.ports import LOOPBACK, free_port
from zermelo.server.tree.identity import NodeId
from zermelo.server.tree.tree import Node, Tree
from zermelo.web.server import serve_gently
from zermelo.web.settings import WebSettings

SPEC = "reversi:8x8"
PAGES = 1000
#: Pages before the clock starts.
WARM_UP = 50
BATCH = 20_000
#: What every update begins with.
UPDATE = b"event: "
#: Updates further apart than this are different ones.
APART_SECONDS = 0.2
ROOT = Path(__file__).parents[1]


def settings(listen: str) -> WebSettings:
    """One address may do what a thousand do."""
    return WebSettings(
        listen, requests_per_second=1e9, request_burst=1e9, streams_per_address=10_000,
        plays_per_second=1e9, play_burst=1e9,
    )  # fmt: skip


@contextmanager
def database(kept: Path | None = None) -> Iterator[str]:
    """A database that ends with this run, or one in a folder that is kept."""
    if kept is not None:
        kept.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="zermelo-bench-") as folder:
        Path(folder).chmod(0o755)
        with running(EmbeddedPostgres(kept or Path(folder))) as url:
            ensure_schema(url)
            yield url


@contextmanager
def site(url: str) -> Iterator[WebSettings]:
    """The pages, in a process of their own."""
    with site_process(url) as (chosen, _):
        yield chosen


@contextmanager
def site_process(url: str) -> Iterator[tuple[WebSettings, int]]:
    """The pages, and the number of the process that serves them."""
    chosen = settings(f"{LOOPBACK}:{free_port()}")
    code = "import sys; from bench.web import serve_until_closed as serve; serve(*sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", code, url, chosen.listen], stdin=subprocess.PIPE, cwd=ROOT
    )
    try:
        _wait_until_served(chosen)
        yield chosen, process.pid
    finally:
        if process.stdin is not None:
            process.stdin.close()
        process.wait()


def serve_until_closed(url: str, listen: str) -> None:
    """Serve pages until standard input ends."""
    stop = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        stop.set()

    threading.Thread(target=wait, daemon=True).start()
    serve_gently(url, stop, settings(listen))


def _wait_until_served(chosen: WebSettings) -> None:
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(chosen.address) == 0:
                return
        time.sleep(0.1)
    raise SystemExit("the pages did not start")


# -- one page ---------------------------------------------------------------------------------


def grow(connection: Connection, nodes: int) -> Campaign:
    """A campaign whose tree has at least this many nodes, and bounds for some of them."""
    for campaign in list_campaigns(connection):  # of a folder that was kept
        kept = connection.execute("SELECT count(*) FROM nodes").fetchone()
        if kept is None or kept[0] < nodes:
            raise SystemExit("the tree there was not finished: choose another folder")
        return campaign
    campaign = create_campaign(connection, SPEC, replication="none")
    tree, engine = Tree(connection, campaign.id, campaign.game), open_engine(campaign.game)
    level, total = tree.load([campaign.root]), 1
    connection.execute("SET synchronous_commit = off")
    while total < nodes:
        following: dict[NodeId, Node] = {}  # a position met again is the same node
        for at in range(0, len(level), BATCH):
            with connection.transaction():
                tree.lock()
                following |= tree.expand(level[at : at + BATCH], engine)
            print(f"\r{total + len(following):,} nodes", end="", file=sys.stderr)
            if total + len(following) >= nodes:
                break
        level, total = list(following.values()), total + len(following)
    connection.execute(
        "UPDATE nodes SET lo = lo + 10, hi = hi - 10 WHERE id % 3 = 0 AND hi - lo > 20"
    )
    connection.execute("ANALYZE nodes")
    print(file=sys.stderr)
    return campaign


def addresses(campaign: Campaign, count: int) -> list[str]:
    """Pages of positions that the tree has, at any depth."""
    game, choose, found = campaign.game, random.Random(1), []
    for _ in range(count):
        at, moves = campaign.start, list[str]()
        for _ in range(choose.randrange(12)):
            options = game.moves(at)
            if not options:
                break
            move = choose.choice(options)
            moves.append(game.move_name(move))
            at = game.play(at, move)
        found.append(f"/campaigns/{campaign.name}/position?moves={','.join(moves)}")
    return found


def measure_position(nodes: int, kept: Path | None) -> dict[str, Any]:
    from pipeline import family_cpu  # not known to the process of the pages

    with database(kept) as url, connect_once(url) as connection:
        campaign = grow(connection, nodes)
        with site_process(url) as (chosen, pages):
            client = HTTPConnection(*chosen.address)
            paths = addresses(campaign, PAGES + WARM_UP)
            for path in paths[:WARM_UP]:
                load(client, path)
            processes = pages, parent_of(connection.info.backend_pid)
            before = [family_cpu(process) for process in processes]
            times = sorted(load(client, path) for path in paths[WARM_UP:])
            used = [family_cpu(process) - spent
                    for process, spent in zip(processes, before, strict=True)]  # fmt: skip
        row = connection.execute("SELECT count(*) FROM nodes").fetchone()
    return {
        "nodes": row[0] if row else 0, "pages": len(times),
        "p50_ms": round(statistics.median(times), 1),
        "p99_ms": round(times[int(0.99 * len(times))], 1), "worst_ms": round(times[-1], 1),
        "cpu_ms": round(1000 * used[0] / PAGES, 1),
        "postgres_cpu_ms": round(1000 * used[1] / PAGES, 1), "load_average": os.getloadavg()[0],
    }  # fmt: skip


def load(client: HTTPConnection, path: str) -> float:
    """How many milliseconds a page takes."""
    began = time.perf_counter()
    client.request("GET", path)
    answer = client.getresponse()
    answer.read()
    taken = 1000 * (time.perf_counter() - began)
    if answer.status != 200:
        raise SystemExit(f"{path}: {answer.status}")
    return taken


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


# -- viewers ----------------------------------------------------------------------------------


class Audience:
    """Viewers of one live page; when each of them got each update."""

    def __init__(self, address: tuple[str, int], topic: str, viewers: int) -> None:
        self._address, self._topic, self._viewers = address, topic, viewers
        self.updates: list[list[float]] = [[] for _ in range(viewers)]

    async def watch(self, seconds: float) -> None:
        tasks = [asyncio.create_task(self._view(number)) for number in range(self._viewers)]
        await asyncio.sleep(seconds)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _view(self, number: int) -> None:
        reader, writer = await asyncio.open_connection(*self._address)
        host = f"{self._address[0]}:{self._address[1]}"
        writer.write(f"GET /live/{self._topic} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        while chunk := await reader.read(1 << 16):
            if UPDATE in chunk:
                self.updates[number].append(time.monotonic())

    def lateness(self) -> tuple[float, float]:
        """How long an update takes from the first viewer to the last: median and worst."""
        moments = sorted(at for each in self.updates for at in each)
        if not moments:
            raise SystemExit("no viewer got an update")
        first, spans = moments[0], []
        for before, at in itertools.pairwise([*moments, float("inf")]):
            if at - before > APART_SECONDS:
                spans.append(before - first)
                first = at
        return statistics.median(spans), max(spans)


def measure_viewers(viewers: int, seconds: float) -> dict[str, Any]:
    first, _ = beside_pipeline(0, seconds)
    watched, found = beside_pipeline(viewers, seconds)
    second, _ = beside_pipeline(0, seconds)
    alone = (first + second) / 2
    return {
        "alone_per_second": [round(first), round(second)], "watched_per_second": round(watched),
        "lost_percent": round(100 * (1 - watched / alone), 1), **found,
    }  # fmt: skip


def beside_pipeline(viewers: int, seconds: float) -> tuple[float, dict[str, Any]]:
    """Workunits a second of bench/pipeline.py while so many watch its campaign."""
    with tempfile.TemporaryDirectory(prefix="zermelo-bench-") as folder:
        pipeline = subprocess.Popen(
            [sys.executable, "bench/pipeline.py", "--json", "--data-dir", folder,
             "--seconds", str(seconds), "--latency-seconds", "1"],
            stdout=subprocess.PIPE, cwd=ROOT, text=True,
        )  # fmt: skip
        found: dict[str, Any] = {}
        if viewers:
            with site(url_of(Path(folder))) as chosen:
                audience = Audience(chosen.address, f"campaigns/{SPEC}", viewers)
                asyncio.run(audience.watch(seconds))
            median, worst = audience.lateness()
            found = {
                "viewers": viewers,
                "updates_each": statistics.median(map(len, audience.updates)),
                "spread_s": round(median, 2), "worst_spread_s": round(worst, 2),
                "longest_gap_s": round(max(_gaps(audience.updates), default=0.0), 2),
            }  # fmt: skip
        printed, _ = pipeline.communicate()
    return float(json.loads(printed)["throughput_per_second"]), found


def url_of(folder: Path) -> str:
    """The database of a running bench/pipeline.py, as soon as it has its campaign."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        time.sleep(0.2)
        postmaster = read_postmaster(folder / "postgres")
        if postmaster is None or not postmaster.ready:
            continue
        with suppress(psycopg.Error, DatabaseError), connect_once(postmaster.url) as connection:
            if connection.execute("SELECT FROM campaigns").fetchone() is not None:
                return postmaster.url
    raise SystemExit("bench/pipeline.py did not start")


def _gaps(updates: list[list[float]]) -> Iterator[float]:
    """The longest time each viewer went without news."""
    for each in updates:
        if len(each) > 2:
            yield max(after - before for before, after in itertools.pairwise(each[1:]))


# -- the first page ---------------------------------------------------------------------------


def measure_home() -> dict[str, Any]:
    """The first page of a project with a few campaigns, loaded for the first time."""
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    with database() as url, connect_once(url) as connection:
        for spec in ("reversi:8x8", "reversi:6x6", "go:5x5", "go:6x6"):
            create_campaign(connection, spec, replication="none")
        with site(url) as chosen, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium, args=["--no-sandbox"]
            )
            runs = [_load(browser, chosen.url) for _ in range(5)]
            browser.close()
    size, requests, _ = runs[-1]
    return {"bytes": size, "requests": requests,
            "first_paint_ms": round(statistics.median(run[2] for run in runs))}  # fmt: skip


def _load(browser: Any, url: str) -> tuple[int, int, float]:
    """Bytes over the wire, requests and first contentful paint of a first visit."""
    context = browser.new_context()
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: list[int] = []
    asked: list[str] = []
    session.on("Network.loadingFinished", lambda told: sizes.append(told["encodedDataLength"]))
    session.on("Network.requestWillBeSent", lambda told: asked.append(told["request"]["url"]))
    page.goto(url)
    page.wait_for_timeout(1000)
    paint = page.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    )
    context.close()
    return round(sum(sizes)), len(asked), float(paint)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=["position", "viewers", "home"])
    parser.add_argument("--nodes", type=int, default=3_500_000, help="of the tree, at least")
    parser.add_argument("--data-dir", type=Path, help="keep the tree there for the next run")
    parser.add_argument("--viewers", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=30, help="of each run of the pipeline")
    options = parser.parse_args()
    if options.what == "position":
        found = measure_position(options.nodes, options.data_dir)
    elif options.what == "viewers":
        found = measure_viewers(options.viewers, options.seconds)
    else:
        found = measure_home()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
