"""What to believe when several hosts answered the same question.

An answer is a pure function of its question, so two honest ones never contradict each
other on it: they say yes, or they say no, or they ran out of budget. Their bounds need not
be equal. Nothing is averaged: either enough users agree, or one more is asked. What is
then believed is what *all* of those who agree have said, so one honest among them is
enough for it to be true.

Of a single host's word the bound that answers the question is believed, sharper than asked
or not, because somebody else can be asked about it: such a check makes the bound itself a
question, to which what the host said, *restated*, is the first answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from zermelo.games import Bounds

#: A contradiction is decided when at least DISPUTE_QUORUM users agree, and DISPUTE_LEAD more than
#: object.
DISPUTE_QUORUM = 3
DISPUTE_LEAD = 2
#: A question is too hard when this many more users ran out of budget than found an answer.
EXHAUSTED_LEAD = 2
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


def decide(
    votes: Sequence[Vote], threshold: int, rules: Bounds, quorum: int,
    strangers: int | None = 1,
) -> Verdict:  # fmt: skip
    """Judge all votes on a question.

    `quorum` is how many users must agree; 1 leaves it to how far the voters are trusted.
    `strangers` is how many must at least when none of them is trusted; None: they never suffice.
    """
    sides: dict[bool | None, list[Vote]] = {True: [], False: [], None: []}
    for vote in votes:
        sides[vote.bounds.answers(threshold)].append(vote)
    too_hard = sides[None]
    more, fewer = sorted((sides[True], sides[False]), key=lambda side: -len(users(side)))
    need = quorum
    if quorum == 1:
        need = 1 if any(vote.believed for vote in more or too_hard) else 2
    if fewer:
        need = max(need, DISPUTE_QUORUM, len(users(fewer)) + DISPUTE_LEAD)

    def suffice(side: list[Vote], least: int) -> bool:
        if not any(vote.believed or vote.trusted_host for vote in side):
            if strangers is None:
                return False
            least = max(least, strangers)
        return len(users(side)) >= least

    winners: list[Vote] = []
    losers: list[Vote] = []
    if more and suffice(more, need):
        winners, losers = more, fewer
    elif not fewer and suffice(
        too_hard, max(need, len(users(more)) + EXHAUSTED_LEAD if more else 0)
    ):
        losers = [*_liars_below(too_hard), *_refuted_restated(more, too_hard)]
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


def agreed_below(winners: Sequence[Vote]) -> dict[Place, Bounds]:
    """What is believed about positions below: what two users say.

    A lie about what nobody else's search has settled could not be refuted.
    """
    told: dict[Place, list[Vote]] = {}
    for vote in winners:
        for place in vote.proved:
            told.setdefault(place, []).append(vote)
    return {
        place: _hull(vote.proved[place] for vote in by)
        for place, by in told.items()
        if len(users(by)) > 1
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


def check_rate(streak: int, trusted_after: int, least: float) -> float:
    """How likely an answer is checked by another user: always, then less the longer the record."""
    return 1.0 if streak < trusted_after else max(least, (1 + streak - trusted_after) ** -2)


def _opponents(vote: Vote, place: Place, votes: Sequence[Vote]) -> set[int]:
    """The users whose bounds of a position below exclude those of this vote."""
    return users(
        other
        for other in votes
        if place in other.proved and not _intersect(vote.proved[place], other.proved[place])
    )


def _contradict_below(votes: Sequence[Vote]) -> bool:
    return any(_opponents(vote, place, votes) for vote in votes for place in vote.proved)


def _liars_below(votes: Sequence[Vote]) -> list[Vote]:
    """Those that several users contradict about a position below, more than say the same."""
    liars = []
    for vote in votes:
        for place in vote.proved:
            against = _opponents(vote, place, votes)
            told = users(other for other in votes if place in other.proved)
            if len(against) >= DISPUTE_LEAD and len(against) > len(told - against):
                liars.append(vote)
                break
    return liars


def _refuted_restated(restated: Sequence[Vote], too_hard: Sequence[Vote]) -> list[Vote]:
    """Those who say that they found what nobody else does with as many nodes."""
    return [
        vote
        for vote in restated
        if vote.restated
        and len(users(o for o in too_hard if o.node_budget >= vote.node_budget)) > EXHAUSTED_LEAD
    ]


def _agreed(winners: Sequence[Vote], threshold: int, rules: Bounds) -> Bounds:
    hull = _hull(vote.bounds for vote in winners)
    return hull if len(users(winners)) > 1 else answering_bound(hull, threshold, rules)


def _hull(bounds: Iterable[Bounds]) -> Bounds:
    every = list(bounds)
    return Bounds(min(b.lo for b in every), max(b.hi for b in every))


def _intersect(one: Bounds, other: Bounds) -> bool:
    return max(one.lo, other.lo) <= min(one.hi, other.hi)
