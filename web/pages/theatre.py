"""The theatre: a search at work, step by step; the visitor plays, and the tree follows.

Everything that is shown happened in Python. Without scripts the page is a picture after each
step, with links to the next; with them the events are played.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from zermelo.games import GameError
from zermelo.theatre import (
    ALGORITHMS,
    Counters,
    Direction,
    GameTree,
    Order,
    Performance,
    perform,
)
from zermelo.theatre.drawing import draw
from zermelo.theatre.evaluation import Evaluation
from zermelo.theatre.messages import languages, messages
from zermelo.theatre.performance import as_data
from zermelo.theatre.story import tell_event
from zermelo.theatre.tour import MOMENTS, TOURS, step_of, stops
from zermelo.web.errors import Offer, TroubleError
from zermelo.web.page import JSON, Page, json_text, page_routes, wants_json
from zermelo.web.pages.games import find_game
from zermelo.web.words import path_part

#: What is offered, by spec; any other small game works as well.
SHOWN = (
    "grundy:7", "grundy:8", "grundy:9", "grundy:10", "grundy:9,misere=yes",
    "subtraction:9,k=3", "subtraction:10,k=3", "subtraction:12,k=3",
    "subtraction:9,k=3,misere=yes", "greedy-nim:4-3-3,k=2", "greedy-nim:4-4-3,k=2",
    "greedy-nim:6-5-4,k=2", "greedy-nim:6-6-6,k=2", "greedy-nim:4-3-3,k=2,misere=yes",
    "nim:1-2-3", "nim:1-2-3,misere=yes",
)  # fmt: skip
#: Late positions of larger games, by spec; the catalogues have labels.
LATE = {"mnk:3x3,k=3": "XOX/OO-/X-- X", "reversi:4x4": "XXXX/OOXX/OOO-/---- O"}
#: Where the guided tours begin: a game in which every algorithm shows what it does.
TOUR_GAME = "grundy:8"
#: More nodes than these are a picture of their own only where scripts run.
MOST_DRAWN = 1_500
MOST_MOVES = 64
DEFAULT_ALGORITHM = "alphabeta"
T = TypeVar("T")
#: Searches at the same time; they take turns with all other pages.
_STAGES = asyncio.Semaphore(2)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a visitor asks for, all of it from the address."""

    spec: str
    position: str
    moves: tuple[str, ...]
    direction: Direction
    step: int | None
    language: str
    #: The algorithm that is shown beside; empty: none.
    beside: str = ""
    #: The guided tour and its step, from 1; empty: none.
    tour: str = ""
    stop: int = 1

    @property
    def scene(self) -> Scene:
        return Scene(
            self.spec, self.position, self.moves, self.direction.with_algorithm(DEFAULT_ALGORITHM)
        )

    def link(self, *, reply: bool = False, **changes: Any) -> str:
        """The address of the same page with something else; with `reply` the search answers."""
        changed = replace(self, **changes)
        way = changed.direction
        pairs = {
            "algorithm": way.algorithm, "order": way.order, "evaluation": way.evaluation,
            "horizon": way.horizon or "", "language": changed.language,
            **{name: "on" for name in ("table", "killer", "history") if getattr(way, name)},
        }  # fmt: skip
        if changed.beside:
            pairs["beside"] = changed.beside
        if changed.tour:
            pairs |= {"tour": changed.tour, "stop": changed.stop}
        if changed.position:
            pairs["p"] = changed.position
        if changed.moves:
            pairs["moves"] = ",".join(changed.moves)
        if changed.step is not None:
            pairs["step"] = changed.step
        if reply:
            pairs["reply"] = "on"
        return f"/theatre/{path_part(changed.spec)}?{urlencode(pairs)}"


@dataclass(frozen=True, slots=True)
class Compared:
    """The numbers of one algorithm, beside those of the others."""

    algorithm: str
    value: int
    entered: int
    visited: int
    cut: int
    hits: int
    passes: int


@dataclass(frozen=True, slots=True)
class Scene:
    """A position, and how all algorithms are to search from it."""

    spec: str
    position: str
    moves: tuple[str, ...]
    #: Of whichever algorithm.
    direction: Direction


@dataclass(frozen=True, slots=True)
class _Play:
    """What all algorithms do in one scene."""

    tree: GameTree
    #: By the name of the algorithm.
    performances: Mapping[str, Performance]
    compared: tuple[Compared, ...]
    #: What the side to move can do.
    choices: tuple[str, ...]


def routes() -> list[Route]:
    return [
        *page_routes("/theatre", programme, csv=False),
        *page_routes("/theatre/{spec:path}", theatre),
    ]


async def programme(request: Request) -> Page:
    language = _language(request.query_params)
    texts = messages(language)
    late = [
        {"spec": spec, "label": texts["late"][spec], "position": position}
        for spec, position in LATE.items()
    ]
    return Page("Theatre", "theatre/programme.html", {"games": SHOWN, "late": late}, view={
        "texts": texts, "words": texts["page"], "tours": TOURS, "tour_game": TOUR_GAME,
        "language": language, "languages": languages(),
    })  # fmt: skip


async def theatre(request: Request) -> Page | Response:
    asked = _asked(request)
    if asked.tour in ALGORITHMS:
        asked = replace(asked, direction=asked.direction.with_algorithm(asked.tour))
    played = await _on_stage(asked, _played, asked.scene)
    performance, tree = played.performances[asked.direction.algorithm], played.tree
    if "reply" in request.query_params and performance.best is not None:
        answer = tree.move_name(performance.best)
        return RedirectResponse(asked.link(moves=(*asked.moves, answer), step=None), 303)
    if wants_json(request):
        script = await _on_stage(asked, _script, asked.scene, performance.algorithm)
        return Response(script, media_type=JSON)
    guide = stops(asked.tour, tree.game.name, asked.language) if asked.tour else []
    if guide and asked.step is None:
        asked = replace(asked, step=step_of(performance, guide[asked.stop - 1].moment))
    beside = played.performances.get(asked.beside)
    steps = max(len(each.events) for each in (performance, beside) if each is not None)
    step = steps if asked.step is None else min(asked.step, steps)
    texts = messages(asked.language)
    here = tree[performance.start]
    view = {
        "asked": asked, "step": step, "steps": steps, "texts": texts, "words": texts["page"],
        "told": _told(performance, step, asked.language),
        "drawings": [_drawing(each, step) for each in (performance, beside) if each is not None],
        "algorithms": list(ALGORITHMS), "orders": list(Order), "evaluations": list(Evaluation),
        "languages": languages(), "compared": played.compared, "choices": played.choices,
        "nodes": len(tree), "distinct": len(set(tree.representatives)),
        "over": tree.is_end(here.number), "side": "MAX" if here.is_max else "MIN",
        "moves": asked.moves, "guide": guide, "tours": TOURS,
        "script_texts": json.dumps({"events": texts["events"], "page": texts["page"]}),
        "sources": _sources(asked),
    }  # fmt: skip
    return Page(
        f"Theatre: {tree.game.short_spec}", "theatre/stage.html", _headline(performance),
        played.compared, view,
    )  # fmt: skip


def _headline(performance: Performance) -> dict[str, Any]:
    """What the page itself says of a performance; scripts fetch all of it."""
    return {
        "game": performance.tree.game.short_spec, "algorithm": performance.algorithm,
        "value": performance.value,
    }  # fmt: skip


def _sources(asked: Asked) -> list[str]:
    """Where scripts find the performances, that of the chosen algorithm first."""
    names = [asked.direction.algorithm, *([asked.beside] if asked.beside else [])]
    links = [
        asked.link(direction=asked.direction.with_algorithm(name), beside="", tour="", step=None)
        for name in names
    ]
    return [link.replace("?", ".json?", 1) for link in links]


def _told(performance: Performance, step: int, language: str) -> str:
    if not step:
        return ""
    event = performance.events[min(step, len(performance.events)) - 1]
    return tell_event(performance, event, language).text


def _drawing(performance: Performance, step: int) -> str:
    """The picture for those without scripts; empty where it would be too large."""
    if len(performance.tree) > MOST_DRAWN:
        return ""
    return draw(performance, min(step, len(performance.events)), style="")


async def _on_stage(asked: Asked, act: Callable[..., T], *arguments: Any) -> T:
    """What a search gives, as soon as it is its turn; a page that says why it cannot be shown."""
    async with _STAGES:
        try:
            return await asyncio.to_thread(act, *arguments)
        except GameError as error:
            raise _trouble(asked, str(error)) from None


@lru_cache(maxsize=8)
def _script(scene: Scene, algorithm: str) -> str:
    """All of a performance, for the script that plays it."""
    return json_text(as_data(_played(scene).performances[algorithm]))


@lru_cache(maxsize=8)
def _played(scene: Scene) -> _Play:
    tree = _tree(scene.spec, scene.position)
    start = tree.walk(scene.moves)[-1]
    performances = {
        name: perform(tree, scene.direction.with_algorithm(name), start) for name in ALGORITHMS
    }
    choices = tuple(tree.move_name(child) for child in tree[start].children)
    compared = tuple(
        Compared(name, performance.value, *_counted(performance.counters))
        for name, performance in performances.items()
    )
    return _Play(tree, performances, compared, choices)


@lru_cache(maxsize=8)
def _tree(spec: str, position: str) -> GameTree:
    game = find_game(spec)
    try:
        return GameTree(game, game.parse(position) if position else None)
    except GameError as error:
        raise TroubleError(
            400, "Not on this stage", f"{error}.", [Offer("the theatre's games", "/theatre")]
        ) from None


def _counted(counters: Counters) -> tuple[int, int, int, int, int]:
    return counters.entered, counters.visited, counters.cut, counters.hits, counters.passes


def _asked(request: Request) -> Asked:
    query = request.query_params
    moves = tuple(filter(None, query.get("moves", "").split(",")))[:MOST_MOVES]
    direction = Direction(
        _one_of(query, "algorithm", ALGORITHMS, DEFAULT_ALGORITHM),
        "table" in query, "killer" in query, "history" in query,
        Order(_one_of(query, "order", list(Order), Order.GIVEN)),
        Evaluation(_one_of(query, "evaluation", list(Evaluation), Evaluation.SCORE)),
        horizon=_number(query, "horizon") or None,
    )  # fmt: skip
    tour = _one_of(query, "tour", TOURS, "")
    last = len(MOMENTS[tour]) if tour else 1
    return Asked(
        request.path_params["spec"], query.get("p", ""), moves, direction, _number(query, "step"),
        _language(query), _one_of(query, "beside", ALGORITHMS, ""), tour,
        max(1, min(last, _number(query, "stop") or 1)),
    )  # fmt: skip


def _language(query: Mapping[str, str]) -> str:
    return _one_of(query, "language", languages(), "en")


def _one_of(query: Mapping[str, str], name: str, known: Any, default: str) -> str:
    value = query.get(name) or default
    return value if value in known else default


def _number(query: Mapping[str, str], name: str) -> int | None:
    told = query.get(name, "")
    return int(told) if told.isascii() and told.isdigit() and len(told) <= 6 else None


def _trouble(asked: Asked, text: str) -> TroubleError:
    again = asked.link(moves=asked.moves[:-1], step=None)
    return TroubleError(400, "Not possible", f"{text}.", [
        Offer("one move back", again), Offer("from the beginning", asked.link(moves=(), step=None)),
        Offer("the theatre's games", "/theatre"),
    ])  # fmt: skip
