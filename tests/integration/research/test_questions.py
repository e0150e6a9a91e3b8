"""The Python API on a campaign while it runs: proved, bounded or unknown, never a guess."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import zermelo
from tests.support.harness import Solve
from tests.support.minimax import KNOWN_VALUES, minimax
from tests.support.places import REPOSITORY
from zermelo.games import Bounds, GameError, open_game
from zermelo.research.plain import plain
from zermelo.research.queries import Queries
from zermelo.research.replies import ProofState
from zermelo.research.tree_queries import UnknownWorkunitError
from zermelo.server.campaigns import CampaignError, create_campaign
from zermelo.server.claims import ClaimError, import_claims, read_claims
from zermelo.server.database import Connection

SPEC = "reversi:4x4"
GAME = open_game(SPEC)
DOCUMENT = REPOSITORY / "docs" / "research.md"


def some_positions(number: int) -> list[Any]:
    """Positions of random games, those after each of their moves among them."""
    choose = random.Random(1)
    found = []
    while len(found) < number:
        position = GAME.initial()
        while moves := GAME.moves(position):
            found.append(position)
            position = GAME.play(position, choose.choice(moves))
        found.append(position)
    return found


def is_true(queries: Queries, position: Any) -> ProofState:
    """Whether what is told about a position and its moves agrees with minimax."""
    report = queries.position(GAME.format(position))
    value = minimax(GAME, position)
    assert report.worth.lo <= value <= report.worth.hi
    if report.worth.proof_state is ProofState.PROVED:
        assert report.worth.value == value
    moves = {GAME.move_name(move): -minimax(GAME, GAME.play(position, move))
             for move in GAME.moves(position)}
    assert [move.move for move in report.moves] == list(moves)
    for move in report.moves:
        assert move.worth.lo <= moves[move.move] <= move.worth.hi
        assert not move.best or moves[move.move] == value
    return report.worth.proof_state


def test_while_it_runs(connection: Connection, database: str) -> None:
    campaign = create_campaign(connection, SPEC, node_budget=100, replication="none")
    solve = Solve(connection, campaign)
    positions = [position for position in some_positions(60) if GAME.plies_left(position) < 9]
    seen = set()
    with zermelo.open(database) as opened:
        assert opened.campaigns() == [SPEC]
        queries = opened.campaign(SPEC)
        assert queries.position().worth.proof_state is ProofState.UNKNOWN
        assert queries.line() == []
        while not solve.plan.finished:
            for _ in range(5):
                if not solve.plan.finished:
                    solve.step()
            standing = queries.standing()
            assert queries.position().worth.lo == standing.bounds[0]
            seen |= {is_true(queries, position) for position in random.sample(positions, 4)}
        report = queries.position()
        assert report.worth.value == KNOWN_VALUES[SPEC]
        assert any(move.best for move in report.moves)
        assert seen >= {ProofState.UNKNOWN}
        check_finished(queries)


def check_finished(queries: Queries) -> None:
    line = queries.line()
    assert line[0].worth.value == KNOWN_VALUES[SPEC]
    position = GAME.initial()
    for step in line:
        value = minimax(GAME, position)
        assert step.side == GAME.format(position)[-1]
        assert step.worth.lo <= value <= step.worth.hi
        position = GAME.play(position, GAME.find_move(position, step.move))
        assert -minimax(GAME, position) == value
    standing, levels = queries.standing(), queries.levels()
    assert sum(level.nodes for level in levels) == standing.tree_nodes
    assert all(level.nodes == level.proved + level.bounded + level.unknown for level in levels)
    assert queries.levels(0) == levels[:1]
    (contributor,) = queries.contributors()
    hosts = queries.hosts()
    assert contributor.hosts == len(hosts) == 2
    assert contributor.nodes == sum(host.nodes for host in hosts) > 0
    newest = queries.results(3)
    assert len(newest) == 3
    assert newest[0].result > newest[1].result
    unit = queries.workunit(newest[0].workunit)
    assert newest[0] in unit.results
    assert minimax(GAME, GAME.parse(unit.position)) in range(newest[0].lo, newest[0].hi + 1)
    with pytest.raises(UnknownWorkunitError):
        queries.workunit(10**9)
    assert queries.open_questions() == []


def test_provenance_names_the_host(connection: Connection, database: str) -> None:
    campaign = create_campaign(connection, SPEC, replication="none")
    Solve(connection, campaign).run()
    with zermelo.open(database) as opened:
        report = opened.campaign(SPEC).position()
    assert report.provenance
    assert {item.user for item in report.provenance} <= {"tester"}
    best = Bounds(max(item.lo for item in report.provenance),
                  min(item.hi for item in report.provenance))
    assert best == Bounds(report.worth.lo, report.worth.hi)
    told = plain(report)
    assert told["worth"] == {"proof_state": "proved", "value": -8, "bounds": [-8, -8]}


def test_symmetric_positions_are_one_and_moves_keep_their_names(
    connection: Connection, database: str
) -> None:
    campaign = create_campaign(connection, SPEC, node_budget=100, replication="none")
    Solve(connection, campaign).run()
    with zermelo.open(database) as opened:
        queries = opened.campaign(SPEC)
        position = GAME.play(GAME.initial(), GAME.moves(GAME.initial())[0])
        reports = [queries.position(GAME.format(image))
                   for image in GAME.symmetries(position)]
        assert len({report.node for report in reports}) == 1
        for report, image in zip(reports, GAME.symmetries(position), strict=True):
            legal = [GAME.move_name(move) for move in GAME.moves(image)]
            assert [move.move for move in report.moves] == legal


def test_positions_outside(connection: Connection, database: str) -> None:
    create_campaign(connection, SPEC, replication="none")
    with zermelo.open(database) as opened:
        queries = opened.campaign(SPEC)
        elsewhere = queries.position("XXXX OOOO ---- ---- X")
        assert (elsewhere.node, elsewhere.worth.proof_state) == (None, ProofState.UNKNOWN)
        over = queries.position("XXXX XXXX XXXX XXX- X")
        assert over.worth.value == 15  # the rules tell, in the tree or not
        with pytest.raises(GameError, match="squares"):
            queries.position("XX X")
        with pytest.raises(GameError, match="illegal move"):
            queries.position(moves=["a1"])
        with pytest.raises(CampaignError, match="there are: reversi:4x4"):
            opened.campaign("reversi:9x9")


# -- claims ---------------------------------------------------------------------------------


def test_claims_one_by_one(connection: Connection, database: str, tmp_path: Path) -> None:
    rng = random.Random(3)
    lines, expected = ["# game: reversi:4x4", "position,lower,upper"], []
    chosen = {GAME.format(position): position for position in some_positions(60)[3:40:3]}
    for text, position in chosen.items():
        value = minimax(GAME, position)
        claimed = max(-14, min(14, value + rng.choice([-4, 0, 0, 4])))
        lower, upper = claimed - rng.randrange(3), claimed + rng.randrange(2)
        lines.append(rng.choice([f"{text},{lower},{upper}", f"{text}; {lower}; {upper};"]))
        expected.append("confirmed" if lower <= value <= upper else "refuted")
    (tmp_path / "list.csv").write_text("\n".join(lines))
    game, claims = read_claims(tmp_path / "list.csv")
    campaigns = import_claims(connection, game, "list", claims, replication="none")
    assert import_claims(connection, game, "list", claims, replication="none") == campaigns
    with zermelo.open(database) as opened:
        states = {report.state for report in opened.claims("list")
                    if not GAME.is_final(GAME.parse(report.position))}
        assert states == {"open"}
        for campaign in campaigns:
            Solve(connection, campaign).run()
        assert [report.state for report in opened.claims("list")] == expected


@pytest.mark.parametrize(("text", "complaint"), [
    ("", "does not name its game"),
    ("# game: reversi:4x4\n", "no claims"),
    ("# game: reversi:4x4\nXO", "line 2: 1 fields"),
    ("# game: reversi:4x4\n-----OX--XO----- X,3,2", "the lower one first"),
    ("# game: reversi:4x4\n-----OX--XO----- X,-99,2", "must lie within"),
    ("# game: reversi:4x4\n-----OX--XO----- X,,", "says nothing"),
    ("# game: reversi:4x4\n-----OX--XO----- X,a,2", "'a' is no bound"),
    ("# game: reversi:4x4\n-----OX--XO----- X,1,2\n-----OX--XO----- X,1,2",
     "line 3: .*earlier line"),
    ("# game: reversi:6x6\n-----OX--XO----- X,1,2", "16 squares"),
    ("# game: nothing\n", "unknown game .nothing."),
])  # fmt: skip
def test_bad_lists(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "list").write_text(text)
    with pytest.raises((ClaimError, GameError), match=complaint):
        read_claims(tmp_path / "list")


# -- the document ---------------------------------------------------------------------------


def test_the_example_of_the_document(
    connection: Connection, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Runs the example as it is written, and compares what it prints."""
    text = DOCUMENT.read_text("utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (printed,) = re.findall(r"prints\n\n```\n(.*?)```", text, re.DOTALL)
    campaign = create_campaign(connection, SPEC, node_budget=100, replication="none")
    Solve(connection, campaign).run()
    exec(example.replace('"postgresql://..."', repr(database)), {})  # noqa: S102
    assert capsys.readouterr().out == printed
