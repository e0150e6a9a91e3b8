"""Solves positions for a program that compares revisions: one JSON line in, one out.

It runs on the sources that PYTHONPATH names, so it uses only what every revision has.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

from zermelo.engine.reversi import ReversiEngine
from zermelo.games import open_game


def user_seconds() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def main() -> None:
    engines: dict[str, Any] = {}
    for line in sys.stdin:
        task = json.loads(line)
        spec = task["game"]
        if spec not in engines:
            engines[spec] = ReversiEngine(open_game(spec), hash_mb=task["hash_mb"])
        engine = engines[spec]
        position = engine.game.parse(task["position"])
        engine.clear()
        started = user_seconds()
        answer = engine.solve(position)
        spent = user_seconds() - started
        score = answer.bounds.lo if answer.bounds.exact else None
        print(json.dumps({"nodes": answer.nodes, "seconds": spent, "score": score}), flush=True)


if __name__ == "__main__":
    main()
