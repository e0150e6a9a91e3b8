"""Checkpoints: whole or not at all, and worth having."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zermelo.client.checkpoints import CheckpointFileError, Checkpoints
from zermelo.client.searcher import Dropped, Interruption, Searcher
from zermelo.engine import Engine, SearchReport, Status, compiled
from zermelo.games import open_game
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto.worker_pb2 import SavedSearch


def workunit(lease: int = 1, spec: str = "reversi:6x6", threshold: int = 1) -> pb.Workunit:
    game = open_game(spec)
    position = game.initial()
    for ply in range(6):
        moves = game.moves(position)
        position = game.play(position, moves[7 * ply % len(moves)])
    position = game.canonical(position)
    return pb.Workunit(
        lease_id=lease, game=game.spec, position=game.encode(position),
        history=game.history(position), threshold=threshold, node_budget=10**9,
    )  # fmt: skip


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    return Checkpoints(tmp_path, durable=True)


def test_round_trip(checkpoints: Checkpoints) -> None:
    search = SavedSearch(workunit=workunit(), nodes=123, milliseconds=45)
    assert checkpoints.load(workunit()) is None
    checkpoints.save(search, b"what the table knows")
    assert checkpoints.load(workunit(lease=2)) == (search, b"what the table knows")
    assert list(checkpoints.saved()) == [search]
    assert checkpoints.load(workunit(threshold=3)) is None
    checkpoints.remove(workunit())
    assert list(checkpoints.saved()) == []


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.sampled_from(["cut", "flip"]), st.integers(1, 255))
def test_a_damaged_checkpoint_is_discarded_with_a_note(
    tmp_path: Path, where: int, damage: str, value: int
) -> None:
    checkpoints = Checkpoints(tmp_path, durable=False)
    search = SavedSearch(workunit=workunit(), nodes=5)
    for reader in ("load", "saved"):
        checkpoints.save(search, bytes(300))
        path = checkpoints.path(workunit())
        data = bytearray(path.read_bytes())
        at = where % len(data)
        if damage == "cut":
            del data[at:]
        else:
            data[at] ^= value
        path.write_bytes(data)
        if reader == "load":
            with pytest.raises(CheckpointFileError, match=r"was discarded.*starts again"):
                checkpoints.load(workunit())
        else:
            (note,) = checkpoints.saved()
            assert isinstance(note, CheckpointFileError)
        assert not path.exists()


def test_a_half_written_checkpoint_leaves_the_last_one(
    checkpoints: Checkpoints, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints.save(SavedSearch(workunit=workunit(), nodes=1), b"first")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(OSError, match="full"):
        checkpoints.save(SavedSearch(workunit=workunit(), nodes=2), b"second")
    found = checkpoints.load(workunit())
    assert found is not None
    assert found.table == b"first"
    assert [path.suffix for path in tmp_path.iterdir()] == [".search"]


class InterruptedEngine:
    """An engine whose searches are interrupted after a number of nodes, whatever the clock says."""

    def __init__(
        self, engine: Engine, searcher: Searcher, after: int, interruption: Interruption
    ) -> None:
        self._engine, self._searcher = engine, searcher
        self._after, self._interruption = after, interruption
        self.interruptions = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def solve(self, *arguments: Any, node_budget: int, **options: Any) -> SearchReport:
        answer = self._engine.solve(
            *arguments, node_budget=min(node_budget, self._after), **options
        )
        if answer.status is not Status.EXHAUSTED:
            return answer
        self.interruptions += 1
        self._searcher.interrupt(self._interruption)
        return replace(answer, status=Status.ABORTED)


def interrupting(searcher: Searcher, after: int, interruption: Interruption) -> InterruptedEngine:
    """Interrupt every search of this searcher after `after` nodes."""
    spec = workunit().game
    engine = InterruptedEngine(searcher._engine(spec), searcher, after, interruption)
    searcher._engines[spec] = cast(Engine, engine)
    return engine


def interrupted(searcher: Searcher, question: pb.Workunit, after: int) -> Dropped:
    """Search until `after` nodes were visited, then save and stop."""
    interrupting(searcher, after, Interruption.SAVE)
    outcome = searcher.solve(question)
    assert isinstance(outcome, Dropped)
    return outcome


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.15, 0.5, 0.85])
def test_a_restart_repeats_at_most_a_tenth(checkpoints: Checkpoints, share: float) -> None:
    question = workunit(threshold=-4)
    alone = Searcher(hash_mb=16).solve(question)
    assert isinstance(alone, pb.Result)
    stopped = interrupted(
        Searcher(hash_mb=16, checkpoints=checkpoints), question, round(alone.nodes * share)
    )
    assert stopped.saved
    assert stopped.nodes < alone.nodes
    again = Searcher(hash_mb=16, checkpoints=checkpoints)
    result = again.solve(question, resume=True)
    assert isinstance(result, pb.Result)
    assert (result.answer, again.notes) == (alone.answer, [])
    # The result counts the whole search, from its beginning to its end.
    assert stopped.nodes < result.nodes <= 1.1 * alone.nodes


@pytest.mark.slow
def test_checkpoints_while_it_runs_cost_next_to_nothing(checkpoints: Checkpoints) -> None:
    question = workunit(threshold=-4)
    alone = Searcher(hash_mb=16).solve(question)
    assert isinstance(alone, pb.Result)
    searcher = Searcher(hash_mb=16, checkpoints=checkpoints)
    engine = interrupting(searcher, alone.nodes // 8, Interruption.CHECKPOINT)
    result = searcher.solve(question)
    assert isinstance(result, pb.Result)
    assert engine.interruptions >= 7
    (saved,) = checkpoints.saved()
    assert isinstance(saved, SavedSearch)
    assert alone.nodes // 2 < saved.nodes < result.nodes
    assert result.nodes <= (1 + 0.02 * engine.interruptions) * alone.nodes


@pytest.mark.slow
def test_the_same_question_under_a_new_lease_profits(checkpoints: Checkpoints) -> None:
    question = workunit(threshold=-4)
    searcher = Searcher(hash_mb=16, checkpoints=checkpoints)
    alone = Searcher(hash_mb=16).solve(question)
    assert isinstance(alone, pb.Result)
    stopped = interrupted(searcher, question, alone.nodes // 2)
    fresh = Searcher(hash_mb=16, checkpoints=checkpoints)
    result = fresh.solve(workunit(lease=2, threshold=-4))
    assert isinstance(result, pb.Result)
    # Only its own nodes count: those of the first lease were reported with it.
    assert result.nodes + stopped.nodes <= 1.1 * alone.nodes


@pytest.mark.slow
def test_a_large_table_keeps_what_was_expensive(
    checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = workunit(threshold=-4)
    alone = Searcher(hash_mb=16).solve(question)
    assert isinstance(alone, pb.Result)
    most = 20_000
    monkeypatch.setattr(compiled, "MOST_CHECKPOINT_BYTES", most)
    stopped = interrupted(
        Searcher(hash_mb=16, checkpoints=checkpoints), question, alone.nodes // 2
    )
    saved = checkpoints.load(question)
    assert saved is not None
    assert 1_000 < len(saved.table) < most + 1_000
    result = Searcher(hash_mb=16, checkpoints=checkpoints).solve(question, resume=True)
    assert isinstance(result, pb.Result)
    assert result.answer == alone.answer
    assert stopped.nodes < result.nodes <= 1.1 * alone.nodes
