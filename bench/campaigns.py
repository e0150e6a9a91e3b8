"""Thousands of campaigns at once: what the generator takes, and how long a new one waits.

A list of claims about 8x8 positions is imported into a new database, as many as were published;
then another campaign is created, and at last the whole list is cancelled and dropped.

    python bench/campaigns.py [--campaigns 2587] [--clients 16] [--json]
    python bench/campaigns.py --lists       what commands take that list all of them
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from fresh import fresh_database
from options import bench_parser
from virtual.services import ServiceTime

from zermelo.games import Bounds, open_game
from zermelo.server.campaigns import create_campaign
from zermelo.server.claims import Claim, import_claims
from zermelo.server.coordinator.in_process import InProcessCoordinator
from zermelo.server.database import Connection, connect_once
from zermelo.server.dropping import drop, remove_some
from zermelo.server.generator import Generator
from zermelo.server.vocabulary import Channel
from zermelo.sql import query

SPEC = "reversi:8x8"
PLIES = 14  # of random moves to the positions: 50 empties are left, minus passes
ROUNDS = 20


def claims(count: int) -> list[Claim]:
    game, chance = open_game(SPEC), random.Random(1)
    positions: dict[str, None] = {}
    while len(positions) < count:
        position = game.initial()
        for _ in range(PLIES):
            if moves := game.moves(position):
                position = game.play(position, chance.choice(moves))
        if not game.is_final(position):
            positions[game.format(position)] = None
    return [Claim(position, Bounds(0, game.max_score)) for position in positions]


class Measures:
    """Seconds that passed, and those of a processor, by what was done."""

    def __init__(self, connection: Connection) -> None:
        self._services = ServiceTime(connection)
        self.found: dict[str, tuple[float, float]] = {}

    @contextmanager
    def of(self, name: str, times: int = 1) -> Iterator[None]:
        started = time.perf_counter()
        with self._services.of(name):
            yield
        passed = time.perf_counter() - started
        self.found[name] = passed / times, self._services.seconds[name] / times


def measure(connection: Connection, campaigns: int, clients: int) -> Measures:
    game = open_game(SPEC)
    listed = claims(campaigns)
    measures = Measures(connection)
    with measures.of("import"):
        import_claims(connection, game, "list", listed, replication="none")
    coordinator = InProcessCoordinator(connection)
    for _ in range(clients):
        coordinator.register("fleet", speed=1e6)
    connection.execute(query("commit_lazily"))
    connection.execute(query("plan_by_index"))
    generator = Generator(connection, threading.Event())
    with measures.of("first round"):
        generator.round(set())
    with measures.of("a round without news", ROUNDS):
        for _ in range(ROUNDS):
            generator.round(set())
    create_campaign(connection, SPEC, name="new", replication="none")
    with measures.of("until a new campaign has questions"):
        while not connection.execute(
            "SELECT FROM workunits JOIN campaigns ON campaigns.id = campaign WHERE name = 'new'"
        ).rowcount:
            generator.round({(Channel.CAMPAIGNS, "")})
    connection.execute("UPDATE campaigns SET state = 'cancelled' WHERE list = 'list'")
    with measures.of("drop the list"):
        drop(connection, "list")
    with measures.of("remove its rows"):
        while remove_some(connection):
            pass
    return measures


#: What is asked about all campaigns, each in a process of its own as people start it.
LISTS = (("campaign", "list"), ("query", "claims", "list"))


def measure_lists(
    connection: Connection, url: str, campaigns: int
) -> dict[str, tuple[float, float]]:
    """Seconds from the start of a command to its end, and those of its processor; the best of
    three."""
    import_claims(connection, open_game(SPEC), "list", claims(campaigns), replication="none")
    connection.execute("ANALYZE")
    return {
        f"zermelo {' '.join(words)}": min(_command([*words, "--database", url]) for _ in range(3))
        for words in LISTS
    }


def _command(words: list[str]) -> tuple[float, float]:
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    code = "from zermelo.cli import main; main()"
    subprocess.run(
        [sys.executable, "-c", code, *words], stdout=subprocess.DEVNULL, check=True
    )
    passed, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return passed, used


def main() -> None:
    parser = bench_parser(__doc__)
    parser.add_argument("--campaigns", type=int, default=2587)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--lists", action="store_true")
    options = parser.parse_args()
    with fresh_database("campaigns") as fresh, connect_once(fresh.url) as connection:
        if options.lists:
            found = measure_lists(connection, fresh.url, options.campaigns)
        else:
            found = measure(connection, options.campaigns, options.clients).found
    if options.json:
        print(json.dumps(found))
        return
    print(f"{'':36} {'seconds':>9} {'of a processor':>15}")
    for name, (passed, used) in found.items():
        print(f"{name:36} {passed:>9.3f} {used:>15.3f}")


if __name__ == "__main__":
    main()
