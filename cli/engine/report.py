"""What a search found out, in words for people and in JSON for programs."""

from __future__ import annotations

from typing import Any

from zermelo.cli.output import short_count, short_time, speed
from zermelo.engine import Engine, SearchReport, Status
from zermelo.figures import by, signed
from zermelo.games import Bounds, Game

_STOPPED = {Status.EXHAUSTED: "node budget reached", Status.ABORTED: "interrupted"}


def outcome(bounds: Bounds) -> str | None:
    """``win``, ``draw`` or ``loss`` for the side to move; None while that is open."""
    if bounds.lo > 0:
        return "win"
    if bounds.hi < 0:
        return "loss"
    return "draw" if bounds.exact else None


def outcome_in_words(game: Game[Any], position: Any, bounds: Bounds) -> str:
    """Such as ``X, who moves first, loses by 4``; what is open stays open."""
    side = game.side_to_move(position)
    if game.is_final(position):
        return f"the game is over: {side} {_result(game, bounds)}"
    role = "who moves first" if position == game.initial() else "to move"
    return f"{side}, {role}, {_result(game, bounds)}"


def value_in_words(game: Game[Any], bounds: Bounds) -> str:
    if bounds.exact:
        return signed(bounds.lo)
    if bounds == game.score_range:
        return "unknown"
    if bounds.hi == game.max_score:
        return f"at least {bounds.lo}"
    if bounds.lo == -game.max_score:
        return f"at most {bounds.hi}"
    return f"{bounds.lo} to {bounds.hi}"


def proved_move(game: Game[Any], report: SearchReport) -> str | None:
    """The move that secures the lower bound.

    Where only an upper bound is proved, every move is as good as the engine's: none is named.
    """
    if report.bounds.exact and report.line:
        return game.move_name(report.line[0])
    if report.move is None or report.bounds.lo == -game.max_score:
        return None
    return game.move_name(report.move)


def facts(game: Game[Any], position: Any, report: SearchReport) -> list[tuple[str, str]]:
    """The report for people, line by line."""
    value = value_in_words(game, report.bounds)
    if report.status in _STOPPED:
        value += f" ({_STOPPED[report.status]})"
    lines = [("value", value), ("outcome", outcome_in_words(game, position, report.bounds))]
    if report.bounds.exact and report.line:
        lines.append(("best play", " ".join(game.line_names(report.line))))
    elif (move := proved_move(game, report)) is not None:
        lines.append(("move", f"{move} secures the lower bound"))
    rate = short_count(speed(report.nodes, report.seconds))
    return [
        *lines,
        ("nodes", f"{report.nodes:,}"),
        ("time", f"{short_time(report.seconds)}, {rate} nodes/s"),
    ]


def news(engine: Engine, seconds: float) -> str:
    """How a running search stands, for a line on the terminal."""
    nodes, bounds, fraction = engine.progress()
    parts = [
        f"{short_count(nodes)} nodes",
        f"{short_count(speed(nodes, seconds))}/s",
        f"score {value_in_words(engine.game, bounds)}",
    ]
    if fraction:  # not every engine and algorithm can tell
        parts.append(f"{fraction:.0%} of this pass")
    return "  ".join(parts)


def as_json(game: Game[Any], position: Any, report: SearchReport, algorithm: str) -> dict[str, Any]:
    bounds = report.bounds
    return {
        "game": game.spec,
        "position": game.format(position),
        "status": report.status.value,
        "value": bounds.lo if bounds.exact else None,
        "bounds": [bounds.lo, bounds.hi],
        "outcome": outcome(bounds),
        "move": proved_move(game, report),
        "line": game.line_names(report.line) if bounds.exact else [],
        "nodes": report.nodes,
        "seconds": round(report.seconds, 6),
        "speed": round(speed(report.nodes, report.seconds)),
        "algorithm": algorithm,
    }


def _result(game: Game[Any], bounds: Bounds) -> str:
    lo, hi = bounds.lo, bounds.hi
    if bounds.exact:
        margin = by(abs(lo), game.max_score)
        return f"wins{margin}" if lo > 0 else f"loses{margin}" if lo else "draws"
    if lo > 0:
        return f"wins by {lo} to {hi}" if hi < game.max_score else f"wins by at least {lo}"
    if hi < 0:
        return f"loses by {-hi} to {-lo}" if lo > -game.max_score else f"loses by at least {-hi}"
    win = "win" if hi == game.max_score else f"win by at most {hi}"
    loss = "lose" if lo == -game.max_score else f"lose by at most {-lo}"
    if lo == 0:
        return f"will {win} or draw"
    return f"will draw or {loss}" if hi == 0 else f"may {win}, draw or {loss}"
