"""Games that were played as files to take away: plain text, SGF, and OBF."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zermelo.games import Game, GameError, Move
from zermelo.games.sgf import NUMBERS, write_sgf
from zermelo.research.games_played import PlayedGame
from zermelo.texts import one_line

LONGEST_LINE = 10_000
#: Games whose positions other programs read as OBF.
OBF_GAMES = ("reversi",)


@dataclass(frozen=True, slots=True)
class Format:
    write: Callable[[PlayedGame], str]
    media_type: str
    #: Whether games of these rules can be written so.
    fits: Callable[[Game[Any]], bool]


def write_text(played: PlayedGame) -> str:
    """All that is stored, a line for each fact."""
    facts = {
        "game": played.spec, "first": played.first, "second": played.second,
        "winner": played.winner, "score": f"{played.score:+d}", "person": played.person,
        "machine": played.opponent, "depth": "" if played.depth is None else str(played.depth),
        "device": played.device, "started": played.started_at.isoformat(timespec="seconds"),
        "seconds": f"{played.seconds:.0f}", "start": played.position or "initial position",
        "moves": " ".join(played.moves), "final": played.final,
    }  # fmt: skip
    return "".join(
        f"{name}: {one_line(text, LONGEST_LINE)}\n" for name, text in facts.items() if text
    )


def write_obf(played: PlayedGame) -> str:
    """Every position of a game of reversi, a line each; the last one with its score.

    Comments name the moves between them, so that `zermelo engine solve --file` reads it.
    """
    game, positions, moves = _replay(played)
    if game.name not in OBF_GAMES:
        raise GameError(f"OBF is the format of reversi, not of {game.name}")
    lines = [f"# game: {game.spec}", f"# {one_line(played.first, LONGEST_LINE)} against"
             f" {one_line(played.second, LONGEST_LINE)}, {played.started_at:%Y-%m-%d}"]  # fmt: skip
    for number, (position, move) in enumerate(zip(positions, moves, strict=False), 1):
        lines += [f"{game.format(position)};", f"# {number}. {game.move_name(move)}"]
    final = positions[-1]
    lines.append(f"{game.format(final)}; end:{game.score(final):+d};")
    return "\n".join(lines) + "\n"


def _write_sgf(played: PlayedGame) -> str:
    game, positions, moves = _replay(played)
    first, second = one_line(played.first, LONGEST_LINE), one_line(played.second, LONGEST_LINE)
    return write_sgf(game, positions[0], moves, first, second, played.score)


FORMATS = {
    "text": Format(write_text, "text/plain", lambda game: True),
    "sgf": Format(_write_sgf, "application/x-go-sgf", lambda game: game.name in NUMBERS),
    "obf": Format(write_obf, "text/plain", lambda game: game.name in OBF_GAMES),
}


def formats_of(game: Game[Any]) -> list[str]:
    """The formats in which games of these rules can be taken away."""
    return [name for name, kind in FORMATS.items() if kind.fits(game)]


def _replay(played: PlayedGame) -> tuple[Game[Any], list[Any], list[Move]]:
    """The rules, all positions and the moves between them; `GameError` where they do not fit."""
    game = played.game
    positions = [game.initial() if played.position is None else game.parse(played.position)]
    moves: list[Move] = []
    for name in played.moves:
        moves.append(game.find_move(positions[-1], name))
        positions.append(game.play(positions[-1], moves[-1]))
    return game, positions, moves
