"""Training from the command line, on a board small enough for a test."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.support.effort import long
from zermelo.cli import zermelo
from zermelo.engine.reversi import ReversiEngine
from zermelo.engine.weights import read_provenance
from zermelo.games.reversi import Reversi


def _train(tmp_path: Path, spec: str = "reversi:4x5") -> Path:
    output = tmp_path / "small.weights"
    arguments = ["engine", "train", spec, "-o", str(output), "--positions", "600"]
    result = CliRunner().invoke(zermelo, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return output


@pytest.mark.slow
def test_trained_weights_guess_better_than_none(tmp_path: Path) -> None:
    output = _train(tmp_path)
    game = Reversi(4, 5)
    engine = ReversiEngine(game, weights=output)
    assert engine.solve(game.initial()).bounds.lo == 16
    assert engine.guess(game.initial()) > 0
    assert read_provenance(output)["game"] == "reversi:4x5"


@long
def test_training_is_reproducible(tmp_path: Path) -> None:
    first = _train(tmp_path).read_bytes()
    assert _train(tmp_path).read_bytes() == first
