"""Work that came too late or was refused: used where it can be, and counted in any case."""

from __future__ import annotations

from typing import Any

from tests.support.harness import Host, Result, Solve, Work
from zermelo.engine import Window
from zermelo.proto.known import KnownBounds, pack
from zermelo.server.campaigns import create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection

SPEC = "reversi:4x4"


def solve_of(connection: Connection, clients: int, **options: Any) -> Solve:
    campaign = create_campaign(connection, SPEC, **options)
    return Solve(connection, campaign, clients=clients, users=True)


def totals(connection: Connection) -> tuple[int, int]:
    """All nodes, and the wasted ones."""
    row = connection.execute("SELECT nodes, wasted_nodes FROM totals").fetchone()
    assert row is not None
    return row[0], row[1]


def first_child(host: Host, work: Work) -> KnownBounds:
    """The exact score of a position after the first move."""
    game = host.game
    child = game.canonical(game.play(work.position, game.moves(work.position)[0]))
    lo, hi = game.score_range.lo - 1, game.score_range.hi + 1
    bounds = host.engine.solve(child, Window(lo, hi)).bounds
    return KnownBounds(game.encode(child), game.history(child), bounds.lo, bounds.hi)


def test_what_a_late_search_proved_below_a_split_question_is_used(connection: Connection) -> None:
    solve = solve_of(connection, clients=2, replication="none", node_budget=100_000)
    slow, quick = solve.hosts
    solve.plan.step(solve.demand())
    (work,) = slow.take()
    connection.execute("UPDATE workunits SET state = 'ready' WHERE id = %s", (work.workunit,))
    (again,) = (taken for taken in quick.take(100) if taken.workunit == work.workunit)
    quick.send(Result(again.lease, "exhausted", -16, 16, nodes=7))
    solve.assimilate()
    solve.plan.step(solve.demand())
    assert connection.execute(
        "SELECT state::text FROM workunits WHERE id = %s", (work.workunit,)
    ).fetchone() == ("split",)
    known = first_child(slow, work)
    late = Result(work.lease, "exhausted", -16, 16, nodes=9, proved=pack([known]))
    assert slow.send(late) == ["late"]
    solve.assimilate()
    solve.plan.step(solve.demand())
    claims = connection.execute(
        "SELECT lo, hi FROM evidence WHERE result = %s", (work.lease,)
    ).fetchall()
    assert claims == [(known.lo, known.hi)]
    assert totals(connection) == (16, 9)
    assert check_database(connection) == []


def test_refused_and_retracted_work_is_in_the_totals_once(connection: Connection) -> None:
    solve = solve_of(connection, clients=5, replication="adaptive", node_budget=100_000)
    solve.plan.step(solve.demand())
    (work,) = solve.hosts[0].take()
    spent = 0
    for number, host in enumerate(solve.hosts):
        if number:
            (work,) = (taken for taken in host.take(100) if taken.workunit == work.workunit)
        answer = host.solve(work)
        if number == 0:  # outvoted by the others
            yes = answer.answer == "yes"
            answer = Result(work.lease, "no" if yes else "yes", -16 if yes else work.threshold,
                            work.threshold - 1 if yes else 16)  # fmt: skip
        answer.nodes = 10**number
        spent += answer.nodes
        host.send(answer)
        for _ in range(2):
            solve.assimilate()
        state = connection.execute(
            "SELECT state::text FROM workunits WHERE id = %s", (work.workunit,)
        ).fetchone()
        if state == ("answered",):
            break
    assert state == ("answered",)
    assert totals(connection) == (spent, 1)
    assert check_database(connection) == []
