"""The three readings of a definition side by side: reference, kernel and checker."""

from __future__ import annotations

from random import Random

from tests.support.effort import some
from zermelo.checker.definition.game import CheckedDefinition
from zermelo.checker.definition.playing import PASS
from zermelo.engine.definition import DefinitionEngine
from zermelo.games.definition.game import DefinedGame
from zermelo.games.definition.reference import DefinedPosition

HASH_MB = 1


def checked(game: DefinedGame) -> CheckedDefinition:
    """The same game as the checker reads it, with the symmetries that the reference proved."""
    return CheckedDefinition(game.definition.text, game.spec, game.symmetry_names())


def compare_games(game: DefinedGame, *, games: int, plies: int) -> int:
    """Play at random on all three and compare every position; how many there were."""
    checker, engine = checked(game), DefinitionEngine(game, hash_mb=HASH_MB)
    assert checker.max_score <= game.max_score  # it may see more in a score, never less
    assert checker.encode(checker.initial()) == game.encode(game.initial())
    rng, compared = Random(game.spec), 0
    for _ in range(games):
        position = game.initial()
        for _ in range(plies):
            compare_position(game, checker, engine, position)
            compared += 1
            moves = game.moves(position)
            if not moves:
                break
            position = game.play(position, rng.choice(moves))
    return compared


def compare_position(
    game: DefinedGame, checker: CheckedDefinition, engine: DefinitionEngine,
    position: DefinedPosition,
) -> None:  # fmt: skip
    key, text = game.encode(position), game.format(position)
    other = checker.decode(key)
    assert (checker.encode(other), checker.format(other)) == (key, text)
    assert checker.parse(text) == other
    canonical = game.encode(game.canonical(position))
    assert checker.encode(checker.canonical(other)) == canonical == engine.core.canonical(key)
    moves = game.moves(position)
    after = {game.move_name(move): game.encode(game.play(position, move)) for move in moves}
    legal = checker.moves(other)
    assert {
        checker.move_name(move): checker.encode(checker.play(other, move)) for move in legal
    } == after
    numbers = range(0, max(legal[0] + 2, 8), some(7, 1)) if legal else ()
    assert all(checker.is_legal(other, move) == (move in legal) for move in (*legal, *numbers))
    assert not legal or checker.is_legal(other, PASS) == (PASS in legal)
    if not moves:
        assert game.score(position) == checker.score(other) == engine.core.children(key)
        return
    assert dict(engine.core.children(key)) == {
        move: after[game.move_name(move)] for move in moves
    }


def positions_by_ply(game: DefinedGame | CheckedDefinition, plies: int) -> list[int]:
    """How many positions up to symmetry there are after 0, 1, ... plies."""
    level = {game.encode(game.canonical(game.initial()))}
    counts = [1]
    for _ in range(plies):
        level = {
            game.encode(game.canonical(game.play(position, move)))
            for position in map(game.decode, level) for move in game.moves(position)
        }
        counts.append(len(level))
    return counts


def perft(game: DefinedGame | CheckedDefinition, plies: int) -> int:
    """Lines of play of this length; a game that ends earlier is one line."""
    def lines(position: object, left: int) -> int:
        moves = game.moves(position) if left else []  # type: ignore[arg-type]
        if not moves:
            return 1
        return sum(lines(game.play(position, move), left - 1) for move in moves)  # type: ignore[arg-type]

    return lines(game.initial(), plies)
