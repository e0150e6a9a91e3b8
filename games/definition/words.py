"""The rules of a definition in sentences, for people."""

from __future__ import annotations

from zermelo.games.definition.document import Table
from zermelo.games.definition.model import Model
from zermelo.games.definition.rules import Rule, read_rules
from zermelo.games.definition.tables import Tables

_RESULTS = {
    "win": "the side to move wins", "loss": "the side to move loses", "draw": "the game is drawn",
    "first": "the first player wins", "second": "the second player wins",
    "score": "the score counts",
}  # fmt: skip
_STUCK = {
    "win": "Who cannot move wins.", "loss": "Who cannot move loses.",
    "draw": "If the side to move cannot, the game is drawn.",
    "score": "If the side to move cannot, the score counts.",
    "pass": "Who cannot move passes; if neither can, the score counts.",
}  # fmt: skip


def rules_in_words(document: Table, tables: Tables) -> list[str]:
    model = tables.model
    found = [_board(model)]
    if model.solo:
        found.append("One player moves alone; the other only passes.")
    else:
        found.append(f"{model.side_names[0]} moves first, {model.side_names[1]} second.")
    found += [_move(rule) for rule in read_rules(document, model)]
    found += [
        f"If {table.text('if')}: {_RESULTS[table.text('is')]}." for table in document.tables("end")
    ]
    found.append(_STUCK[model.stuck])
    if tables.limit is not None:
        found.append(_limit(document.table("limit"), tables.limit.plies))
    if "score" in document:
        found.append(f"The score of the side to move is {document.expression('score').text}.")
    return found


def _board(model: Model) -> str:
    board = model.board
    if board.kind == "heaps":
        return f"Heaps of {', '.join(map(str, board.heaps))}."
    if board.kind == "pits":
        return f"{board.holes} holes with {board.heaps[0]} seeds and a store for each side."
    what = {"edges": "edges", "points": "points", "rings": "points"}.get(board.kind, "cells")
    kinds = ", ".join(model.kinds) or "none"
    return f"A board ({board.kind}) of {board.cells} {what}; pieces: {kinds}."


def _move(rule: Rule) -> str:
    table = rule.table
    players = ("The first player", "The second player")
    who = players[rule.sides[0]] if len(rule.sides) == 1 else "A player"
    what = {
        "place": "puts a {0} on {to}", "drop": "drops a {0}", "remove": "takes one of {0} off",
        "step": "moves a {0} one step to {to}", "slide": "slides a {0} to {to}",
        "hop": "jumps with a {0} over {over} to {to}", "take": "takes {0} from a heap",
        "split": "splits a heap ({0})", "sow": "sows the seeds of an own hole",
        "skip": "says {0}",
    }[rule.kind].format(
        table.text(rule.kind), to=table.text("to", "empty") if "to" in table else "empty",
        over=table.text("over", "enemy") if "over" in table else "enemy",
    )  # fmt: skip
    details = [f"along {table.text('along')}"] if "along" in table else []
    details += ["turning over what it encloses"] if _flag(table, "outflank") else []
    details += ["which is taken"] if rule.kind == "hop" and _flag(table, "capture") else []
    if "chain" in table:
        details.append(f"and {table.text('chain')} go on with it")
    details += [f"if {each.text}" for each in rule.conditions]
    details += [f"unless {each.text}" for each in rule.exceptions]
    details += [f"then {text}" for text in table.texts("then")]
    details += [f"and moves again if {rule.again.text}"] if rule.again else []
    return f"{who} {', '.join([what, *details])}."


def _flag(table: Table, key: str) -> bool:
    return key in table and table.flag(key)


def _limit(table: Table, plies: int) -> str:
    since = " or ".join(table.texts("since"))
    told = f" without {since}" if since else ""
    return f"After {plies} plies{told}: {_RESULTS[table.text('is', 'draw')]}."
