"""What a player that looks ahead believes about the positions where it stops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from zermelo.engine import EngineError, open_engine
from zermelo.engine.definition import DefinitionEngine
from zermelo.games import Game
from zermelo.games.definition.game import FAMILY, DefinedGame
from zermelo.players.interface import PlayerError

#: A guess of the score for the side to move.
Evaluation = Callable[[Any], float]
#: Plays random games from a position, so many with a seed: wins and losses of its side to move.
RandomGames = Callable[[Any, int, int], tuple[int, int]]
RANDOM_GAMES = 32


def _engine(game: Game[Any]) -> Evaluation:
    try:
        return open_engine(game, hash_mb=1).guess
    except EngineError:  # there are games that can be played and not solved
        return game.evaluate


def _rules(game: Game[Any]) -> Evaluation:
    return game.evaluate


def _mobility(game: Game[Any]) -> Evaluation:
    """Moves after which the other side has few replies are good; forced passes say nothing."""
    def evaluate(position: Any) -> float:
        moves = game.moves(position)
        if not moves:
            return game.score(position)
        replies = [len(game.moves(game.play(position, move))) for move in moves]
        mean = sum(replies) / len(replies)
        return game.max_score * (len(moves) - mean) / (len(moves) + mean + 1)

    return evaluate


def _playouts(game: Game[Any]) -> Evaluation:
    """The mean outcome of random games."""
    return partial(_mean_outcome, random_games(game))


def _mean_outcome(play: RandomGames, position: Any) -> float:
    wins, losses = play(position, RANDOM_GAMES, 1)
    return (wins - losses) / RANDOM_GAMES


def random_games(game: Game[Any]) -> RandomGames:
    """Plays random games from a position: how many its side to move wins and loses."""
    prepare: Callable[[Any], RandomGames] = COMPILED_GAMES.get(game.family, _plain_games)
    return prepare(game)


def _games_of_definition(game: DefinedGame) -> RandomGames:
    engine = DefinitionEngine(game, hash_mb=1)

    def play(position: Any, games: int, seed: int) -> tuple[int, int]:
        wins, _, losses, _ = engine.core.playouts(game.encode(position), games, seed)
        return (losses, wins) if position.turn else (wins, losses)

    return play


def _plain_games(game: Game[Any]) -> RandomGames:
    def play(position: Any, games: int, seed: int) -> tuple[int, int]:
        import random

        choose, wins, losses = random.Random(seed), 0, 0  # noqa: S311
        for _ in range(games):
            at, sign = position, 1
            while moves := game.moves(at):
                at, sign = game.play(at, choose.choice(moves)), -sign
            score = sign * game.score(at)
            wins += score > 0
            losses += score < 0
        return wins, losses

    return play


#: Random games by compiled rules, by the family of the game.
COMPILED_GAMES: dict[str, Callable[[Any], RandomGames]] = {FAMILY: _games_of_definition}

EVALUATIONS: dict[str, Callable[[Game[Any]], Evaluation]] = {
    "engine": _engine, "rules": _rules, "mobility": _mobility, "playouts": _playouts,
}  # fmt: skip


def open_evaluation(name: str, game: Game[Any]) -> Evaluation:
    if name not in EVALUATIONS:
        raise PlayerError(f"unknown evaluation {name!r}; known: {', '.join(EVALUATIONS)}")
    return EVALUATIONS[name](game)
