"""Verifying a certificate: structure first, then all leaves or a random sample of them."""

from __future__ import annotations

import random
import threading
import time
from array import array
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zermelo.checker.certificate import Certificate, Header
from zermelo.checker.certificate_reader import read_certificate
from zermelo.checker.header_game import game_of
from zermelo.checker.interface import Solver, Tell
from zermelo.checker.limits import DEFAULT_MEMORY_BYTES, DEFAULT_SECONDS, Deadline, Memory
from zermelo.checker.refusals import Fault, Refusal, RefusedError, leaf_refusal
from zermelo.checker.registry import open_checker
from zermelo.games import Game

#: How sure the statement about a sample is.
CONFIDENCE = 0.95

#: Called now and then with what is being done, how much is done and how much there is.
Progress = Callable[[str, int, int], None]
_REPORT_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Report:
    """What was checked; the certificate is accepted, or there would be no report."""

    header: Header
    digest: str
    entries: int
    leaves: int
    leaves_checked: int
    #: What repeats the choice of a sample.
    seed: int | None
    nodes: int
    structure_seconds: float
    leaf_seconds: float

    @property
    def confidence(self) -> float:
        """How sure `most_wrong` is."""
        return CONFIDENCE

    @property
    def complete(self) -> bool:
        return self.leaves_checked == self.leaves

    @property
    def most_wrong(self) -> int:
        """With this `confidence`, no more leaves than this are wrong."""
        return most_wrong(self.leaves, self.leaves_checked)


def verify(
    path: Path,
    *,
    sample: int | None = None,
    threads: int = 1,
    seed: int | None = None,
    max_memory: int = DEFAULT_MEMORY_BYTES,
    max_seconds: float = DEFAULT_SECONDS,
    progress: Progress = lambda stage, done, total: None,
) -> Report:
    """Check a certificate with all its leaves, or a number of them chosen at random.

    Raises `DamagedError` for a file that is none or not whole, `RefusedError` for one that
    does not prove what it says, `LimitError` if its entries take more than `max_memory` bytes
    or the check more than `max_seconds`.
    """
    started, deadline = time.perf_counter(), Deadline(max_seconds)

    def tell(stage: str, total: int) -> Tell:
        def told(done: int) -> None:
            deadline.check()
            progress(stage, done, total)

        return told

    certificate = read_certificate(path, memory=Memory(max_memory), tell=tell("reading", 0))
    total = len(certificate)
    check_structure(certificate, tell("structure", total))
    checked = time.perf_counter()
    leaves = certificate.leaves()
    if sample is not None and sample < len(leaves):
        seed = random.SystemRandom().getrandbits(32) if seed is None else seed
        chosen = random.Random(seed).sample(range(len(leaves)), sample)  # noqa: S311
        leaves = array("I", (leaves[at] for at in sorted(chosen)))
    else:
        seed = None
    nodes = _check_leaves(certificate, leaves, threads, tell("leaves", len(leaves)))
    return Report(
        header=certificate.header,
        digest=certificate.digest,
        entries=total,
        leaves=len(certificate.leaf_nodes),
        leaves_checked=len(leaves),
        seed=seed,
        nodes=nodes,
        structure_seconds=checked - started,
        leaf_seconds=time.perf_counter() - checked,
    )


def check_structure(certificate: Certificate, tell: Tell = lambda count: None) -> None:
    """`RefusedError` unless the root is proved and every entry follows from the others."""
    game = game_of(certificate.header)
    _check_root(certificate, game)
    open_checker(game).check(certificate, tell)


def _check_root(certificate: Certificate, game: Game[Any]) -> None:
    """The statements of the header must be among the entries."""
    header = certificate.header
    start = game.parse(header.position)
    root = game.canonical(start)
    key, history = game.encode(root), game.history(root)
    needed = {}
    if game.is_final(root):
        score = game.score(root)
        if (header.lo, header.hi) == (score, score):
            return
        needed[True] = header.lo
    else:
        if header.lo > -game.max_score:
            needed[True] = header.lo
        if header.hi < game.max_score:
            needed[False] = header.hi
    for at_least, bound in needed.items():
        place = certificate.find(key, history, at_least)
        stated = None if place is None else certificate.bounds[place]
        if stated is None or (stated < bound if at_least else stated > bound):
            sign = "at least" if at_least else "at most"
            raise RefusedError(Refusal(
                Fault.NO_ROOT, None,
                f"nothing in the file proves that this position is worth {sign} {bound:+d}",
                game.draw(start), game.format(start),
            ))


def most_wrong(leaves: int, checked: int, confidence: float = CONFIDENCE) -> int:
    """The most leaves that may be wrong though a sample of `checked` leaves was right.

    If one more were wrong, a sample without any of them would be less likely than the
    confidence leaves room for: (leaves - checked) / leaves * ... for every wrong leaf.
    """
    if not checked:
        return leaves
    chance, wrong = 1.0, 0
    while wrong < leaves - checked:
        chance *= (leaves - checked - wrong) / (leaves - wrong)
        if chance < 1 - confidence:
            return wrong
        wrong += 1
    return leaves - checked


def _check_leaves(
    certificate: Certificate, leaves: Sequence[int], threads: int, tell: Tell
) -> int:
    """Search leaves again; `RefusedError` for a wrong one, else the nodes that it took."""
    if not leaves:
        return 0
    crew = _Crew(certificate, leaves, threads)
    with ThreadPoolExecutor(threads, "checker") as pool:
        futures = [pool.submit(crew.work, solver) for solver in crew.solvers]
        try:
            while wait(futures, _REPORT_SECONDS).not_done:
                tell(crew.done)
        finally:
            crew.stop()
        for future in futures:
            future.result()
    if crew.wrong:
        game = game_of(certificate.header)
        raise RefusedError(leaf_refusal(certificate, game, min(crew.wrong)))
    return sum(solver.nodes for solver in crew.solvers)


class _Crew:
    """Threads that search leaves."""

    def __init__(self, certificate: Certificate, leaves: Sequence[int], threads: int) -> None:
        self._certificate = certificate
        self._waiting = iter(leaves)
        self._lock = threading.Lock()
        self._stopped = False
        self.done = 0
        self.wrong: list[int] = []
        game = game_of(certificate.header)
        self.solvers: Sequence[Solver] = open_checker(game).solvers(threads)

    def stop(self) -> None:
        self._stopped = True
        for solver in self.solvers:
            solver.stop()

    def work(self, solver: Solver) -> None:
        while not self._stopped:
            with self._lock:
                at = next(self._waiting, None)
            if at is None:
                return
            try:
                right = self._is_right(solver, at)
            except BaseException:
                self.stop()  # the others need not go on: the check has failed
                raise
            with self._lock:
                self.done += 1
                if right is False:
                    self.wrong.append(at)
                    self.stop()

    def _is_right(self, solver: Solver, at: int) -> bool | None:
        certificate = self._certificate
        key, history, bound = certificate.key(at), certificate.history(at), certificate.bounds[at]
        if certificate.at_least(at):
            return solver.at_least(key, bound, history)
        more = solver.at_least(key, bound + 1, history)
        return None if more is None else not more
