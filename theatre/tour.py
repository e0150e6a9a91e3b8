"""The guided tours: five steps each, every one at a moment of the performance that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from zermelo.theatre.events import Kind
from zermelo.theatre.messages import messages
from zermelo.theatre.performance import Performance


class Moment(StrEnum):
    START = "start"
    #: The first leaf has its value, the first best move is found, the first cut is made.
    LEAF = "leaf"
    BEST = "best"
    CUT = "cut"
    END = "end"


_KINDS = {Moment.LEAF: Kind.VALUE, Moment.BEST: Kind.BEST, Moment.CUT: Kind.CUT}
#: When the steps of each tour are told; the texts are in the catalogues.
MOMENTS = {
    "rules": (Moment.START, Moment.START, Moment.LEAF, Moment.LEAF, Moment.END),
    "minimax": (Moment.START, Moment.START, Moment.LEAF, Moment.BEST, Moment.END),
    "alphabeta": (Moment.START, Moment.BEST, Moment.CUT, Moment.CUT, Moment.END),
}
TOURS = tuple(MOMENTS)


@dataclass(frozen=True, slots=True)
class Stop:
    """One step of a tour, from 1."""

    tour: str
    number: int
    text: str
    moment: Moment


def stops(tour: str, game: str, language: str = "en") -> list[Stop]:
    """The steps of a tour for a game, by the game's name."""
    catalogue = messages(language)
    rule = catalogue["rules"].get(game, "")
    texts: Sequence[str] = catalogue["tour"][tour]
    return [
        Stop(tour, number, text.format(rule=rule).strip(), moment)
        for number, (text, moment) in enumerate(zip(texts, MOMENTS[tour], strict=True), 1)
    ]


def step_of(performance: Performance, moment: Moment) -> int:
    """After how many events a moment comes; the end where it never comes."""
    if moment is Moment.START:
        return 0
    wanted = _KINDS.get(moment)
    for number, event in enumerate(performance.events, 1):
        if event.kind is wanted:
            return number
    return len(performance.events)
