"""What is believed of several answers: properties of the decision, whatever liars say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from zermelo.games import Bounds
from zermelo.server.trust import records
from zermelo.server.trust.voting import (
    DISPUTE_QUORUM,
    Caution,
    Vote,
    agreed_below,
    answering_bound,
    confirmed_exhausted,
    decide,
    question_alone,
    refuted,
    sharper_question,
    users,
)

RULES = Bounds(-16, 16)
THRESHOLDS = st.integers(-15, 16)
SCORES = st.integers(-16, 16)


def vote(
    lease: int, answer: str, lo: int, hi: int, *, user: int = 0, believed: bool = False,
    **more: Any,
) -> Vote:  # fmt: skip
    return Vote(lease, host=lease, user=user or lease, answer=answer, bounds=Bounds(lo, hi),
                believed=believed, **more)


@st.composite
def answers(draw: st.DrawFn, score: int, threshold: int, *, honest: bool) -> tuple[str, Bounds]:
    """An answer that is sound in itself; an honest one has the score within its bounds."""
    if honest:
        lo, hi = draw(st.integers(-16, score)), draw(st.integers(score, 16))
    else:
        lo = draw(SCORES)
        hi = draw(st.integers(lo, 16))
    if lo >= threshold:
        return "yes", Bounds(lo, hi)
    if hi < threshold:
        return "no", Bounds(lo, hi)
    return "exhausted", Bounds(lo, hi)


@st.composite
def elections(draw: st.DrawFn, *, most_liars: int) -> tuple[int, int, list[Vote], list[bool]]:
    """A score, a threshold, votes in the order they came, and which of them are honest."""
    score, threshold = draw(SCORES), draw(THRESHOLDS)
    honest = draw(st.lists(st.booleans(), min_size=1, max_size=9))
    liars = 0
    votes = []
    for number, is_honest in enumerate(honest, 1):
        if not is_honest:
            liars += 1
            if liars > most_liars:
                is_honest = honest[number - 1] = True
        answer, bounds = draw(answers(score, threshold, honest=is_honest))
        votes.append(vote(number, answer, bounds.lo, bounds.hi))
    return score, threshold, votes, honest


@given(elections(most_liars=0))
def test_honest_answers_never_contradict_each_other(
    election: tuple[int, int, list[Vote], list[bool]]
) -> None:
    score, threshold, votes, _ = election
    verdict = decide(votes, threshold, RULES, 2)
    assert not verdict.disputed
    assert not verdict.losers
    if verdict.decided:
        assert verdict.bounds.lo <= score <= verdict.bounds.hi
        assert len(users(verdict.winners)) >= 2


@examples(150, 500)
@given(elections(most_liars=1), st.integers(2, 4))
def test_one_liar_never_gets_a_wrong_bound_in(
    election: tuple[int, int, list[Vote], list[bool]], quorum: int
) -> None:
    score, threshold, votes, honest = election
    verdict = decide(votes, threshold, RULES, quorum)
    if verdict.decided:
        assert verdict.bounds.lo <= score <= verdict.bounds.hi
        assert not any(honest[loser.lease - 1] for loser in verdict.losers)


@pytest.mark.slow
@examples(150, 500)
@given(elections(most_liars=2))
def test_two_liars_lose_against_any_honest_objection(
    election: tuple[int, int, list[Vote], list[bool]]
) -> None:
    """Two who lie alike can only win while nobody objects; objections cost them three."""
    score, threshold, votes, _ = election
    verdict = decide(votes, threshold, RULES, 2)
    if verdict.decided and verdict.disputed:
        assert verdict.bounds.lo <= score <= verdict.bounds.hi


@pytest.mark.slow
@given(elections(most_liars=9), st.integers(1, 5))
def test_a_verdict_is_about_every_vote_once(
    election: tuple[int, int, list[Vote], list[bool]], quorum: int
) -> None:
    _, threshold, votes, _ = election
    verdict = decide(votes, threshold, RULES, quorum)
    told = [vote.lease for vote in [*verdict.winners, *verdict.losers, *verdict.others]]
    assert sorted(told) == [vote.lease for vote in votes]
    assert verdict.quorum >= quorum
    for winner in verdict.winners:
        assert winner.answer == verdict.answer
        assert verdict.bounds.lo <= winner.bounds.lo
        assert verdict.bounds.hi >= winner.bounds.hi
    for loser in verdict.losers:
        assert {loser.answer, verdict.answer} == {"yes", "no"}


@pytest.mark.slow
@given(elections(most_liars=9), st.permutations(list(range(9))))
def test_the_order_of_undisputed_votes_does_not_matter(
    election: tuple[int, int, list[Vote], list[bool]], order: list[int]
) -> None:
    _, threshold, votes, _ = election
    shuffled = [votes[at] for at in order if at < len(votes)]
    one, other = (decide(some, threshold, RULES, 2) for some in (votes, shuffled))
    assert one.disputed == other.disputed
    if not one.disputed:
        assert (one.answer, one.bounds) == (other.answer, other.bounds)


def test_one_user_is_one_voice_however_many_hosts() -> None:
    votes = [vote(number, "yes", 4, 16, user=7) for number in range(1, 6)]
    assert not decide(votes, 4, RULES, 1).decided
    assert decide([*votes, vote(9, "yes", 4, 16)], 4, RULES, 1).decided


def test_a_new_host_needs_a_second_user_a_trusted_one_does_not() -> None:
    alone = decide([vote(1, "yes", 8, 16)], 4, RULES, 1)
    assert (alone.decided, alone.quorum) == (False, 2)
    trusted = decide([vote(1, "yes", 8, 16, believed=True)], 4, RULES, 1)
    assert trusted.decided
    assert trusted.bounds == Bounds(8, 16)
    # Of two bounds only that which answers, because only for that a check would ask.
    assert decide([vote(1, "yes", 8, 9, believed=True)], 4, RULES, 1).bounds == Bounds(8, 16)
    assert decide([vote(1, "no", -3, 2, believed=True)], 4, RULES, 1).bounds == Bounds(-16, 2)
    both = decide([vote(1, "yes", 8, 16), vote(2, "yes", 6, 12)], 4, RULES, 1)
    assert both.bounds == Bounds(6, 16)


def test_strangers_need_more_of_them_or_one_who_is_trusted() -> None:
    votes = [vote(1, "yes", 4, 16), vote(2, "yes", 4, 16)]
    two = decide(votes, 4, RULES, 1, Caution(strangers=3))
    assert (two.decided, two.quorum, two.disputed) == (False, 2, False)
    assert decide([*votes, vote(3, "yes", 4, 16)], 4, RULES, 2, Caution(strangers=3)).decided
    with_known = [votes[0], vote(3, "yes", 4, 16, trusted_host=True)]
    assert decide(with_known, 4, RULES, 2, Caution(strangers=3)).decided
    hard = [vote(1, "exhausted", -16, 16), vote(2, "exhausted", -16, 16)]
    assert not decide(hard, 4, RULES, 2, Caution(strangers=3)).decided
    # Where most are trusted, however many strangers are too few.
    many = [vote(number, "yes", 4, 16) for number in range(1, 9)]
    assert not decide(many, 4, RULES, 2, Caution(strangers=None)).decided
    with_known = [many[0], vote(9, "yes", 4, 16, trusted_host=True)]
    assert decide(with_known, 4, RULES, 2, Caution(strangers=None)).decided
    # A stranger's answer does not keep those who are trusted from finding it too hard.
    trusted = [vote(number, "exhausted", -16, 16, trusted_host=True) for number in (2, 3, 4)]
    assert decide([many[0], *trusted], 4, RULES, 2, Caution(strangers=None)).answer == "exhausted"
    # One who is trusted and says the opposite helps nobody to agree.
    opposed = [*votes, vote(3, "no", -16, 3, trusted_host=True)]
    assert not decide(opposed, 4, RULES, 2, Caution(strangers=3)).decided


@given(SCORES, SCORES, THRESHOLDS)
def test_the_sharpest_question_that_bounds_answer(lo: int, hi: int, threshold: int) -> None:
    bounds = Bounds(min(lo, hi), max(lo, hi))
    sharper = sharper_question(bounds, threshold)
    if sharper is None:
        assert question_alone(bounds, threshold, RULES) == answering_bound(
            bounds, threshold, RULES
        )
    else:
        told = bounds.answers(threshold)
        assert bounds.answers(sharper) == told
        assert question_alone(bounds, sharper, RULES) == answering_bound(bounds, threshold, RULES)
        # One point beyond it the bounds no longer tell.
        assert bounds.answers(sharper + 1 if told else sharper - 1) != told


def test_a_restated_bound_that_nobody_finds_is_refuted() -> None:
    restated = vote(1, "yes", 8, 16, trusted_host=True, restated=True, node_budget=100)

    def checked(*budgets: int) -> list[Vote]:
        return [vote(number, "exhausted", -16, 16, trusted_host=True, node_budget=node_budget)
                for number, node_budget in enumerate(budgets, 2)]

    assert not decide([restated, *checked(100, 100)], 8, RULES, 2).decided
    broken = decide([restated, *checked(100, 100, 200)], 8, RULES, 2)
    assert (broken.losers, broken.answer) == ([restated], "exhausted")
    # Who had less to spend says nothing about it.
    unclear = decide([restated, *checked(100, 100, 99)], 8, RULES, 2)
    assert (unclear.losers, unclear.others) == ([], [restated])
    kept = decide([restated, *checked(100), vote(9, "yes", 8, 16)], 8, RULES, 2)
    assert (kept.answer, kept.losers) == ("yes", [])
    told = [vote(number, "no", -16, 7) for number in (2, 3, 4)]
    assert decide([restated, *told], 8, RULES, 2).losers == [restated]


def test_a_contradiction_is_decided_by_three_with_a_lead_of_two() -> None:
    votes = [vote(1, "yes", 4, 16, believed=True), vote(2, "no", -16, 3)]
    assert decide(votes, 4, RULES, 1).quorum == DISPUTE_QUORUM
    votes.append(vote(3, "no", -16, 3))
    assert not decide(votes, 4, RULES, 2).decided
    votes.append(vote(4, "no", -16, 1))
    verdict = decide(votes, 4, RULES, 2)
    assert [loser.lease for loser in verdict.losers] == [1]
    assert verdict.bounds == Bounds(-16, 3)


def test_running_out_of_budget_confirms_nothing() -> None:
    votes = [vote(1, "yes", 4, 16), vote(2, "exhausted", -16, 16)]
    assert not decide(votes, 4, RULES, 2).decided
    votes.append(vote(3, "exhausted", -16, 16))
    assert not decide(votes, 4, RULES, 2).decided
    hard = decide([*votes, vote(4, "exhausted", -16, 16)], 4, RULES, 2)
    assert hard.answer == "exhausted"
    assert [other.lease for other in hard.others] == [1]
    easy = decide([*votes, vote(4, "yes", 5, 16)], 4, RULES, 2)
    assert (easy.answer, easy.bounds) == ("yes", Bounds(4, 16))


def test_what_lies_below_is_believed_when_two_users_say_it() -> None:
    def told(lease: int, **bounds: Bounds) -> Vote:
        return Vote(lease, lease, lease, "exhausted", RULES, believed=False,
                    proved={(name.encode(), b""): value for name, value in bounds.items()})

    one = told(1, x=Bounds(3, 16), y=Bounds(0, 5))
    two = told(2, x=Bounds(1, 9), z=Bounds(2, 2))
    assert decide([one, two], 4, RULES, 2).winners == [one, two]
    assert agreed_below([one, two]) == {(b"x", b""): Bounds(1, 16)}
    assert agreed_below([one]) == {}


def test_a_lie_about_what_lies_below_is_found_out() -> None:
    def told(lease: int, lo: int, hi: int) -> Vote:
        return Vote(lease, lease, lease, "exhausted", RULES, believed=False,
                    proved={(b"x", b""): Bounds(lo, hi)})

    liar, honest = told(1, 9, 16), [told(number, -16, 2 + number) for number in range(2, 5)]
    open_still = decide([liar, honest[0]], 4, RULES, 2)
    assert (open_still.decided, open_still.quorum) == (False, 3)
    verdict = decide([liar, *honest[:2]], 4, RULES, 3)
    assert (verdict.losers, verdict.winners) == ([liar], honest[:2])
    assert agreed_below(verdict.winners) == {(b"x", b""): Bounds(-16, 5)}


def test_the_longer_the_record_the_rarer_the_checks() -> None:
    trusted, rarely = records.TRUSTED_AFTER, records.TRUSTED_AFTER + records.PROBATION
    rates = [records.check_rate(streak) for streak in range(200)]
    assert rates[:trusted] == [1.0] * trusted
    assert rates[trusted:rarely] == [records.CHECKED_ON_PROBATION] * records.PROBATION
    assert set(rates[rarely:]) == {records.LEAST_CHECKED}
    assert rates == sorted(rates, reverse=True)


def trusted_votes(*answers: str, first: int = 1, **more: Any) -> list[Vote]:
    bounds = {"yes": (4, 16), "no": (-16, 3), "exhausted": (-16, 16)}
    return [vote(first + at, answer, *bounds[answer], **more) for at, answer in enumerate(answers)]


def test_contradictions_are_decided_by_the_trusted_alone() -> None:
    """One trusted and any number of fresh accounts convict no trusted host (issue 15, row 10)."""
    caution = Caution(strangers=None, lead=2)
    honest = trusted_votes("yes", trusted_host=True)
    liars = trusted_votes("no", first=2, trusted_host=True)
    fresh = trusted_votes(*["no"] * 9, first=10)
    undecided = decide([*honest, *liars, *fresh], 4, RULES, 3, caution)
    assert (undecided.decided, undecided.disputed) == (False, True)
    peers = trusted_votes("yes", "yes", first=30, trusted_host=True)
    verdict = decide([*honest, *liars, *fresh, *peers], 4, RULES, 3, caution)
    assert (verdict.answer, verdict.losers) == ("yes", [*liars, *fresh])


def test_the_referee_decides_unless_three_trusted_users_object() -> None:
    caution = Caution(strangers=None, lead=2, high_stakes=True, refereed=True)
    (referee,) = trusted_votes("yes", first=50, trusted_host=True, referee=True)
    liars = trusted_votes("no", "no", "no", trusted_host=True)
    assert decide([referee], 4, RULES, 1, caution).decided
    assert decide([referee, *liars[:2]], 4, RULES, 3, caution).losers == liars[:2]
    # Rather a fault of the server's machine.
    objected = decide([referee, *liars], 4, RULES, 3, caution)
    assert (objected.decided, objected.disputed) == (False, True)


def test_where_much_rests_on_an_answer_two_trusted_users_or_the_referee_must_agree() -> None:
    caution = Caution(strangers=None, high_stakes=True)
    one, other = trusted_votes("yes", "yes", trusted_host=True, believed=True)
    fresh = trusted_votes("yes", "yes", "yes", first=10)
    assert decide([one], 4, RULES, 1).decided
    assert not decide([one], 4, RULES, 1, caution).decided
    assert not decide([one, *fresh], 4, RULES, 2, caution).decided
    assert decide([one, other], 4, RULES, 2, caution).decided
    # While nobody is trusted, strangers wait for the referee as long as it may know.
    young = Caution(strangers=3, high_stakes=True, refereed=True)
    assert not decide(fresh, 4, RULES, 2, young).decided
    (unsure,) = trusted_votes("exhausted", first=50, trusted_host=True, referee=True)
    assert decide([*fresh, unsure], 4, RULES, 2, young).decided


def test_which_exhausted_answers_were_honest() -> None:
    lazy, slow = trusted_votes("exhausted", "exhausted", node_budget=100)
    (poor,) = trusted_votes("exhausted", first=3, node_budget=50)
    (able,) = trusted_votes("yes", first=4, believed=True, trusted_host=True, node_budget=100)
    assert refuted(decide([lazy, poor, able], 4, RULES, 1)) == [lazy]
    # Two fresh accounts that agree have shown nothing.
    assert confirmed_exhausted(decide([lazy, slow], 4, RULES, 2)) == []
    (trusted,) = trusted_votes("exhausted", first=5, trusted_host=True, node_budget=99)
    hard = decide([lazy, poor, trusted], 4, RULES, 2)
    assert confirmed_exhausted(hard) == [poor]
