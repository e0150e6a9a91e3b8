"""Sizes of trees, and the founding numbers beside ours."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.support.effort import long
from zermelo.cli import zermelo
from zermelo.games import open_game
from zermelo.research import founding
from zermelo.research.study import Study, study, sum_of_products

DOCUMENT = Path(__file__).parents[3] / "docs" / "founding-numbers.md"


@pytest.fixture(scope="module")
def made() -> Study:
    return study(open_game("reversi:4x4"), exact=2, games=300, seed=1)


def test_a_pass_is_no_move(made: Study) -> None:
    lower = 0
    for ply in made.plies:
        assert ply.branching is not None
        assert ply.branching_without_pass is not None
        assert ply.branching - 1 <= ply.branching_without_pass <= ply.branching
        lower += ply.branching_without_pass < ply.branching
    assert made.plies[0].branching_without_pass == made.plies[0].branching == 4
    assert 0 < lower < len(made.plies)
    assert min(ply.branching_without_pass or 0 for ply in made.plies) < 1


def test_the_sum_of_products(made: Study) -> None:
    assert sum_of_products([]) == 1
    assert sum_of_products([4, 3, 0.5]) == 1 + 4 + 12 + 6
    means = [ply.branching_without_pass or 0.0 for ply in made.plies]
    assert made.tree_size_of_means == sum_of_products(means)
    # The same tree, estimated in two ways.
    assert 0.2 < made.tree_size_of_means / made.tree_size < 5


def test_both_estimates_are_printed() -> None:
    words = ["tree", "study", "reversi:4x4", "--exact", "3", "--games", "50"]
    shown = " ".join(CliRunner().invoke(zermelo, words).stdout.split())
    assert "by Knuth's method" in shown
    assert "by the sum of the products of mean branching" in shown
    assert "a pass = no move" in shown
    told = json.loads(CliRunner().invoke(zermelo, [*words, "--json"]).stdout)
    assert told["tree_size_of_means"] > 1
    none = json.loads(CliRunner().invoke(zermelo, [*words, "--games", "0", "--json"]).stdout)
    assert none["tree_size_of_means"] is None


def test_a_plot_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    picture = tmp_path / "study.svg"
    words = ["tree", "study", "reversi:4x4", "--games", "50", "--plot", str(picture), "--json"]
    done = CliRunner().invoke(zermelo, words)
    assert done.exit_code == 0
    assert json.loads(done.stdout)["games"] == 50
    assert "pip install 'zermelo[plot]'" in done.stderr.splitlines()[0]
    assert "distinct positions" in done.stderr
    assert "█" in done.stderr
    assert not picture.exists()


def test_perft_has_the_ratios_of_the_founding_document() -> None:
    shown = CliRunner().invoke(zermelo, ["engine", "perft", "reversi:8x8", "6"]).stdout
    ratios = [line.split()[2] for line in shown.splitlines()[4:10]]
    assert ratios == ["4.00", "3.00", "4.67", "4.36", "5.72", "5.87"]


def test_lines_of_play_agree() -> None:
    lines = founding.count_lines(open_game(founding.SPEC), 7, lambda what, done: None)
    assert [line.here for line in lines] == list(founding.LINES[:7])


@long
def test_lines_of_play_agree_but_for_the_forced_passes() -> None:
    lines = founding.count_lines(open_game(founding.SPEC), 9, lambda what, done: None)
    assert [line.here for line in lines[:8]] == list(founding.LINES[:8])
    assert lines[8].here == 3_005_288
    assert lines[8].here - lines[8].there == lines[8].forced_passes == 24


def test_games_that_end_early_are_lines() -> None:
    lines = founding.count_lines(open_game("reversi:4x4"), 9, lambda what, done: None)
    counted = json.loads(CliRunner().invoke(
        zermelo, ["engine", "perft", "reversi:4x4", "9", "--json"]).stdout)["counts"]
    assert [line.here for line in lines] == counted[1:]


@pytest.mark.slow
def test_positional_play() -> None:
    game = open_game(founding.SPEC)
    evaluate = founding.positional_evaluation(game)
    assert evaluate(game.initial()) == 0
    # Two corners and two squares of the centre each; then one beside a corner.
    assert evaluate(game.parse("X" + "-" * 26 + "XO" + "-" * 34 + "O X")) == 0
    assert evaluate(game.parse("X" + "-" * 26 + "XOO" + "-" * 33 + "- X")) == 100 - 1 + 1 + 1
    assert evaluate(game.parse("-X" + "-" * 25 + "XO" + "-" * 34 + "O X")) == -20 - 100
    assert evaluate(game.parse("-X" + "-" * 25 + "XO" + "-" * 34 + "O O")) == 20 + 100
    assert founding.positional_share(game, 20, 1, lambda what, done: None) > 0.6


def test_the_document_by_the_command(tmp_path: Path) -> None:
    file = tmp_path / "numbers.md"
    words = ["tree", "founding", "--depth", "4", "--games", "20", "--matches", "2",
             "--output", str(file), "--json"]
    done = CliRunner().invoke(zermelo, words)
    assert done.exit_code == 0, done.exception
    told = json.loads(done.stdout)
    assert [line["here"] for line in told["lines"]] == [4, 12, 56, 244]
    text = file.read_text("utf-8")
    assert "| 4 | 244 | 244 | 4.36 | 4.36 | 0 |" in text
    assert f"{told['games']['tree_size_of_means']:.2e}" in text
    assert "not measured" in text
    # The committed page was written by this command: the same headings, the same facts.
    committed = DOCUMENT.read_text("utf-8")
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert [line for line in committed.splitlines() if line.startswith("#")] == headings
    for line in text.splitlines():
        if line.startswith(("| 1 ", "| 2 ", "| 3 ", "| 4 ", "| position alone")):
            assert line in committed
    assert "| 9 | 3,005,264 | 3,005,288 | 7.70 | 7.70 | 24 |" in committed
