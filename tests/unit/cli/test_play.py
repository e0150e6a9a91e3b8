"""`zermelo play` at the terminal, without a database."""

from __future__ import annotations

import json
import shlex

import pytest
from click.testing import CliRunner, Result

from zermelo.cli import zermelo
from zermelo.cli.plain_errors import CommandError
from zermelo.cli.suite import find_position, load_suite
from zermelo.games import open_game
from zermelo.games.picture_text import draw_picture

GAME = ("play", "reversi:4x4", "--no-store", "--name", "Anna")


def run(*words: str, typed: str = "") -> Result:
    return CliRunner().invoke(zermelo, words, input=typed)


def test_the_board_is_told_after_every_move() -> None:
    done = run(*GAME, "--opponent", "minimax:2,matrix", typed="b1\nquit\n")
    assert done.exit_code == 0
    told = done.stderr
    assert "Anna (X): " in told
    assert "minimax:2,matrix is thinking ... a1" in told
    assert "1(O)X - -" in told  # the last move stands in brackets
    assert "X Anna 3   O minimax:2,matrix 3" in told
    assert "it is not stored" in told


def test_a_suspended_game_goes_on() -> None:
    done = run(*GAME, "--opponent", "random", "--side", "second", "--hide-moves", typed="suspend\n")
    line = next(each for each in done.stderr.splitlines() if each.startswith("go on with: "))
    command = shlex.split(line.removeprefix("go on with: "))
    assert command[:3] == ["zermelo", "play", "reversi:4x4"]
    made = command[command.index("--moves") + 1]
    again = run(*command[1:], typed="suspend\n")
    assert f"--moves {made}" in again.stderr
    assert "--hide-moves" in again.stderr
    assert "moves:" not in again.stderr


def test_a_hint_is_a_legal_move_and_none_is_made() -> None:
    done = run(*GAME, "--opponent", "random", typed="hint\nquit\n")
    assert "is thinking ... b1" in done.stderr  # the first of four that are worth the same
    assert done.stderr.count("Anna 2 ") == 1


def test_undo_takes_replies_along_and_nothing_is_lost_at_the_start() -> None:
    done = run(*GAME, "--opponent", "greedy", "--side", "second", typed="undo\nsuspend\n")
    assert "nothing to take back" in done.stderr
    assert len(done.stderr.rpartition("--moves ")[2].strip().split(",")) == 1


def test_two_people_and_a_pass() -> None:
    moves = ["b1", "a1", "a2", "c1", "d4", "a3", "d1", "b4", "a4", "c4"]
    done = run(*GAME, "--side", "both", "--opponent", "Ben", "--json", typed="\n".join(moves))
    told = json.loads(done.stdout)
    assert (told["first"], told["second"], told["person"]) == ("Anna", "Ben", "Anna")
    assert told["moves"] == moves
    assert "Neither side can move." in done.stderr
    done = run(*GAME, "--side", "both", "--moves", "b1,c1,d3,a1", typed="quit\n")
    assert "Anna cannot move and passes" in done.stderr


def test_two_machines_are_watched() -> None:
    done = run(*GAME, "--side", "neither", "--opponent", "greedy", "--against", "minimax:3",
               "--json")  # fmt: skip
    told = json.loads(done.stdout)
    assert (told["first"], told["second"]) == ("minimax:3", "greedy")
    assert (told["person"], told["opponent"], told["device"]) == ("", "greedy", "terminal")


def test_words_are_not_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    done = run("play", "reversi:8x8", "--no-store", "--opponent", "random",
               "--position", "console-1-x", typed="help\nquit\n")  # fmt: skip
    words = {word for line in done.stderr.splitlines() for word in line.split()}
    assert {"suspend", "later);", "undo;", "c1", "f8"} <= words
    assert all(len(line) < 30 for line in done.stderr.splitlines() if " " in line)


def test_positions_by_name() -> None:
    game = open_game("reversi:8x8")
    founding = load_suite("founding")
    names = [listed.name for listed in founding.positions]
    assert names[:4] == ["console-1-x", "console-1-o", "console-2-x", "console-2-o"]
    assert len(set(names)) == len(names)
    for listed in founding.positions:
        assert find_position(game, listed.name) == listed.position
        assert game.moves(listed.position)
    at = game.initial()
    for name in ("e6", "d6", "c5"):
        at = game.play(at, game.find_move(at, name))
    assert find_position(game, "phone-c5") == at
    assert find_position(game, "ffo40-44/2") == load_suite("ffo40-44").positions[1].position
    assert find_position(game, game.format(at)) == at
    with pytest.raises(CommandError, match="console-2-o"):
        find_position(game, "console-9")
    with pytest.raises(CommandError, match="no position of nim"):
        find_position(open_game("nim:1"), "console-1-x")


def test_brackets_between_neighbours() -> None:
    picture = open_game("reversi:4x4").picture(open_game("reversi:4x4").initial())
    assert "2 -(O)X)-" in draw_picture(picture, (5, 6))
    assert "4 - - -(-)" in draw_picture(picture, (15,))
