"""The validator: decides which results to believe.

Under the policy `none` a single answer that is sound in itself is believed. Otherwise
answers are compared (`voting`): new hosts are always checked by another user, known ones
at random. A host that is outvoted loses its record, and whatever is believed on its word
alone goes out of the tree again (the assimilator does that) and is asked again.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from zermelo.games import Bounds
from zermelo.proto.known import KnownBounds, pack, unpack
from zermelo.server.audit import record
from zermelo.server.coordinator.matching import CHANCE
from zermelo.server.database import Connection, in_transaction, serve
from zermelo.server.listening import Listener
from zermelo.server.voting import Verdict, Vote, agreed_below, check_rate, decide
from zermelo.sql import query

log = logging.getLogger(__name__)

CHANNELS = ("zermelo_results",)
BATCH = 1000
IDLE_SECONDS = 5.0

#: A host is known after so many answers in a row that others confirmed.
KNOWN_AFTER = 60
#: Known hosts are checked at least so often.
LEAST_CHECKED = 0.04
#: What a quota may grow to.
MOST_LEASES = 1024

OPEN = frozenset({"ready", "leased", "returned"})
BELIEVED = frozenset({"valid", "assimilated"})


class Pending(NamedTuple):
    """A result to be judged and what its campaign asked."""

    lease: int
    workunit: int
    campaign: int
    host: int
    answer: str
    lo: int
    hi: int
    proved: bytes | None
    threshold: int
    max_score: int
    replication: str
    #: What the answer is worth, in nodes, whatever its host says.
    effort: float


class Question(NamedTuple):
    """A workunit whose answers are compared."""

    id: int
    campaign: int
    state: str
    threshold: int
    expected: float
    quorum: int
    disputed: bool
    campaign_state: str
    max_score: int
    replication: str
    campaign_quorum: int


class Answer(NamedTuple):
    """One answer to a question, as stored."""

    workunit: int
    lease: int
    host: int
    user: int
    streak: int
    state: str
    answer: str
    lo: int
    hi: int
    proved: bytes | None
    budget: int
    seconds: float


def run(url: str, stop: threading.Event) -> None:
    """Judge results as they come until `stop` is set."""

    def work(connection: Connection) -> None:
        listener = Listener(connection, CHANNELS)
        while not stop.is_set():
            if not validate(connection):
                in_transaction(
                    connection, lambda: connection.execute(query("unanswerable_votes"))
                )
                listener.wait(IDLE_SECONDS, stop)

    serve(url, stop, work)


def validate(connection: Connection, batch: int = BATCH) -> int:
    """Judge up to `batch` results in one transaction; how many there were."""
    return in_transaction(connection, lambda: _validate(connection, batch))


def fault(result: Pending) -> str | None:
    """What makes a result unsound in itself; None when nothing does."""
    if not -result.max_score <= result.lo <= result.hi <= result.max_score:
        return f"impossible bounds {result.lo}..{result.hi}"
    if result.answer == "yes" and result.lo < result.threshold:
        return f"says yes to {result.threshold} with a lower bound of {result.lo}"
    if result.answer == "no" and result.hi >= result.threshold:
        return f"says no to {result.threshold} with an upper bound of {result.hi}"
    if result.proved is not None:
        try:
            below = unpack(result.proved)
        except ValueError as error:
            return f"unreadable bounds below: {error}"
        for item in below:
            if not -result.max_score <= item.lo <= item.hi <= result.max_score:
                return f"impossible bounds {item.lo}..{item.hi} below"
    return None


def _validate(connection: Connection, batch: int) -> int:
    rows = connection.execute(query("pending_results"), (batch,)).fetchall()
    if not rows:
        return 0
    results = [Pending(*row) for row in rows]
    sound, unsound = [], []
    for result in results:
        if wrong := fault(result):
            log.warning("result %d of host %d is refused: %s", result.lease, result.host, wrong)
            unsound.append(result)
        else:
            sound.append(result)
    _refuse(connection, unsound)
    _believe(connection, [result for result in sound if result.replication == "none"])
    compared = {result.workunit for result in sound if result.replication != "none"}
    if compared:
        Comparison(connection, sorted(compared)).run()
    for campaign in {result.campaign for result in results}:
        connection.execute(query("notify"), ("zermelo_valid", str(campaign)))
    return len(results)


def _refuse(connection: Connection, results: Sequence[Pending]) -> None:
    """Unsound in itself: no vote, no credit, and an error of its host."""
    if not results:
        return
    _judge(connection, results, "invalid")
    connection.execute(query("ask_again"), ([result.workunit for result in results],))
    connection.execute(
        query("note_errors"), {"hosts": sorted({result.host for result in results})}
    )
    connection.execute(query("notify"), ("zermelo_ready", ""))


def _believe(connection: Connection, results: Sequence[Pending]) -> None:
    if results:
        _judge(connection, results, "valid")
        _grant(connection, [(result.host, result.effort) for result in results])


def _judge(connection: Connection, results: Sequence[Pending], state: str) -> None:
    connection.execute(
        query("judge_results"),
        {
            "leases": [result.lease for result in results],
            "states": [state] * len(results),
            "credits": [result.effort if state == "valid" else 0.0 for result in results],
        },
    )


def _grant(connection: Connection, efforts: Iterable[tuple[int, float]]) -> None:
    nodes: dict[int, float] = defaultdict(float)
    count: dict[int, int] = defaultdict(int)
    for host, effort in efforts:
        nodes[host] += effort
        count[host] += 1
    if nodes:
        connection.execute(
            query("grant_credit"),
            {
                "hosts": list(nodes), "nodes": list(nodes.values()),
                "results": [count[host] for host in nodes],
            },
        )  # fmt: skip


@dataclass
class Comparison:
    """Decides questions from all their answers, a batch of them in one transaction."""

    connection: Connection
    workunits: list[int]
    _settled: dict[str, list[Any]] = field(
        default_factory=lambda: {
            "leases": [], "states": [], "los": [], "his": [], "credits": [], "proved": [],
        }
    )  # fmt: skip
    _questions: list[tuple[int, str, int, bool]] = field(default_factory=list)
    _confirmed: list[tuple[int, float, float]] = field(default_factory=list)
    _efforts: list[tuple[int, float]] = field(default_factory=list)
    _liars: set[int] = field(default_factory=set)

    def run(self) -> None:
        rows = self.connection.execute(query("lock_questions"), (self.workunits,)).fetchall()
        answers: dict[int, list[Answer]] = defaultdict(list)
        for row in self.connection.execute(query("votes"), (self.workunits,)):
            answer = Answer(*row)
            answers[answer.workunit].append(answer)
        for row in rows:
            question = Question(*row)
            if answers[question.id]:
                self._decide(question, answers[question.id])
        self._write()

    def _decide(self, question: Question, answers: list[Answer]) -> None:
        quorum = question.quorum
        if quorum == 1 and question.replication == "quorum":
            quorum = question.campaign_quorum
        rules = Bounds(-question.max_score, question.max_score)
        verdict = decide(
            [_vote(question, answer) for answer in answers], question.threshold, rules, quorum
        )
        stored = {answer.lease: answer for answer in answers}
        if verdict.decided:
            self._accept(question, verdict, stored, rules)
        else:
            self._ask_another(question, verdict, stored)

    def _accept(
        self, question: Question, verdict: Verdict, stored: dict[int, Answer], rules: Bounds
    ) -> None:
        below = [
            KnownBounds(key, history, bounds.lo, bounds.hi)
            for (key, history), bounds in agreed_below(verdict.winners).items()
        ]
        proved = pack(below) if below else None
        for vote in verdict.winners:
            answer = stored[vote.lease]
            if answer.state in BELIEVED:
                continue
            effort = float(min(question.expected, answer.budget))
            self._settle(answer, "valid", verdict.bounds, effort, proved)
            proved = None  # once is enough
            self._efforts.append((vote.host, effort))
            if verdict.confirmed:
                self._confirmed.append((vote.host, effort, answer.seconds))
        for vote in verdict.losers:
            answer = stored[vote.lease]
            self._liars.add(vote.host)
            if answer.state not in BELIEVED:
                self._settle(answer, "invalid", None)
            log.warning(
                "result %d of host %d is outvoted by %d users",
                vote.lease, vote.host, len({winner.user for winner in verdict.winners}),
            )
        for vote in verdict.others:
            if stored[vote.lease].state not in BELIEVED:
                self._settle(stored[vote.lease], "valid", rules)  # nothing of it is believed
        quorum = max(question.quorum, 2) if verdict.confirmed else question.quorum
        state = "returned" if question.state in OPEN else question.state
        self._questions.append((question.id, state, quorum, False))

    def _ask_another(
        self, question: Question, verdict: Verdict, stored: dict[int, Answer]
    ) -> None:
        quorum = max(2, verdict.quorum)
        if question.state in OPEN:
            state = "ready" if question.state == "returned" else question.state
        elif verdict.disputed and self._can_reopen(question):
            state = "ready"
        else:  # nobody needs the answer any more
            for answer in stored.values():
                if answer.state not in BELIEVED:
                    self._settle(answer, "retracted", None)
            return
        for answer in stored.values():
            if answer.state == "pending":
                self._settle(answer, "unconfirmed", None, proved=answer.proved)
        self._questions.append((question.id, state, quorum, verdict.disputed))

    def _can_reopen(self, question: Question) -> bool:
        """Whether a question that had been answered can be asked again."""
        if question.state == "withdrawn" or question.campaign_state != "running":
            return False
        twin = self.connection.execute(query("open_twin"), (question.id,)).fetchone()
        return twin is not None and not twin[0]

    def _settle(
        self, answer: Answer, state: str, bounds: Bounds | None, credit: float = 0.0,
        proved: bytes | None = None,
    ) -> None:  # fmt: skip
        row = {
            "leases": answer.lease, "states": state, "los": bounds.lo if bounds else None,
            "his": bounds.hi if bounds else None, "credits": credit, "proved": proved,
        }  # fmt: skip
        for column, value in row.items():
            self._settled[column].append(value)

    def _write(self) -> None:
        connection = self.connection
        if self._settled["leases"]:
            connection.execute(query("settle_votes"), self._settled)
        if self._questions:
            ids, states, quorums, disputed = (
                list(column) for column in zip(*self._questions, strict=True)
            )
            connection.execute(
                query("settle_questions"),
                {"ids": ids, "states": states, "quorums": quorums, "disputed": disputed},
            )
            if "ready" in states:
                connection.execute(query("notify"), ("zermelo_ready", ""))
        _grant(connection, self._efforts)
        self._note_confirmed()
        if self._liars:
            convict(connection, sorted(self._liars))

    def _note_confirmed(self) -> None:
        told: dict[int, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
        for host, effort, seconds in self._confirmed:
            for at, more in enumerate((1, effort, seconds)):
                told[host][at] += more
        hosts = sorted(told)
        if hosts:
            self.connection.execute(
                query("note_confirmed"),
                {
                    "hosts": hosts, "most": MOST_LEASES, "known_after": KNOWN_AFTER,
                    "answers": [int(told[host][0]) for host in hosts],
                    "nodes": [told[host][1] for host in hosts],
                    "seconds": [told[host][2] for host in hosts],
                },
            )  # fmt: skip


def convict(
    connection: Connection, hosts: Sequence[int], actor: str = "validator", detail: str = ""
) -> int:
    """Hosts that lied: their records end, and what rests on their word is doubted."""
    connection.execute(query("note_errors"), {"hosts": list(hosts)})
    rows = connection.execute(
        query("doubt_results"), {"hosts": list(hosts), "known_after": KNOWN_AFTER}
    ).fetchall()
    doubted: int = sum(count for _, count in rows)
    for host in hosts:
        record(connection, actor, "convict", f"host {host}", detail or "outvoted")
    for campaign, _ in rows:
        connection.execute(query("notify"), ("zermelo_valid", str(campaign)))
    log.warning("hosts %s gave bad answers; %d results are in doubt", list(hosts), doubted)
    return doubted


def _vote(question: Question, answer: Answer) -> Vote:
    trusted = answer.state in BELIEVED
    if answer.state == "pending" and question.replication == "adaptive":
        rate = check_rate(answer.streak, KNOWN_AFTER, LEAST_CHECKED)
        trusted = CHANCE.random() >= rate
    proved = {}
    if answer.proved is not None:
        proved = {
            (item.key, item.history): Bounds(item.lo, item.hi) for item in unpack(answer.proved)
        }
    return Vote(
        answer.lease, answer.host, answer.user, answer.answer,
        Bounds(answer.lo, answer.hi), trusted, proved,
    )  # fmt: skip
