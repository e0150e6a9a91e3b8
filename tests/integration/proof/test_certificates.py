"""Certificates of solved campaigns are accepted, and say what minimax says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.campaigns import certify
from tests.support.effort import REPEATED, first_of, long
from tests.support.harness import Solve
from tests.support.minimax import KNOWN_VALUES, minimax
from zermelo.checker import (
    CertificateError,
    RefusedError,
    read_certificate,
    verify,
    write_certificate,
)
from zermelo.checker.refusals import Fault
from zermelo.games import open_game
from zermelo.proof.export import export_proof
from zermelo.proof.strategy import ProofError
from zermelo.server.campaigns import create_campaign, find_campaign
from zermelo.server.database import Connection

#: Every reversi board of up to 20 squares, with every start and every way to score.
SMALL_BOARDS = [
    open_game(f"reversi:{sides},start={start},scoring={scoring}").short_spec
    for sides in ("4x4", "4x5", "5x4")
    for start in ("diagonal", "parallel")
    for scoring in ("raw", "wof")
]
#: With the value where plain minimax can tell it.
GO_BOARDS = {
    "go:1x1": 0, "go:1x2": 0, "go:1x3": 3, "go:2x2": 1, "go:1x4,ko=basic": None,
    "go:2x2,ko=ssk": None, "go:2x2,ko=basic,cycle=passes": None, "go:2x2,komi=1": 0,
    "go:1x5": None, "go:2x3": 0, "go:3x3": 9, "go:3x3,ko=basic": 9, "go:2x4": 8, "go:2x5": 10,
}  # fmt: skip


@pytest.mark.parametrize("spec", first_of(SMALL_BOARDS, 5))  # all of 4x4, and one of 4x5
def test_small_reversi_boards(connection: Connection, tmp_path: Path, spec: str) -> None:
    limit = 200 if "4x4" in spec else 1000
    certificate = certify(connection, spec, tmp_path / "proof", node_budget=limit)
    report = verify(tmp_path / "proof")
    assert report.complete
    assert report.leaves == report.leaves_checked > 2
    assert certificate.header.bounds.exact
    if spec in KNOWN_VALUES:
        assert certificate.header.lo == KNOWN_VALUES[spec]


#: Takes a quarter of a minute; the other boards show all that it shows.
LARGE_GO_BOARD = "go:2x5"


@pytest.mark.parametrize("spec", [
    pytest.param(spec, marks=REPEATED if spec == LARGE_GO_BOARD else ()) for spec in GO_BOARDS
])
def test_small_go_boards(connection: Connection, tmp_path: Path, spec: str) -> None:
    certificate = certify(
        connection, spec, tmp_path / "proof", node_budget=5000, to_depth=3
    )
    assert verify(tmp_path / "proof").complete
    assert certificate.header.bounds.exact
    assert GO_BOARDS[spec] in (None, certificate.header.lo)


@long
@pytest.mark.parametrize("spec", ["go:3x4", "go:3x4,ko=basic"])
def test_go_boards_of_twelve_points(connection: Connection, tmp_path: Path, spec: str) -> None:
    """Some of the leaves under superko are won by it alone."""
    certify(connection, spec, tmp_path / "proof", node_budget=200_000)
    report = verify(tmp_path / "proof", threads=2)
    assert report.complete
    assert report.leaves > 1
    assert (report.header.lo, report.header.hi) == (4, 4)


@pytest.mark.parametrize("spec", ["go:2x3", "go:2x3,ko=basic"])
def test_a_planted_wrong_leaf_of_go(connection: Connection, tmp_path: Path, spec: str) -> None:
    """The root is a leaf, and says a point too much."""
    certificate = certify(connection, spec, tmp_path / "proof", node_budget=10**6)
    assert all(entry.leaf for entry in certificate.entries())
    entries = [entry._replace(bound=entry.bound + 1) if entry.at_least else entry
               for entry in certificate.entries()]
    write_certificate(tmp_path / "proof", certificate.header, entries)
    with pytest.raises(RefusedError) as refused:
        verify(tmp_path / "proof", threads=2)
    assert refused.value.refusal.fault is Fault.WRONG_LEAF
    assert "at least +1" in refused.value.refusal.reason


def test_goal_outcome(connection: Connection, tmp_path: Path) -> None:
    """The losing side's score is not proved exactly, and the certificate does not say so."""
    certificate = certify(connection, "reversi:4x4", tmp_path / "proof", goal="outcome")
    assert certificate.header.hi < 0
    assert verify(tmp_path / "proof").complete
    assert not any(entry.at_least and entry.bound > 0 for entry in certificate.entries()
                   if entry.key == certificate.key(0) and not certificate.at_least(0))


@pytest.mark.parametrize(
    "spec", first_of(["reversi:4x4", "go:2x2", "reversi:4x5,start=parallel"], 2)
)
def test_a_full_certificate_has_no_leaves(
    connection: Connection, tmp_path: Path, spec: str
) -> None:
    certificate = certify(connection, spec, tmp_path / "proof", full=True)
    assert len(certificate.leaf_nodes) == 0
    assert verify(tmp_path / "proof").nodes == 0


@pytest.mark.long
def test_deeper_certificates_have_cheaper_leaves(connection: Connection, tmp_path: Path) -> None:
    certify(connection, "reversi:5x4", tmp_path / "0")
    campaign = find_campaign(connection, "reversi:5x4")
    nodes = [verify(tmp_path / "0").nodes]
    for depth in (8, 12):
        export_proof(connection, campaign, tmp_path / str(depth), to_depth=depth)
        report = verify(tmp_path / str(depth))
        assert report.complete
        nodes.append(report.nodes)
    assert nodes[0] >= nodes[1] > nodes[2]


def test_every_leaf_has_its_provenance(connection: Connection, tmp_path: Path) -> None:
    certificate = certify(connection, "reversi:4x4", tmp_path / "proof")
    assert all(results >= hosts >= 1 for results, hosts in zip(
        certificate.leaf_results, certificate.leaf_hosts, strict=True))
    assert all(nodes >= 1 for nodes in certificate.leaf_nodes)


def test_a_position_to_start_from(connection: Connection, tmp_path: Path) -> None:
    game = open_game("reversi:4x4")
    position = game.play(game.initial(), game.moves(game.initial())[0])
    certificate = certify(
        connection, "reversi:4x4", tmp_path / "proof", name="after a move",
        position=game.format(position),
    )
    assert certificate.header.lo == minimax(game, position) == -KNOWN_VALUES["reversi:4x4"]
    assert verify(tmp_path / "proof").complete


def test_an_unfinished_campaign_exports_what_is_proved(
    connection: Connection, tmp_path: Path
) -> None:
    campaign = create_campaign(connection, "reversi:4x5", node_budget=50, replication="none")
    with pytest.raises(ProofError, match="nothing is proved"):
        export_proof(connection, campaign, tmp_path / "proof")
    assert not list(tmp_path.iterdir())
    solve = Solve(connection, campaign)
    while solve.plan.bounds == campaign.game.score_range:
        solve.step()
    exported = export_proof(connection, campaign, tmp_path / "proof")
    assert "somewhere from" in exported.unproved
    assert verify(tmp_path / "proof").complete
    header = read_certificate(tmp_path / "proof").header
    assert header.lo <= KNOWN_VALUES["reversi:4x5"] <= header.hi
    assert header.lo < header.hi


def test_only_ordinary_files_are_replaced(connection: Connection, tmp_path: Path) -> None:
    """A device or a pipe of that name must stay what it is."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(CertificateError, match="no ordinary file"):
        certify(connection, "reversi:4x4", pipe)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_the_command_that_verifies_loads_no_engine() -> None:
    script = (
        "import sys, zermelo.cli.proof, zermelo.checker.verify\n"
        "print([name for name in sys.modules\n"
        "       if name.startswith(('zermelo.engine', 'zermelo.cext'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_checker_loads_nothing_of_the_solver() -> None:
    """It shares no code with engines, services or database."""
    script = (
        "import sys, zermelo.checker\n"
        "print([name for name in sys.modules if name.startswith('zermelo.')\n"
        "       and name.split('.')[1] not in ('checker', 'games')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
