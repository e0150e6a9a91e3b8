"""What a simulated client answers and what that costs: the engine's word, kept on disk.

Every answer is a search of the real engine from an empty table, so it depends on nothing
but the question, the budget and the engine's version.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from zermelo.engine import Engine, SearchReport, Status, Window, open_engine
from zermelo.games import Game, Key
from zermelo.proto.known import KnownBounds, pack

HASH_MB = 8
SAVE_EVERY = 500  # answers
FINGERPRINT_LINES = 5
FINGERPRINT_PLIES = 14
#: A search that ran out may stand for one with a budget smaller by this factor.
SIMILAR_BUDGET = 1.5


class Ask(NamedTuple):
    """A workunit as a client sees it."""

    key: Key
    threshold: int
    node_budget: int


@dataclass(frozen=True, slots=True)
class Reply:
    """What a client sends back."""

    answer: str
    lo: int
    hi: int
    nodes: int
    proved: bytes | None


class Oracle:
    """The engine's answers, remembered on disk; those that are new found on several cores."""

    def __init__(self, game: Game[Any], file: Path, cores: int = 1) -> None:
        self.game = game
        self.engines = [open_engine(game, hash_mb=HASH_MB) for _ in range(cores)]
        #: How many answers had to be found, and the nodes that took.
        self.found, self.found_nodes = 0, 0
        self._unsaved = 0
        file.parent.mkdir(parents=True, exist_ok=True)
        self._disk = sqlite3.connect(file, timeout=600)
        self._disk.execute(
            "CREATE TABLE IF NOT EXISTS answers (spec, engine, key, threshold, answer, lo, hi,"
            " nodes, proved)"
        )
        self.version = fingerprint(self.engines[0])
        self._solved: dict[tuple[Key, int], Reply] = {}
        self._exhausted: dict[tuple[Key, int], Reply] = {}
        for key, threshold, *reply in self._disk.execute(
            "SELECT key, threshold, answer, lo, hi, nodes, proved FROM answers"
            " WHERE spec = ? AND engine = ?",
            (game.spec, self.version),
        ):
            self._remember(Ask(key, threshold, 0), Reply(*reply))

    def ask(self, asks: Sequence[Ask]) -> list[Reply]:
        """The answers to these questions, in their order."""
        replies = {ask: self._recall(ask) for ask in asks}
        new = [ask for ask, reply in replies.items() if reply is None]
        for ask, reply in zip(new, self._search(new), strict=True):
            replies[ask] = reply
            self._remember(ask, reply)
            self._write(ask, reply)
        return [reply for ask in asks if (reply := replies[ask])]

    def save(self) -> None:
        self._disk.commit()
        self._unsaved = 0

    def _recall(self, ask: Ask) -> Reply | None:
        solved = self._solved.get(ask[:2])
        if solved and solved.nodes <= ask.node_budget:
            return solved
        known = self._exhausted.get(ask[:2])
        if known and ask.node_budget <= known.nodes <= SIMILAR_BUDGET * ask.node_budget:
            return Reply("exhausted", known.lo, known.hi, ask.node_budget, known.proved)
        return None

    def _remember(self, ask: Ask, reply: Reply) -> None:
        memory = self._exhausted if reply.answer == "exhausted" else self._solved
        memory[ask[:2]] = reply

    def _search(self, asks: Sequence[Ask]) -> Iterable[Reply]:
        """Each engine takes the next question as soon as it is free."""
        if len(asks) < 2 or len(self.engines) < 2:
            return (self._reply(self.engines[0], ask) for ask in asks)
        free = list(self.engines)

        def answer(ask: Ask) -> Reply:
            engine = free.pop()
            try:
                return self._reply(engine, ask)
            finally:
                free.append(engine)

        with ThreadPoolExecutor(len(self.engines)) as pool:
            return list(pool.map(answer, asks))

    def _write(self, ask: Ask, reply: Reply) -> None:
        self._disk.execute(
            "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (self.game.spec, self.version, ask.key, ask.threshold, reply.answer, reply.lo,
             reply.hi, reply.nodes, reply.proved),
        )  # fmt: skip
        self.found += 1
        self.found_nodes += reply.nodes
        self._unsaved += 1
        if self._unsaved >= SAVE_EVERY:
            self.save()

    def _reply(self, engine: Engine, ask: Ask) -> Reply:
        engine.clear()
        return self._search_for(engine, ask)

    def _search_for(self, engine: Engine, ask: Ask) -> Reply:
        found = engine.solve(
            self.game.decode(ask.key), Window.question(ask.threshold), node_budget=ask.node_budget
        )
        bounds = found.bounds
        if found.status is Status.SOLVED:
            verdict = "yes" if bounds.lo >= ask.threshold else "no"
            # The engine looks at its limit only now and then, and may end just beyond it.
            nodes = max(1, min(found.nodes, ask.node_budget))
            return Reply(verdict, bounds.lo, bounds.hi, nodes, None)
        return Reply("exhausted", bounds.lo, bounds.hi, ask.node_budget, self._proved_below(found))

    def _proved_below(self, found: SearchReport) -> bytes | None:
        below = []
        for item in found.proved:
            key = self.game.encode(self.game.canonical(item.position))
            below.append(KnownBounds(key, b"", item.bounds.lo, item.bounds.hi))
        return pack(below) if below else None


def fingerprint(engine: Engine) -> int:
    """Tells versions of an engine apart, by what a few late positions cost: costs that were
    remembered are good for one version only."""
    game, nodes = engine.game, 0
    for line in range(FINGERPRINT_LINES):
        chance, position = random.Random(line), game.initial()
        while game.plies_left(position) > FINGERPRINT_PLIES and not game.is_final(position):
            position = game.play(position, chance.choice(list(game.moves(position))))
        engine.clear()
        nodes = 31 * nodes + engine.solve(position).nodes
    return nodes
