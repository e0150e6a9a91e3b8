"""Solves and appraises positions for a program that compares revisions: one JSON line in, one out.

It runs on the sources that PYTHONPATH names, so it uses only what every revision has.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

from zermelo.engine import Window
from zermelo.engine.reversi import ReversiEngine
from zermelo.games import open_game


def user_seconds() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def solve(engine: Any, task: dict[str, Any]) -> dict[str, Any]:
    position = engine.game.parse(task["position"])
    engine.clear()
    started = user_seconds()
    answer = engine.solve(position)
    spent = user_seconds() - started
    score = answer.bounds.lo if answer.bounds.exact else None
    return {"nodes": answer.nodes, "seconds": spent, "score": score}


def rate(engine: Any, task: dict[str, Any]) -> dict[str, Any]:
    """Seconds that a single call of `guess` or `efforts` takes, over many rounds."""
    asked = [(engine.game.parse(text), threshold) for text, threshold in task["questions"]]
    call = engine.efforts if task["what"] == "efforts" else lambda p, _: engine.guess(p)
    calls, started = 0, time.perf_counter()
    while time.perf_counter() - started < task["seconds"]:
        for position, threshold in asked:
            call(position, threshold)
        calls += len(asked)
    return {"seconds": (time.perf_counter() - started) / calls}


def answer(engine: Any, task: dict[str, Any]) -> dict[str, Any]:
    """The efforts told for questions, and the nodes that each takes from an empty table."""
    found = []
    for text, threshold in task["questions"]:
        position = engine.game.parse(text)
        efforts = engine.efforts(position, threshold)
        engine.clear()
        report = engine.solve(position, Window.question(threshold))
        found.append([efforts.yes, efforts.no, report.nodes, report.bounds.lo >= threshold])
    return {"answers": found}


COMMANDS: dict[str, Callable[[Any, dict[str, Any]], dict[str, Any]]] = {
    "solve": solve,
    "rate": rate,
    "answer": answer,
}


def main() -> None:
    engines: dict[str, Any] = {}
    for line in sys.stdin:
        task = json.loads(line)
        spec = task["game"]
        if spec not in engines:
            engines[spec] = ReversiEngine(open_game(spec), hash_mb=task["hash_mb"])
        print(json.dumps(COMMANDS[task["command"]](engines[spec], task)), flush=True)


if __name__ == "__main__":
    main()
