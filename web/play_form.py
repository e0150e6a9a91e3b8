"""Who plays either side, as the form of a new game says it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zermelo.games import Game
from zermelo.players import LookAhead, PlayerError, look_ahead
from zermelo.web.playing import PROOF, is_machine, persons_name

#: The evaluation whose weights the visitor chooses.
OWN = "own"
#: Evaluations by the names that players have for them.
TITLES = {
    "engine": "the engine's guess", "rules": "the rules' guess", "discs": "discs",
    "matrix": "discs times the matrix of squares",
    "edges-corners": "discs + 2 edges + 10 corners", "mobility": "mobility",
    "features": "all features", "trained": "trained on millions of games", OWN: "my own weights",
}  # fmt: skip
FEATURE_TITLES = {
    "discs": "discs", "mobility": "mobility", "corners": "corners",
    "c-squares": "beside an empty corner (C)", "x-squares": "diagonal to an empty corner (X)",
    "frontier": "frontier discs", "stable": "stable discs", "sandwiched": "sandwiched discs",
    "wiped-out": "no disc left", "positional": "matrix of squares", "edges": "edges",
}  # fmt: skip
PLAYOUTS = (100, 500, 2_000, 10_000)
NODES = (1_000, 50_000, 2_000_000)
PERFECT = ",perfect=16"
#: Who may sit opposite the machine when the visitor watches.
RIVALS = ("greedy", "random", "uct:500")
_WEIGHT = re.compile(r"-?[0-9]{1,4}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Weight:
    """A feature with the weight that the form begins with."""

    feature: str
    title: str
    weight: int


def evaluations(game: Game[Any]) -> dict[str, str]:
    """What a machine that looks ahead can go by: names and titles."""
    ahead = look_ahead(game)
    names = [*ahead.evaluations(game), *([OWN] if ahead.features else [])]
    return {name: TITLES[name] for name in names}


def weights(game: Game[Any]) -> list[Weight]:
    features = look_ahead(game).features
    return [Weight(name, FEATURE_TITLES[name], first) for name, first in features.items()]


def choices(game: Game[Any]) -> dict[str, Any]:
    """What the form offers, for the page and its twin."""
    ahead = look_ahead(game)
    return {
        "evaluations": evaluations(game), "deepest": ahead.deepest, "playouts": PLAYOUTS,
        "nodes": NODES, "rivals": (*ahead.rivals, *RIVALS), "weights": weights(game),
        "perfect_end": ahead.perfect_end,
    }  # fmt: skip


def sides(game: Game[Any], form: Mapping[str, str]) -> dict[str, str]:
    """The names of both sides; `PlayerError` says what cannot be."""
    name = persons_name(form.get("name", "") or "you")
    if is_machine(name):
        raise PlayerError(f"{name!r} is what a machine is called; choose another name")
    other = _opponent(game, form)
    side = form.get("side", "first")
    if side == "watch" and is_machine(other):
        rival = form.get("rival", "")
        name = rival if is_machine(rival) else other
    first, second = (other, name) if side == "second" else (name, other)
    return {"first": first, "second": second}


def _opponent(game: Game[Any], form: Mapping[str, str]) -> str:
    kind = form.get("opponent", "minimax")
    if kind == "person":
        other = persons_name(form.get("other", "") or "guest")
        return "guest" if is_machine(other) else other
    if kind not in ("minimax", "uct", "engine", "greedy", "random", PROOF):
        raise PlayerError(f"there is no opponent {kind[:40]!r}")
    if kind == "minimax":
        evaluation = form.get("evaluation", "")
        if evaluation == OWN:
            evaluation = _own_weights(look_ahead(game), form)
        perfect = PERFECT if "perfect" in form and look_ahead(game).perfect_end else ""
        return f"minimax:{form.get('depth', '4')},{evaluation}{perfect}"
    if kind == "uct":
        return f"uct:{form.get('playouts', PLAYOUTS[1])}"
    return f"engine:{form.get('nodes', NODES[1])}" if kind == "engine" else kind


def _own_weights(ahead: LookAhead[Any], form: Mapping[str, str]) -> str:
    """Weights as players write them: ``discs=1+corners=10``."""
    told, most = [], ahead.largest_weight
    for feature in ahead.features:
        text = form.get(f"weight-{feature}", "").strip() or "0"
        if not _WEIGHT.fullmatch(text) or abs(int(text)) > most:
            raise PlayerError(f"the weight of {feature} is a whole number from -{most} to {most},"
                              f" not {text[:40]!r}")  # fmt: skip
        if int(text):
            told.append(f"{feature}={int(text)}")
    if not told:
        raise PlayerError("at least one weight must differ from zero")
    return "+".join(told)
