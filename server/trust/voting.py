"""What to believe when several hosts answered the same question.

An answer is a pure function of its question, so two honest ones never contradict each
other on it: they say yes, or they say no, or they ran out of budget. Their bounds need not
be equal. Nothing is averaged: either enough users agree, or one more is asked. What is
then believed is what *all* of those who agree have said, so one honest among them is
enough for it to be true.

The server's own search, the *referee*, has a vote that cannot be bought: it decides a question
alone, unless DISPUTE_QUORUM trusted users say the opposite, which only a fault of the server's
machine explains. Where enough users are trusted, contradictions are decided by them: accounts that
anybody can open neither convict nor save anybody.

Of a single host's word the bound that answers the question is believed, sharper than asked
or not, because somebody else can be asked about it: such a check makes the bound itself a
question, to which what the host said, *restated*, is the first answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from zermelo.games import Bounds
from zermelo.server.vocabulary import Answer

#: A contradiction is decided when at least DISPUTE_QUORUM users agree, and DISPUTE_LEAD more than
#: object.
DISPUTE_QUORUM = 3
DISPUTE_LEAD = 2
#: A question is too hard when this many more users ran out of budget than found an answer.
EXHAUSTED_LEAD = 2
#: Where at least this many users are trusted, LEAD_OF_TRUSTED more of them must agree on a
#: contradiction than object; with one fewer, one more.
MANY_TRUSTED = 4
LEAD_OF_TRUSTED = 2
#: Where no trusted user is among those who agree, at least STRANGERS must, or all there are.
#: They need a trusted one as soon as STRANGERS users are trusted, and more than are halfway there.
STRANGERS = 3
#: At most this many users are asked about what lies below a question that is too hard.
MOST_ASKED_BELOW = 5

Place = tuple[bytes, bytes]  # a position below the node: key and history


@dataclass(frozen=True, slots=True)
class Vote:
    """One answer to the question."""

    lease: int
    host: int
    user: int
    answer: str
    bounds: Bounds
    #: Believed without a second opinion: by its host's record, or because it was before.
    believed: bool
    #: What an exhausted search proved below the node.
    proved: Mapping[Place, Bounds] = field(default_factory=dict)
    #: Whether its host has earned trust.
    trusted_host: bool = False
    #: The nodes that its host could spend.
    node_budget: int = 0
    #: Whether it says again what was said in the answer to a milder question.
    restated: bool = False
    #: Whether the server itself searched.
    referee: bool = False


class Verdict(NamedTuple):
    """What the votes come to. `winners` is empty while another user must be asked."""

    winners: list[Vote]
    #: Those that cannot be true if the winners are.
    losers: list[Vote]
    #: Neither confirmed nor refuted by the winners.
    others: list[Vote]
    answer: str
    bounds: Bounds
    #: How many users must agree before this can be decided.
    quorum: int
    disputed: bool

    @property
    def decided(self) -> bool:
        return bool(self.winners)

    @property
    def confirmed(self) -> bool:
        """Whether more than one user stands behind it."""
        return len(users(self.winners)) > 1


@dataclass(frozen=True, slots=True)
class Caution:
    """What a decision needs besides the quorum, as the project and the question are."""

    #: How many users must agree when none of them is trusted; None: they never suffice.
    strangers: int | None = 1
    #: How many more trusted users than object must agree on a contradiction; 0: users count alike.
    lead: int = 0
    #: Whether too much rests on the answer for a single trusted user.
    high_stakes: bool = False
    #: Whether a referee is there to be waited for, where strangers alone agree on such an answer.
    refereed: bool = False


PLAIN = Caution()


def decide(
    votes: Sequence[Vote], threshold: int, rules: Bounds, quorum: int,
    caution: Caution = PLAIN,
) -> Verdict:  # fmt: skip
    """Judge all votes on a question.

    `quorum` is how many users must agree; 1 leaves it to how far the voters are trusted.
    """
    sides: dict[bool | None, list[Vote]] = {True: [], False: [], None: []}
    for vote in votes:
        sides[vote.bounds.answers(threshold)].append(vote)
    too_hard = sides[None]
    more, fewer = sorted(
        (sides[True], sides[False]), key=lambda side: _weight(side, caution), reverse=True
    )
    need = quorum
    if quorum == 1:
        need = 1 if any(vote.believed for vote in more or too_hard) else 2
    if fewer:
        need = max(need, DISPUTE_QUORUM)
        if not caution.lead:
            need = max(need, len(users(fewer)) + DISPUTE_LEAD)
    elif more and caution.high_stakes:
        need = max(need, 2)

    winners: list[Vote] = []
    losers: list[Vote] = []
    if any(vote.referee for vote in too_hard):
        caution = replace(caution, refereed=False)  # it does not know either
    if more and _decides(more, fewer, need, caution):
        winners, losers = more, fewer
    elif not fewer and _suffice(
        too_hard, max(need, len(users(more)) + EXHAUSTED_LEAD if more else 0), caution.strangers
    ):
        losers = [
            *_liars_below(too_hard, caution.lead), *_refuted_restated(more, too_hard, caution.lead)
        ]
        winners = [vote for vote in too_hard if vote not in losers]
        asked = len(users(too_hard))
        if not losers and _contradict_below(too_hard) and asked < MOST_ASKED_BELOW:
            return Verdict([], [], list(votes), "", rules, asked + 1, disputed=True)
    if not winners:
        return Verdict([], [], list(votes), "", rules, need, disputed=bool(fewer))
    decided = {vote.lease for vote in [*winners, *losers]}
    return Verdict(
        winners=winners,
        losers=losers,
        others=[vote for vote in votes if vote.lease not in decided],
        answer=winners[0].answer,
        bounds=_agreed(winners, threshold, rules),
        quorum=need,
        disputed=bool(losers),
    )


def agreed_below(winners: Sequence[Vote], *, of_trusted: bool = False) -> dict[Place, Bounds]:
    """What is believed about positions below: what two users say, `of_trusted` one of them trusted.

    A lie about what nobody else's search has settled could not be refuted.
    """
    told: dict[Place, list[Vote]] = {}
    for vote in winners:
        for place in vote.proved:
            told.setdefault(place, []).append(vote)
    return {
        place: _hull(vote.proved[place] for vote in by)
        for place, by in told.items()
        if _suffice(by, 2, None if of_trusted else 1)
    }


def question_alone(bounds: Bounds, threshold: int, rules: Bounds) -> Bounds:
    """The part of the bounds that answers the question, and nothing beyond it."""
    if bounds.lo >= threshold:
        return Bounds(threshold, rules.hi)
    if bounds.hi < threshold:
        return Bounds(rules.lo, threshold - 1)
    return rules


def answering_bound(bounds: Bounds, threshold: int, rules: Bounds) -> Bounds:
    """The bound that answers the question, and not the other one."""
    if bounds.lo >= threshold:
        return Bounds(bounds.lo, rules.hi)
    if bounds.hi < threshold:
        return Bounds(rules.lo, bounds.hi)
    return rules


def sharper_question(bounds: Bounds, threshold: int) -> int | None:
    """The threshold of the hardest question that these bounds answer alike, if it is another."""
    sharper = bounds.lo if bounds.lo >= threshold else bounds.hi + 1
    return None if bounds.answers(threshold) is None or sharper == threshold else sharper


def users(votes: Iterable[Vote]) -> set[int]:
    return {vote.user for vote in votes}


def known_users(votes: Iterable[Vote]) -> set[int]:
    """The trusted users among the voters."""
    return users(vote for vote in votes if vote.trusted_host)


def refuted(verdict: Verdict) -> list[Vote]:
    """Answers `exhausted` to a question that another user answered with no larger a budget."""
    searched = [
        vote for vote in verdict.winners if vote.answer != Answer.EXHAUSTED and not vote.restated
    ]
    return [
        vote
        for vote in verdict.others
        if vote.answer == Answer.EXHAUSTED
        and any(s.user != vote.user and s.node_budget <= vote.node_budget for s in searched)
    ]


def confirmed_exhausted(verdict: Verdict) -> list[Vote]:
    """Answers `exhausted` that a trusted user, or the referee, gave with no smaller a budget."""
    return [
        vote
        for vote in verdict.winners
        if vote.answer == Answer.EXHAUSTED
        and any(
            other.answer == Answer.EXHAUSTED and (other.trusted_host or other.referee)
            and other.user != vote.user and other.node_budget >= vote.node_budget
            for other in verdict.winners
        )
    ]  # fmt: skip


def _weight(side: Sequence[Vote], caution: Caution) -> tuple[bool, int, int]:
    """Which of two sides may win: the referee's, then that of more trusted users, or of more."""
    believed = len(known_users(side)) if caution.lead else 0
    return any(vote.referee for vote in side), believed, len(users(side))


def _decides(more: Sequence[Vote], fewer: Sequence[Vote], need: int, caution: Caution) -> bool:
    """Whether those who agree on a yes or a no are enough against those who object."""
    believed, against = len(known_users(more)), len(known_users(fewer))
    if any(vote.referee for vote in more):
        return against < DISPUTE_QUORUM
    if not _suffice(more, need, caution.strangers):
        return False
    if fewer and caution.lead:
        return believed >= against + caution.lead
    if caution.high_stakes and believed < 2:
        return not caution.refereed and caution.strangers is not None
    return True


def _suffice(side: Sequence[Vote], least: int, strangers: int | None) -> bool:
    if not any(vote.believed or vote.trusted_host or vote.referee for vote in side):
        if strangers is None:
            return False
        least = max(least, strangers)
    return len(users(side)) >= least


def _opponents(vote: Vote, place: Place, votes: Sequence[Vote]) -> set[int]:
    """The users whose bounds of a position below exclude those of this vote."""
    return users(
        other
        for other in votes
        if place in other.proved and not _intersect(vote.proved[place], other.proved[place])
    )


def _contradict_below(votes: Sequence[Vote]) -> bool:
    return any(_opponents(vote, place, votes) for vote in votes for place in vote.proved)


def _liars_below(votes: Sequence[Vote], lead: int) -> list[Vote]:
    """Those that several users contradict about a position below, more than say the same."""
    believed = known_users(votes)
    liars = []
    for vote in votes:
        for place in vote.proved:
            against = _opponents(vote, place, votes)
            told = users(other for other in votes if place in other.proved)
            if lead and len(against & believed) < len((told - against) & believed) + lead:
                continue
            if len(against) >= DISPUTE_LEAD and len(against) > len(told - against):
                liars.append(vote)
                break
    return liars


def _refuted_restated(
    restated: Sequence[Vote], too_hard: Sequence[Vote], lead: int
) -> list[Vote]:
    """Those who say that they found what nobody else does with as many nodes."""
    broken = []
    for vote in restated:
        able = [other for other in too_hard if other.node_budget >= vote.node_budget]
        if vote.restated and len(users(able)) > EXHAUSTED_LEAD and len(known_users(able)) >= lead:
            broken.append(vote)
    return broken


def _agreed(winners: Sequence[Vote], threshold: int, rules: Bounds) -> Bounds:
    hull = _hull(vote.bounds for vote in winners)
    return hull if len(users(winners)) > 1 else answering_bound(hull, threshold, rules)


def _hull(bounds: Iterable[Bounds]) -> Bounds:
    every = list(bounds)
    return Bounds(min(b.lo for b in every), max(b.hi for b in every))


def _intersect(one: Bounds, other: Bounds) -> bool:
    return max(one.lo, other.lo) <= min(one.hi, other.hi)
