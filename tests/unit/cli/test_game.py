"""`zermelo game`, and games from files on other commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from zermelo import ZermeloError
from zermelo.cli import zermelo
from zermelo.cli.game_files import CAMPAIGN, open_local_game
from zermelo.engine import EVERY_ALGORITHM
from zermelo.games import game_names, open_game


def run(*arguments: str) -> Result:
    return CliRunner().invoke(zermelo, arguments, catch_exceptions=True)


def answer(*arguments: str) -> dict[str, object]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output or result.exception
    found: dict[str, object] = json.loads(result.stdout)
    return found


@pytest.fixture
def template(tmp_path: Path) -> Path:
    path = tmp_path / "mygame.toml"
    assert run("game", "new", str(path)).exit_code == 0
    return path


def test_all_games_are_listed() -> None:
    listed = answer("game", "list")["games"]
    assert isinstance(listed, list)
    assert [game["name"] for game in listed] == game_names()
    assert all(game["title"] and game["spec"].startswith(game["name"]) for game in listed)
    printed = run("game", "list").stdout
    assert "connect-four:ROWSxCOLS" in printed


def test_the_template_is_right(template: Path) -> None:
    found = answer("game", "check", str(template))
    assert found["symmetries"] == 16
    assert found["moves"] == 9
    assert found["perft"] == [9, 72, 504, 3024, 15120]
    assert found["unused_rules"] == []
    printed = run("game", "check", f"{template}:2x2,k=2").stdout
    assert "every move lowers: the number of empty cells" in printed
    assert "X to move" in printed


def test_the_schema_is_printed() -> None:
    printed = json.loads(run("game", "schema").stdout)
    assert printed["properties"]["zermelo"] == {"const": 1}


def test_a_file_is_not_replaced_by_chance(template: Path) -> None:
    result = run("game", "new", str(template))
    assert isinstance(result.exception, ZermeloError)
    assert "--force" in str(result.exception)
    assert run("game", "new", str(template), "--force").exit_code == 0


def test_a_mistake_is_told_with_its_line(template: Path) -> None:
    template.write_text(template.read_text().replace("lines(enemy)", "lnes(enemy)"))
    result = run("game", "check", str(template))
    assert isinstance(result.exception, ZermeloError)
    assert result.exception.exit_code == 2
    line = template.read_text().splitlines().index('if = "lnes(enemy) > 0"') + 1
    assert str(result.exception).startswith(f"{template}:{line}: end.number 1.if: ")
    assert "did you mean 'lines'?" in str(result.exception)


def test_a_misspelt_kind_of_move(template: Path) -> None:
    template.write_text(template.read_text().replace('place = "stone"', 'plase = "stone"'))
    result = run("game", "check", str(template))
    assert "unknown key 'plase'; did you mean 'place'?" in str(result.exception)


def test_a_rule_that_never_applies_is_warned_of(template: Path) -> None:
    template.write_text(
        template.read_text() + '\n[[move]]\nname = "never"\nplace = "stone"\nif = "1 == 2"\n'
    )
    result = run("game", "check", str(template))
    assert "the rule 'never' can never be used" in result.stderr


@pytest.mark.parametrize("spec", ["no-such-file.toml", ".", "go:4x4"])
def test_what_is_no_definition_cannot_be_checked(spec: str) -> None:
    assert isinstance(run("game", "check", spec).exception, ZermeloError)


def test_no_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(b"\xff\xfe\x00")
    assert "no text in UTF-8" in str(run("game", "check", str(path)).exception)


@pytest.mark.parametrize("name", game_names())
def test_every_game_is_shown(name: str) -> None:
    result = run("game", "show", name)
    assert result.exit_code == 0, result.exception
    assert name in result.stdout


def test_the_definition_alone(template: Path) -> None:
    assert run("game", "show", str(template), "--text").stdout == template.read_text()


def test_a_file_is_solved(template: Path) -> None:
    found = answer("engine", "solve", f"{template}:2x3,k=2")
    assert found["value"] == 1
    assert str(found["game"]).startswith("my-game@")


def test_a_file_is_searched_in_every_way(template: Path) -> None:
    told = run("engine", "compare", f"{template}:2x3,k=2", "--json")
    found = json.loads(told.stdout)
    assert {row["algorithm"] for row in found["results"]} == set(EVERY_ALGORITHM)


def test_a_file_names_the_campaign_that_solves_it(template: Path) -> None:
    named = CAMPAIGN.convert(f"{template}:3x4", None, None)
    assert open_game(named).short_spec == named == open_local_game(f"{template}:3x4").short_spec
    assert CAMPAIGN.convert("reversi:4x4", None, None) == "reversi:4x4"


def test_a_file_is_counted(template: Path) -> None:
    assert answer("engine", "perft", str(template), "3")["counts"] == [1, 9, 72, 504]


@pytest.mark.parametrize(("spec", "value"), [
    ("connect-four:4x4", 0), ("nim:3-4-5", 1), ("kalah:2x2", -2), ("frogs:2x2", 1),
])
def test_the_library_is_solved(spec: str, value: int) -> None:
    assert answer("engine", "solve", spec)["value"] == value


@pytest.mark.parametrize("command", [("solve",), ("campaign", "create"), ("tree", "study")])
def test_what_is_wrong_with_a_file_is_told_before_anything_begins(
    template: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    template.write_text(template.read_text().replace("[board]", "[bored]"))
    for file, message in ((template, "bored"), (tmp_path / "none.toml", "No such file")):
        result = run(*command, str(file))
        assert isinstance(result.exception, ZermeloError)
        assert message in str(result.exception)


def test_a_person_plays_a_file(template: Path) -> None:
    typed = "\n".join(["a1", "zz", *(f"{col}{row}" for col in "abc" for row in "123")] * 4)
    result = CliRunner().invoke(
        zermelo, ["play", str(template), "--opponent", "random", "--json"], input=typed
    )
    assert result.exit_code == 0, result.exception
    told = json.loads(result.stdout)
    assert told["number"] is None
    assert told["moves"][0] == "a1"
    assert "illegal move 'zz'" in result.stderr


def test_forced_passes_are_made_for_the_person() -> None:
    """The program is told to move second; who completes the box moves again."""
    typed = "\n".join(["b1", "a2", "c2", "b3"] * 3)
    result = CliRunner().invoke(
        zermelo,
        ["play", "dots-and-boxes:1x1", "--opponent", "random", "--name", "Anna", "--no-store"],
        input=typed,
    )
    assert result.exit_code == 0, result.exception
    assert "Anna cannot move and passes" in result.stderr
    assert "random wins; it is not stored" in result.stdout


def test_programs_play_a_definition() -> None:
    told = answer("match", "engine:1000", "random", "--game", "mnk:3x3", "--games", "4",
                  "--random-plies", "0")
    players = told["players"]
    assert isinstance(players, list)
    assert players[0]["losses"] == 0
