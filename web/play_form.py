"""Who plays either side, as the form of a new game says it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zermelo.engine.reversi_depth import EVALUATIONS as TEXTBOOK
from zermelo.engine.reversi_depth import FEATURES, LARGEST_WEIGHT
from zermelo.games import Game
from zermelo.games.reversi import Reversi
from zermelo.players import PlayerError
from zermelo.players.depth import TRAINED, has_trained
from zermelo.web.playing import PROOF, deepest_for, is_machine, persons_name

#: The evaluation whose weights the visitor chooses.
OWN = "own"
#: Evaluations of games that have no textbook ones.
PLAIN_EVALUATIONS = {
    "engine": "the engine's guess", "rules": "the rules' guess", "mobility": "mobility",
}  # fmt: skip
TITLES = {
    "discs": "discs", "matrix": "discs times the matrix of squares",
    "edges-corners": "discs + 2 edges + 10 corners", "mobility": "mobility",
    "features": "all features", TRAINED: "trained on millions of games", OWN: "my own weights",
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
RIVALS = ("greedy", "random", "uct:500", "minimax:1", "minimax:3")
REVERSI_RIVALS = (
    "minimax:3,discs", "minimax:3,matrix", "minimax:6,discs", "minimax:6,matrix", "minimax:6",
)  # fmt: skip
_WEIGHT = re.compile(r"-?[0-9]{1,4}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Weight:
    """A feature with the weight that the form begins with."""

    feature: str
    title: str
    weight: int


def evaluations(game: Game[Any]) -> dict[str, str]:
    """What a machine that looks ahead can go by: names and titles."""
    if not isinstance(game, Reversi):
        return PLAIN_EVALUATIONS
    names = [*TEXTBOOK, *([TRAINED] if has_trained(game) else []), OWN]
    return {name: TITLES[name] for name in names}


def weights() -> list[Weight]:
    first = TEXTBOOK["features"]
    return [Weight(name, FEATURE_TITLES[name], first.get(name, 0)) for name in FEATURES]


def rivals(game: Game[Any]) -> tuple[str, ...]:
    return (*REVERSI_RIVALS, *RIVALS[:3]) if isinstance(game, Reversi) else RIVALS


def choices(game: Game[Any]) -> dict[str, Any]:
    """What the form offers, for the page and its twin."""
    return {
        "evaluations": evaluations(game), "deepest": deepest_for(game), "playouts": PLAYOUTS,
        "nodes": NODES, "rivals": rivals(game),
        "weights": weights() if isinstance(game, Reversi) else [],
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
            evaluation = _own_weights(form)
        perfect = PERFECT if "perfect" in form and isinstance(game, Reversi) else ""
        return f"minimax:{form.get('depth', '4')},{evaluation}{perfect}"
    if kind == "uct":
        return f"uct:{form.get('playouts', PLAYOUTS[1])}"
    return f"engine:{form.get('nodes', NODES[1])}" if kind == "engine" else kind


def _own_weights(form: Mapping[str, str]) -> str:
    """Weights as players write them: ``discs=1+corners=10``."""
    told = []
    for feature in FEATURES:
        text = form.get(f"weight-{feature}", "").strip() or "0"
        if not _WEIGHT.fullmatch(text) or abs(int(text)) > LARGEST_WEIGHT:
            raise PlayerError(f"the weight of {feature} is a whole number from -{LARGEST_WEIGHT}"
                              f" to {LARGEST_WEIGHT}, not {text[:40]!r}")  # fmt: skip
        if int(text):
            told.append(f"{feature}={int(text)}")
    if not told:
        raise PlayerError("at least one weight must differ from zero")
    return "+".join(told)
