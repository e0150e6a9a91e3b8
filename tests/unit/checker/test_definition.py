"""The checker's own rules for definitions against the reference and the kernel."""

from __future__ import annotations

import time

import pytest

from tests.support.catalogue import perfts, specs
from tests.support.definitions import TIC_TAC_TOE, WALK, play_text
from tests.support.effort import first_of
from tests.support.hostile_definitions import HOSTILE
from tests.support.random_definitions import random_game
from tests.support.three_rules import checked, compare_games, perft, positions_by_ply
from zermelo.checker.definition.game import CheckedDefinition
from zermelo.checker.definition.limits import TextError
from zermelo.games import GameError, open_game
from zermelo.games.definition.game import DefinedGame
from zermelo.games.definition.library import library_definition, library_names
from zermelo.games.definition.sources import digest_of

MOST_SECONDS = 3.0
#: Random definitions of the short and of the long run.
SOME, MANY = 40, 4000


def defined(spec: str) -> DefinedGame:
    game = open_game(spec)
    assert isinstance(game, DefinedGame)
    return game


def read(text: str, params: str = "", symmetries: tuple[str, ...] = ("same",)) -> CheckedDefinition:
    name = next(line for line in text.splitlines() if line.startswith("game = ")).split('"')[1]
    return CheckedDefinition(text, f"{name}@{digest_of(text)}:{params}", symmetries)


def library_specs() -> list[str]:
    reversi = f"reversi@{library_definition('reversi').digest}:4x4"
    return [*(spec for name in library_names() for spec in specs(name)), reversi]


@pytest.mark.slow
@pytest.mark.examples
@pytest.mark.parametrize("spec", library_specs())
def test_reference_kernel_and_checker_agree(spec: str) -> None:
    assert compare_games(defined(spec), games=2, plies=30) > 5
    game = defined(spec)
    checker = checked(game)
    assert checker.max_score == game.max_score
    # It proves no symmetry that the reference does not know, either.
    names, ends = game.symmetry_names(), ("", "+exchange")
    every = {f"{name.removesuffix(ends[1])}{end}" for name in names for end in ends}
    assert {name for name in every if checker.proves_symmetry(name)} == {*names}


@pytest.mark.slow
@pytest.mark.parametrize("name", library_names())
def test_lines_of_play_are_as_many(name: str) -> None:
    for each in perfts(name):
        plies = 2 if max(each.counts[:2]) < 500 else 1
        assert perft(checked(defined(each.spec)), plies) == each.counts[plies - 1]


@pytest.mark.parametrize(("spec", "counts"), [
    ("mnk:3x3", [1, 3, 12, 38, 108, 174, 204]),  # published, up to symmetry
    ("connect-four:4x4", None), ("dots-and-boxes:1x2", None), ("kalah:2x2", None),
    ("alquerque:3x3", None), ("alquerque:3x3,huffing=yes", None),
])
def test_positions_by_ply(spec: str, counts: list[int] | None) -> None:
    game, plies = defined(spec), len(counts) - 1 if counts else 5
    found = positions_by_ply(checked(game), plies)
    # Positions that exchange the sides are counted once; the published counts have none.
    assert found == (counts or positions_by_ply(game, plies))


def _compare_random(seeds: range) -> None:
    """All readings agree. The checker may refuse: its proof that a game ends finds less."""
    compared = refused = 0
    for seed in seeds:
        try:
            compared += compare_games(random_game(seed), games=2, plies=12)
        except TextError as error:
            if str(error) != "that every game ends cannot be proved":
                raise
            refused += 1
    assert compared > 2 * len(seeds)
    assert 100 * refused <= len(seeds)


@pytest.mark.slow
@pytest.mark.examples
def test_random_definitions() -> None:
    _compare_random(range(SOME))


@pytest.mark.long
@pytest.mark.parametrize("first", first_of(range(SOME, MANY, 440)))
def test_thousands_of_random_definitions(first: int) -> None:
    _compare_random(range(first, min(first + 440, MANY)))


# -- what it must not believe -----------------------------------------------------------------


def test_symmetries_are_proved() -> None:
    """A board that is symmetric with rules that are not."""
    lame = TIC_TAC_TOE.replace('place = "stone"', 'place = "stone"\nto = "empty - edge"') + (
        '[regions]\nedge = "row == 1"\n'
    )
    assert read(TIC_TAC_TOE).proves_symmetry("rotate")
    assert read(lame).proves_symmetry("mirror")
    assert not read(lame).proves_symmetry("rotate")
    assert len(read(lame, "", ("same", "mirror")).maps) == 2
    with pytest.raises(GameError, match="cannot be proved to be a symmetry"):
        read(lame, "", ("same", "rotate"))
    with pytest.raises(GameError, match="no group"):
        read(TIC_TAC_TOE, "", ("same", "quarter"))
    with pytest.raises(GameError, match="begins with"):
        read(TIC_TAC_TOE, "", ("rotate",))


@pytest.mark.parametrize("text", [
    WALK.replace('[limit]\nplies = 6\nsince = "capture"\n', ""),
    WALK.replace('since = "capture"', 'since = "walk"'),
    TIC_TAC_TOE + '[counters]\nphase = { max = 2 }\n[[move]]\nskip = "wait"\nthen = "phase = 3"\n',
])
def test_the_end_is_proved(text: str) -> None:
    with pytest.raises(GameError, match="cannot be proved"):
        read(text)


def test_text_and_spec_belong_together() -> None:
    game = play_text(TIC_TAC_TOE)
    with pytest.raises(GameError, match="has the digest"):
        CheckedDefinition(TIC_TAC_TOE + "\n", game.spec)
    with pytest.raises(GameError, match="defines tic-tac-toe"):
        CheckedDefinition(TIC_TAC_TOE, game.spec.replace("tic-tac-toe@", "chess@"))
    with pytest.raises(GameError, match="by its digest"):
        CheckedDefinition(TIC_TAC_TOE, "tic-tac-toe:")


@pytest.mark.parametrize(("old", "new", "message"), [
    ('stone = "each"', 'stone = "eech"', "none of"),
    ('place = "stone"', 'place = "stone"\nspeed = 3', "no such key"),
    ("lines(enemy)", "lines(enemy) < 1 < 2", "goes on"),
    ("lines(enemy)", "rows(enemy)", "no function"),
    ("lines(enemy)", "enemy", "no truth"),
    ('"3 x 3"', '"3 x 30"', "too large"),
    ("zermelo = 1", "zermelo = 2", "version 1"),
])
def test_errors_are_found(old: str, new: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        read(TIC_TAC_TOE.replace(old, new, 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_costs_little(name: str) -> None:
    text = HOSTILE[name]
    started = time.process_time()
    messages = [_refusal(text, game) for game in ("g", "tic-tac-toe")]
    assert time.process_time() - started < MOST_SECONDS
    assert not any("\n" in message or len(message) > 1000 for message in messages)
    assert any(messages)


def _refusal(text: str, game: str) -> str:
    try:
        CheckedDefinition(text, f"{game}@{digest_of(text)}:")
    except GameError as error:
        return str(error)
    return ""


def test_keys_that_are_no_positions() -> None:
    game = checked(defined("kalah:2x2"))
    with pytest.raises(GameError):
        game.decode(b"\xff" * 16)
    with pytest.raises(GameError, match="8 seeds"):
        game.decode(bytes(16))
    with pytest.raises(GameError, match="no history"):
        game.decode(game.encode(game.initial()), b"past")
    for text in ("", "x", "1,1,0/1,1,0 X", "2,2,0/2,2,0 Z", "2,2,0/2,2,0 X fun", "2,2,0/2,2,00 X"):
        with pytest.raises(GameError):
            game.parse(text)


@pytest.mark.parametrize("spec", ["mnk:3x3", "kalah:2x2", "nim:3-4", "morris:3"])
def test_pictures_show_the_position(spec: str) -> None:
    game = checked(defined(spec))
    position = game.play(game.initial(), game.moves(game.initial())[0])
    picture = game.picture(position)
    signs = "".join(point.piece.sign if point.piece else "-" for point in picture.points)
    assert signs == game.format(position).split()[0].replace("/", "") or not signs
    assert picture.captions[-1] in ("O to move", "O must pass")
    assert game.draw(position).endswith(picture.captions[-1])
