"""What every registered game must keep to. A new game needs data files, no new test."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import catalogue, playthrough
from tests.support.effort import examples, some
from zermelo.games import KEY_BYTES, Game, GameError, game_names, open_game
from zermelo.games.picture import TouchKind

GAMES = 4  # random games for each spec
MOST_PLIES = 2000  # no game of the suite lasts longer
MOST_LINES = some(3000, 10_000)  # perft counts that are counted by the reference rules

every_spec = pytest.mark.parametrize("spec", catalogue.all_specs())


@cache
def played(spec: str) -> list[list[Any]]:
    """The positions of some random games, each game from start to end."""
    game, rng, found = open_game(spec), random.Random(spec), []
    for _ in range(GAMES):
        positions = [game.initial()]
        while moves := game.moves(positions[-1]):
            positions.append(game.play(positions[-1], rng.choice(moves)))
            assert len(positions) <= MOST_PLIES, "random play does not end"
        found.append(positions)
    return found


def sample(spec: str, count: int) -> list[Any]:
    """Some positions of the random games; the first and the final ones are among them."""
    everything = [position for game in played(spec) for position in game]
    edges = [everything[0], *(game[-1] for game in played(spec))]
    rng = random.Random(spec)
    return edges + rng.sample(everything, min(count, len(everything)))


def identity(game: Game[Any], position: Any) -> tuple[bytes, bytes]:
    return game.encode(position), game.history(position)


def perft(game: Game[Any], position: Any, depth: int) -> int:
    if depth == 0:
        return 1
    moves = game.moves(position)
    if not moves or depth == 1:
        return max(len(moves), 1)
    return sum(perft(game, game.play(position, move), depth - 1) for move in moves)


# -- the data that a game brings along -----------------------------------------------------


@pytest.mark.parametrize("name", game_names())
def test_a_game_has_specs_perft_and_playthrough(name: str) -> None:
    folder = catalogue.GAMES / name
    assert catalogue.specs(name), f"list the specs to test in {folder}/specs.txt"
    assert catalogue.perfts(name), f"write perft counts into {folder}/perft.txt"
    assert catalogue.playthroughs(name), f"record a game as {folder}/playthrough-....txt"
    named = [*catalogue.specs(name), *(perft.spec for perft in catalogue.perfts(name))]
    assert {open_game(spec).name for spec in named} == {name}


def test_all_data_belongs_to_registered_games() -> None:
    assert sorted(folder.name for folder in catalogue.GAMES.iterdir()) == game_names()


@pytest.mark.parametrize(
    "path", [path for name in game_names() for path in catalogue.playthroughs(name)],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_playthrough(path: Path) -> None:
    text = path.read_text()
    assert playthrough.record(*playthrough.read(text)) == text


@pytest.mark.examples
@pytest.mark.parametrize(
    "case", [case for name in game_names() for case in catalogue.perfts(name)],
    ids=lambda case: f"{case.spec}-{case.position[:12]}",
)
def test_perft(case: catalogue.Perft) -> None:
    game, root = case.root()
    for depth, count in enumerate(case.counts, 1):
        if count > MOST_LINES:
            break
        assert perft(game, root, depth) == count


# -- pictures ------------------------------------------------------------------------------


@every_spec
def test_a_picture_has_every_piece_and_every_move(spec: str) -> None:
    game = open_game(spec)
    for position in sample(spec, 6):
        picture = game.picture(position)
        names = [point.name for point in picture.points]
        assert len(set(names)) == len(names)
        assert len({(point.row, point.col) for point in picture.points}) == len(names)
        assert all(0 <= at < len(names) for line in picture.lines for at in line)
        assert game.draw(position).splitlines()[-1] == picture.captions[-1]
        touches = [game.touch(position, move) for move in game.moves(position)]
        assert all(0 <= at < len(names) for touch in touches for at in touch.points)
        # No two moves of a position are made by touching the same points.
        placed = [touch for touch in touches if touch.kind is not TouchKind.BUTTON]
        assert len(set(placed)) == len(placed)


# -- specs ---------------------------------------------------------------------------------


@every_spec
def test_spec_names_the_game(spec: str) -> None:
    game = open_game(spec)
    assert spec.startswith(f"{game.name}:")
    assert game.name in game_names()
    for written in (game.spec, game.short_spec):
        again = open_game(written)
        assert again == game
        assert hash(again) == hash(game)
        assert (again.spec, again.short_spec) == (game.spec, game.short_spec)
    assert len(game.short_spec) <= len(game.spec)
    assert game.score_range.lo == -game.score_range.hi == -game.max_score


def test_different_specs_are_different_games() -> None:
    games = [open_game(spec) for spec in catalogue.all_specs()]
    assert len(set(games)) == len({game.spec for game in games}) == len(games)


# -- rules ---------------------------------------------------------------------------------


@every_spec
def test_random_play(spec: str) -> None:
    game = open_game(spec)
    for positions in played(spec):
        for position in positions:
            moves = game.moves(position)
            assert all(isinstance(move, int) for move in moves)
            assert moves == sorted(set(moves))
            assert bool(moves) == (position is not positions[-1])
            assert game.is_final(position) == (not moves)
            assert game.moves(position) == moves
        score = game.score(positions[-1])
        assert isinstance(score, int)
        assert game.score_range.lo <= score <= game.score_range.hi


@every_spec
def test_illegal_moves_are_refused(spec: str) -> None:
    game = open_game(spec)
    everything = {move for line in played(spec) for p in line for move in game.moves(p)}
    for position in sample(spec, 12):
        for move in sorted((everything | {-1, 10**6}) - set(game.moves(position))):
            with pytest.raises(GameError):
                game.play(position, move)


@every_spec
def test_playing_leaves_the_position_alone(spec: str) -> None:
    game = open_game(spec)
    for position in sample(spec, 12):
        before = identity(game, position), game.format(position)
        for move in game.moves(position):
            after = game.play(position, move)
            assert identity(game, after) != before[0]
            assert identity(game, game.play(position, move)) == identity(game, after)
        assert (identity(game, position), game.format(position)) == before


@every_spec
def test_hints_stay_in_range(spec: str) -> None:
    game = open_game(spec)
    for position in sample(spec, 40):
        assert isinstance(game.evaluate(position), int)
        assert game.score_range.lo <= game.evaluate(position) <= game.score_range.hi
        assert isinstance(game.plies_left(position), int)
        assert game.plies_left(position) >= 0


# -- identity ------------------------------------------------------------------------------


@every_spec
def test_encode_and_decode(spec: str) -> None:
    game = open_game(spec)
    for position in sample(spec, 60):
        key, history = identity(game, position)
        assert isinstance(key, bytes)
        assert len(key) == KEY_BYTES
        assert isinstance(history, bytes)
        again = game.decode(key, history)
        assert again == position
        assert identity(game, again) == (key, history)
        assert game.moves(again) == game.moves(position)
        if not game.path_dependent:
            assert history == b""
            assert game.decode(key) == position


@every_spec
def test_different_positions_have_different_identities(spec: str) -> None:
    game = open_game(spec)
    positions = [position for line in played(spec) for position in line]
    known: dict[tuple[bytes, bytes], Any] = {}
    for position in positions:
        assert known.setdefault(identity(game, position), position) == position
    for name, position in known.items():
        twins = [other for other, its in known.items() if its == position]
        assert twins == [name]
    # Along a line of play nothing comes back without its history telling.
    for line in played(spec):
        assert len({identity(game, position) for position in line}) == len(line)


@every_spec
@examples(6, 60)
@given(data=st.data())
def test_any_key_decodes_or_is_refused(spec: str, data: st.DataObject) -> None:
    game = open_game(spec)
    known = game.encode(data.draw(st.sampled_from(sample(spec, 10))))
    bit = st.integers(0, 8 * KEY_BYTES - 1).map(lambda bit: 1 << bit)
    flipped = bit.map(lambda bit: (int.from_bytes(known) ^ bit).to_bytes(KEY_BYTES))
    key = data.draw(st.one_of(st.binary(max_size=24), flipped, st.just(known)))
    history = data.draw(st.one_of(st.just(b""), st.binary(max_size=40)))
    try:
        position = game.decode(key, history)
    except GameError:
        assert not (key == known and not history and not game.path_dependent)
        return
    assert identity(game, position) == (key, history)
    game.moves(position)


# -- symmetry ------------------------------------------------------------------------------


@pytest.mark.slow
@every_spec
def test_symmetric_positions_play_alike(spec: str) -> None:
    game = open_game(spec)

    def children(position: Any) -> list[tuple[bytes, bytes]]:
        played = [game.play(position, move) for move in game.moves(position)]
        return sorted(identity(game, game.canonical(child)) for child in played)

    for position in sample(spec, 8):
        images, after = game.symmetries(position), children(position)
        assert identity(game, images[0]) == identity(game, position)
        for image in images[1:]:
            assert len(game.moves(image)) == len(game.moves(position))
            assert game.evaluate(image) == game.evaluate(position)
            assert game.plies_left(image) == game.plies_left(position)
            assert children(image) == after
            if game.is_final(position):
                assert game.score(image) == game.score(position)


@every_spec
def test_symmetries_form_a_group(spec: str) -> None:
    game = open_game(spec)
    for position in sample(spec, 8):
        images = game.symmetries(position)
        assert len(images) == len(game.symmetries(game.initial()))
        names = {identity(game, image) for image in images}
        assert len(images) % len(names) == 0
        for image in images:
            assert {identity(game, again) for again in game.symmetries(image)} == names


@every_spec
def test_canonical_form(spec: str) -> None:
    game = open_game(spec)
    for position in sample(spec, 30):
        images = game.symmetries(position)
        canonical = game.canonical(position)
        chosen = identity(game, canonical)
        assert chosen == min(identity(game, image) for image in images)
        assert identity(game, game.canonical(canonical)) == chosen
        assert {identity(game, game.canonical(image)) for image in images} == {chosen}


# -- text ----------------------------------------------------------------------------------


@every_spec
def test_format_and_parse(spec: str) -> None:
    game = open_game(spec)
    for position in sample(spec, 40):
        text = game.format(position)
        assert "\n" not in text
        again = game.parse(text)
        assert game.format(again) == text
        assert game.encode(again) == game.encode(position)
        assert game.draw(again) == game.draw(position)
        if not game.path_dependent:
            assert again == position


@every_spec
def test_move_names(spec: str) -> None:
    game = open_game(spec)
    for position in sample(spec, 40):
        moves = game.moves(position)
        names = game.line_names(moves)
        assert len(set(names)) == len(moves)
        for move, name in zip(moves, names, strict=True):
            assert name == name.lower().strip()
            assert game.find_move(position, f" {name.upper()} ") == move
        with pytest.raises(GameError, match="illegal move 'no such move'"):
            game.find_move(position, "no such move")


@cache
def written_positions(spec: str) -> list[str]:
    return [open_game(spec).format(position) for position in sample(spec, 10)]


@every_spec
@examples(8, 150)
@given(data=st.data())
def test_any_text_parses_or_is_refused(spec: str, data: st.DataObject) -> None:
    game, texts = open_game(spec), written_positions(spec)
    alphabet = st.sampled_from(sorted(set("".join(texts)) | set("XO.-_*;/ \n\t0z\u00fc")))
    written = st.sampled_from(texts)
    nearly = st.builds(
        lambda text, at, sign, drop: text[: at % len(text)] + sign + text[at % len(text) + drop :],
        written, st.integers(0, 200), st.one_of(alphabet, st.just("")), st.integers(0, 2),
    )
    text = data.draw(st.one_of(st.text(), st.text(alphabet, max_size=100), nearly, written))
    position, message = None, ""
    try:
        position = game.parse(text)
    except GameError as error:
        message = str(error)
    if position is None:
        assert text not in texts
        assert message
        assert "\n" not in message
        return
    assert game.encode(game.parse(game.format(position))) == game.encode(position)
    for move in game.moves(position):
        game.play(position, move)
