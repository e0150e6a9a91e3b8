"""The rules of a definition in sentences, for people."""

from __future__ import annotations

import re

from zermelo.games.definition.document import Table
from zermelo.games.definition.model import Model
from zermelo.games.definition.phrases import Phrases
from zermelo.games.definition.rules import Effect, Rule, read_rules
from zermelo.games.definition.tables import Tables

_RESULTS = {
    "win": "the side to move wins", "loss": "the side to move loses", "draw": "the game is drawn",
    "first": "the first player wins", "second": "the second player wins",
    "score": "the score counts",
}  # fmt: skip
_STUCK = {
    "win": "A player who cannot move wins.", "loss": "A player who cannot move loses.",
    "draw": "If the side to move has no move, the game is drawn.",
    "score": "If the side to move has no move, the score counts.",
    "pass": "A player who cannot move passes; if neither can move, the score counts.",
}  # fmt: skip


_WORD = re.compile(r"[a-z]\w*", re.ASCII)
_WAYS = {
    "n": "up", "s": "down", "w": "to the left", "e": "to the right", "nw": "up to the left",
    "ne": "up to the right", "sw": "down to the left", "se": "down to the right",
    "orthogonal": "straight", "diagonal": "diagonally", "all": "in any direction",
}  # fmt: skip
_VIEWS = {"rotate": "turned round", "flip": "upside down", "mirror": "left to right",
          "transpose": "with rows as columns"}


def rules_in_words(document: Table, tables: Tables) -> list[str]:
    model = tables.model
    phrases = Phrases(model.numbers)
    found = [_board(model)]
    if model.solo:
        found.append("One player moves alone; the other only passes.")
    else:
        found.append(f"{model.side_names[0]} moves first, {model.side_names[1]} second.")
    view = document.table("players").text("second", "same")
    if view != "same" and not model.solo:
        found.append(f"The second player sees the board {_VIEWS.get(view, view)},"
                     " directions and regions with it.")
    found += filter(None, (_move(rule, model, phrases) for rule in read_rules(document, model)))
    for table in document.tables("end"):
        when, result = phrases.condition(table.expression("if").tree), _RESULTS[table.text("is")]
        if when is not False:
            found.append(f"If {when}, {result}." if isinstance(when, str) else f"At once {result}.")
    found.append(_STUCK[model.stuck])
    if tables.limit is not None:
        found.append(_limit(document.table("limit"), tables.limit.plies))
    if "score" in document:
        score = phrases.number(document.expression("score").tree)
        found.append(f"The score of the side to move is {score}.")
    return found


def _board(model: Model) -> str:
    board = model.board
    if board.kind == "heaps":
        return f"Heaps of {', '.join(map(str, board.heaps))}."
    if board.kind == "pits":
        return f"{board.holes} holes with {board.heaps[0]} seeds and a store for each side."
    what = {"edges": "edges", "points": "points", "rings": "points"}.get(board.kind, "cells")
    kinds = ", ".join(model.kinds) or "none"
    sizes = {line.bit_count() for line in board.lines}
    lines = f"; a line is {sizes.pop()} {what}" if len(sizes) == 1 else ""
    return f"A board ({board.kind}) of {board.cells} {what}{lines}; pieces: {kinds}."


def _move(rule: Rule, model: Model, phrases: Phrases) -> str | None:
    """None: with these parameters the rule never applies."""
    table = rule.table
    sides = [
        side for side in rule.sides
        if rule.piece not in model.kinds or model.value_of(rule.piece, side) is not None
    ]
    players = ("The first player", "The second player")
    who = players[sides[0]] if len(sides) == 1 else "A player"
    removed = phrases.cells(table.expression("remove").tree) if rule.kind == "remove" else ""
    what = {
        "place": "puts {piece} on {to}", "drop": "drops {piece}",
        "remove": "takes one of {removed} off",
        "step": "moves {piece} one step to {to}", "slide": "slides {piece} to {to}",
        "hop": "jumps with {piece} over {over} to {to}", "take": "takes {taken} from a heap",
        "split": "splits a heap ({taken})", "sow": "sows the seeds of an own hole",
        "skip": "says {taken}",
    }[rule.kind].format(
        piece=_a(rule.piece), removed=removed,
        taken=_WORD.sub(lambda word: str(model.numbers.get(word[0], word[0])), rule.piece),
        to=_one_of(table, "to", "empty", phrases), over=_one_of(table, "over", "enemy", phrases),
    )  # fmt: skip
    details = []
    if "along" in table:
        details.append(" or ".join(_WAYS.get(way, way) for way in table.text("along").split()))
    if "shape" in table:
        turned = ", turned either way" if _flag(table, "turn") else ""
        details.append(f"as the shape {' / '.join(table.texts('shape'))}{turned}")
    if rule.kind == "sow" and "capture" in table:
        details.append("capturing what lies opposite if the last seed falls into an empty own hole")
    details += ["turning over what it encloses"] if _flag(table, "outflank") else []
    details += ["which is taken"] if rule.kind == "hop" and _flag(table, "capture") else []
    if "chain" in table:
        details.append(f"and {table.text('chain')} go on with it")
    if rule.forfeit:
        details.append(f"and loses the pieces that could have used {rule.forfeit} instead")
    for word, never, conditions in (
        ("if", False, rule.conditions), ("unless", True, rule.exceptions)
    ):
        told = [phrases.condition(each.tree) for each in conditions]
        if never in told:
            return None
        details += [f"{word} {each}" for each in told if isinstance(each, str)]
    details += filter(None, (_effect(each, phrases) for each in rule.effects))
    again = phrases.condition(rule.again.tree) if rule.again else False
    if again is not False:
        details.append("and moves again" + (f" if {again}" if isinstance(again, str) else ""))
    return f"{who} {', '.join([what, *details])}."


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _one_of(table: Table, key: str, usual: str, phrases: Phrases) -> str:
    """A cell of the set that a rule names."""
    cells = table.expression(key) if key in table else None
    known = {"empty": "an empty cell", "enemy": "an enemy", "filled": "a filled cell"}
    name = cells.text.strip() if cells else usual
    return known.get(name) or f"one of {phrases.cells(cells.tree) if cells else usual}"


def _effect(effect: Effect, phrases: Phrases) -> str | None:
    when = phrases.condition(effect.condition.tree) if effect.condition else True
    if when is False:
        return None
    verb = {"=": "becomes", "+=": "grows by", "-=": "falls by"}[effect.operator]
    told = (f"then {effect.owner} {effect.counter}".replace("  ", " ")
            + f" {verb} {phrases.number(effect.amount.tree)}")
    return f"{told} if {when}" if isinstance(when, str) else told


def _flag(table: Table, key: str) -> bool:
    return key in table and table.flag(key)


def _limit(table: Table, plies: int) -> str:
    since = " or ".join(table.texts("since"))
    told = f" without {since}" if since else ""
    return f"After {plies} plies{told}: {_RESULTS[table.text('is', 'draw')]}."
