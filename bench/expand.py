"""Growing the tree of reversi 8x8 to 10 moves into PostgreSQL: seconds and bytes a node.

    python bench/expand.py reversi:8x8 --moves 10
"""

from __future__ import annotations

import argparse
import json
import time

from fresh import fresh_database

from zermelo.engine import open_engine
from zermelo.games import open_game
from zermelo.server.campaigns import create_campaign
from zermelo.server.database import connect_once
from zermelo.server.growth import grow

SIZES = """
    SELECT pg_relation_size('nodes'), pg_indexes_size('nodes'), pg_total_relation_size('nodes')
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("spec", nargs="?", default="reversi:8x8")
    parser.add_argument("--moves", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    engine = open_engine(open_game(options.spec))
    levels: list[int] = []
    with fresh_database("expand") as fresh, connect_once(fresh.url) as connection:
        campaign = create_campaign(connection, options.spec, replication="none")
        started = time.perf_counter()
        nodes = grow(
            connection, campaign, engine, options.moves,
            lambda moves, count: levels.append(count),
        )
        seconds = time.perf_counter() - started
        sizes = connection.execute(SIZES).fetchone()
    assert sizes  # noqa: S101
    numbers = {
        "positions_by_moves": levels,
        "nodes": nodes,
        "seconds": round(seconds, 1),
        "table_bytes_per_node": round(sizes[0] / nodes, 1),
        "index_bytes_per_node": round(sizes[1] / nodes, 1),
        "bytes_per_node": round(sizes[2] / nodes, 1),
    }
    if options.json:
        print(json.dumps(numbers))
    else:
        for name, value in numbers.items():
            print(f"{name:22} {value}")


if __name__ == "__main__":
    main()
