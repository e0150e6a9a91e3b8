"""Deciding questions from all their answers, as they are stored."""

from __future__ import annotations

import logging
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from zermelo.games import Bounds
from zermelo.proto.known import KnownBounds, pack, unpack
from zermelo.server.chance import CHANCE
from zermelo.server.database import Connection
from zermelo.server.listening import notify
from zermelo.server.trust import records
from zermelo.server.trust.assurance import FEW_TRUSTED
from zermelo.server.trust.credit import grant
from zermelo.server.trust.voting import (
    LEAD_OF_TRUSTED,
    MANY_TRUSTED,
    PLAIN,
    STRANGERS,
    Caution,
    Verdict,
    Vote,
    agreed_below,
    confirmed_exhausted,
    decide,
    refuted,
    sharper_question,
)
from zermelo.server.vocabulary import (
    Answer,
    Channel,
    Replication,
    ResultState,
    WorkunitState,
)
from zermelo.sql import query

log = logging.getLogger(__name__)

#: States of a question whose answer is still to be found; an exhausted one has its answer.
UNDECIDED = frozenset({WorkunitState.READY, WorkunitState.LEASED, WorkunitState.RETURNED})
BELIEVED = frozenset({ResultState.VALID, ResultState.ASSIMILATED})


class Question(NamedTuple):
    """A workunit whose answers are compared."""

    id: int
    campaign: int
    state: str
    threshold: int
    expected: float
    quorum: int
    disputed: bool
    max_score: int
    replication: str
    campaign_quorum: int
    #: The nodes that a wrong answer could make the campaign skip.
    stakes: float


class StoredVote(NamedTuple):
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
    node_budget: int
    seconds: float
    #: What its lease was granted before the answer came, late.
    granted: float
    #: What it was granted itself, before somebody contested it.
    paid: float
    referee: bool
    #: Of an exhausted answer: whether others showed before that it is honest.
    shown: bool | None
    #: How many of its host's exhausted answers others confirmed and refuted so far.
    exhausted_confirmed: int
    exhausted_refuted: int
    #: What it was granted before a ban took it, which is the most that it is granted again; None
    #: where none did. Else the record that its host got back counts it already.
    former_credit: float | None

    @property
    def restated(self) -> bool:
        """Whether it repeats the answer of a lease to a milder question, whose number it has."""
        return self.lease < 0


@dataclass
class Comparison:
    """Decides questions from all their answers, a batch of them in one transaction."""

    connection: Connection
    workunits: list[int]
    #: The results to judge, which the caller has locked.
    leases: list[int]
    _settled: dict[str, list[Any]] = field(
        default_factory=lambda: {
            "leases": [], "states": [], "los": [], "his": [], "credits": [], "proved": [],
        }
    )  # fmt: skip
    _questions: list[tuple[int, str, int, bool]] = field(default_factory=list)
    _confirmed: list[records.Confirmed] = field(default_factory=list)
    #: Exhausted answers that this batch shows to be honest or not.
    _shown: dict[int, tuple[StoredVote, bool]] = field(default_factory=dict)
    _efforts: list[tuple[int, float]] = field(default_factory=list)
    _liars: set[int] = field(default_factory=set)
    #: Answers that were drawn for a check, and the sharpest question each answers.
    _drawn: dict[int, int] = field(default_factory=dict)
    _restated: dict[int, int] = field(default_factory=dict)
    _campaigns: list[int] = field(default_factory=list)

    def run(self) -> None:
        # Nobody is convicted while it is judged here, or what it said would be overlooked.
        self.connection.execute(query("lock_voters"), (self.workunits,))
        rows = self.connection.execute(query("lock_questions"), (self.workunits,)).fetchall()
        answers: dict[int, list[StoredVote]] = defaultdict(list)
        asked = {"workunits": self.workunits, "leases": self.leases}
        for row in self.connection.execute(query("votes"), asked):
            answer = StoredVote(*row)
            answers[answer.workunit].append(answer)
        questions = [Question(*row) for row in rows]
        self._campaigns = sorted({question.campaign for question in questions})
        for question in questions:
            if answers[question.id]:
                self._decide(question, answers[question.id])
        self._write()

    def _decide(self, question: Question, answers: list[StoredVote]) -> None:
        quorum = question.quorum
        if quorum == 1 and question.replication == Replication.QUORUM:
            quorum = question.campaign_quorum
        rules = Bounds(-question.max_score, question.max_score)
        votes = [self._vote(question, answer) for answer in answers]
        caution = self._caution(question, answers)
        verdict = decide(votes, question.threshold, rules, quorum, caution)
        stored = {answer.lease: answer for answer in answers}
        if verdict.decided:
            self._accept(question, verdict, stored, rules)
        else:
            self._ask_another(question, verdict, stored)

    def _accept(
        self, question: Question, verdict: Verdict, stored: dict[int, StoredVote],
        rules: Bounds,
    ) -> None:  # fmt: skip
        below = [
            KnownBounds(key, history, bounds.lo, bounds.hi)
            for (key, history), bounds in agreed_below(
                verdict.winners, of_trusted=question.replication == Replication.ADAPTIVE
            ).items()
        ]
        proved = pack(below) if below else None
        self._note_exhausted(verdict, stored)
        for vote in verdict.winners:
            answer = stored[vote.lease]
            if answer.state in BELIEVED:
                continue
            effort = max(0.0, self._worth(question, answer) - answer.granted)
            if answer.former_credit is not None:
                effort = min(effort, answer.former_credit)
            self._settle(answer, ResultState.VALID, verdict.bounds, answer.paid or effort, proved)
            proved = None  # once is enough
            if answer.paid:  # contested, and right: it counted then
                continue
            self._efforts.append((vote.host, effort))
            if verdict.answer == Answer.EXHAUSTED or vote.referee:
                continue
            if verdict.confirmed and answer.former_credit is not None:
                continue
            if verdict.confirmed:
                self._confirmed.append(
                    records.Confirmed(
                        vote.host, self._share(question, answer), effort, answer.seconds
                    )
                )
            elif vote.lease in self._drawn:
                self._restated[vote.lease] = self._drawn[vote.lease]
        for vote in verdict.losers:
            answer = stored[vote.lease]
            self._liars.add(vote.host)
            if answer.state not in BELIEVED:
                self._settle(answer, ResultState.INVALID, None, answer.paid)
            log.warning(
                "result %d of host %d is outvoted by %d users",
                vote.lease, vote.host, len({winner.user for winner in verdict.winners}),
            )
        for vote in verdict.others:
            if stored[vote.lease].state not in BELIEVED:
                # Nothing of it is believed.
                self._settle(
                    stored[vote.lease], ResultState.VALID, rules, stored[vote.lease].paid
                )
        quorum = max(question.quorum, 2) if verdict.confirmed else question.quorum
        state = WorkunitState.RETURNED if question.state in UNDECIDED else question.state
        self._questions.append((question.id, state, quorum, False))

    def _worth(self, question: Question, answer: StoredVote) -> float:
        """What an accepted answer earns, in nodes, whatever its host says.

        Searching is not needed to say `exhausted`, so that is paid as far as its host's
        exhausted answers were shown to be honest: this one, or that share of those so far.
        """
        if answer.restated or answer.referee:
            return 0.0
        worth = _work(question, answer)
        if answer.answer != Answer.EXHAUSTED or question.replication != Replication.ADAPTIVE:
            return worth
        _, honest = self._shown.get(answer.lease, (answer, answer.shown))
        if honest is not None:
            return worth if honest else 0.0
        if answer.streak < records.TRUSTED_AFTER:
            return 0.0
        judged = answer.exhausted_confirmed + answer.exhausted_refuted
        return worth * answer.exhausted_confirmed / judged if judged else 0.0

    def _share(self, question: Question, answer: StoredVote) -> float:
        """The work in a confirmed answer, in typical workunits, as far as it counts."""
        share = _work(question, answer) / self._typical if self._typical else 1.0
        return min(records.most_share(answer.streak), share)

    def _note_exhausted(self, verdict: Verdict, stored: dict[int, StoredVote]) -> None:
        """Remember which exhausted answers the verdict confirms or refutes, each once."""
        for votes, honest in ((confirmed_exhausted(verdict), True), (refuted(verdict), False)):
            for vote in votes:
                answer = stored[vote.lease]
                # Who was refuted stays so: a later agreement is cheaper than a search.
                if not answer.referee and answer.shown is not honest and answer.shown is not False:
                    self._shown[vote.lease] = answer, honest

    def _ask_another(
        self, question: Question, verdict: Verdict, stored: dict[int, StoredVote]
    ) -> None:
        quorum = max(2, verdict.quorum)
        if question.state in UNDECIDED:
            returned = question.state == WorkunitState.RETURNED
            state = WorkunitState.READY if returned else question.state
        elif verdict.disputed and self._can_reopen(question):
            state = WorkunitState.READY
        else:  # nobody needs the answer any more
            for answer in stored.values():
                if answer.state not in BELIEVED:
                    self._settle(answer, ResultState.RETRACTED, None, answer.paid)
            return
        for answer in stored.values():
            if answer.state == ResultState.PENDING:
                self._settle(answer, ResultState.UNCONFIRMED, None, proved=answer.proved)
        self._questions.append((question.id, state, quorum, verdict.disputed))

    def _can_reopen(self, question: Question) -> bool:
        """Whether a question that had been answered can be asked again."""
        if question.state == WorkunitState.WITHDRAWN:
            return False
        row = self.connection.execute(query("may_reopen"), (question.id,)).fetchone()
        return bool(row and row[0])

    def _settle(
        self, answer: StoredVote, state: ResultState, bounds: Bounds | None, credit: float = 0.0,
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
            if WorkunitState.READY in states:
                notify(connection, Channel.READY)
        grant(connection, self._efforts)
        records.confirm(connection, self._confirmed)
        if self._restated:
            connection.execute(
                query("ask_restated"),
                {"leases": list(self._restated), "thresholds": list(self._restated.values())},
            )
            notify(connection, Channel.READY)
        records.note_exhausted(connection, [
            records.Shown(answer.lease, answer.host, answer.shown, honest)
            for answer, honest in self._shown.values()
        ])  # fmt: skip
        if self._liars:
            liars = sorted(self._liars)
            doubted = records.convict(connection, liars)
            log.warning("hosts %s gave bad answers; %d results are in doubt", liars, doubted)

    @cached_property
    def _project(self) -> Caution:
        """What the project as a whole asks for, as many users as there are."""
        active, tried, believed, refereed = self._users
        mature = believed >= STRANGERS and believed > tried
        return Caution(
            strangers=None if mature else min(STRANGERS, max(2, active)),
            lead=max(0, min(LEAD_OF_TRUSTED, believed - MANY_TRUSTED + LEAD_OF_TRUSTED)),
            refereed=refereed,
        )

    @cached_property
    def _users(self) -> records.Users:
        return records.count_users(self.connection)

    @cached_property
    def _typical(self) -> float:
        """What a workunit typically takes, in nodes; 0 where nobody knows."""
        row = self.connection.execute(query("typical_work"), (self._campaigns,)).fetchone()
        return float(row[0]) if row else 0.0

    def _caution(self, question: Question, answers: list[StoredVote]) -> Caution:
        if question.replication != Replication.ADAPTIVE:
            return PLAIN
        # Strangers are believed about no more than one of them who has just become trusted.
        record = max(records.TRUSTED_AFTER, *(answer.streak for answer in answers)) * self._typical
        caution = replace(
            self._project, high_stakes=question.stakes > records.MOST_STAKES * record
        )
        if question.disputed and self._users.trusted >= FEW_TRUSTED:
            return replace(caution, strangers=None)
        return caution

    def _vote(self, question: Question, answer: StoredVote) -> Vote:
        bounds = Bounds(answer.lo, answer.hi)
        trusted_host = answer.streak >= records.TRUSTED_AFTER or answer.referee
        # What is disputed is asked again because those who agreed on it may be one person.
        believed = answer.state in BELIEVED and (trusted_host or not question.disputed)
        adaptive = question.replication == Replication.ADAPTIVE
        if answer.state == ResultState.PENDING and adaptive:
            rate = records.check_rate(answer.streak)
            if answer.answer == Answer.EXHAUSTED:
                rate = (
                    records.LEAST_CHECKED_EXHAUSTED if trusted_host
                    else records.CHECKED_EXHAUSTED_OF_STRANGERS
                )  # fmt: skip
            believed = CHANCE.random() >= rate
            if trusted_host and not believed:
                sharper = sharper_question(bounds, question.threshold)
                if sharper is not None:
                    believed = True
                    self._drawn[answer.lease] = sharper
        proved = {}
        if answer.proved is not None:
            proved = {
                (item.key, item.history): Bounds(item.lo, item.hi)
                for item in unpack(answer.proved)
            }
        return Vote(
            answer.lease, answer.host, answer.user, answer.answer, bounds, believed, proved,
            trusted_host, answer.node_budget, answer.restated, answer.referee,
        )  # fmt: skip


def _work(question: Question, answer: StoredVote) -> float:
    """What finding an answer took, in nodes, as the cost model expected it."""
    return min(question.expected, answer.node_budget)
