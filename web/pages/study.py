"""How large a game tree is: our numbers beside the founding document's."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.routing import Route

from zermelo.research import founding
from zermelo.research.study import Ply, Study
from zermelo.web.charts import Series, time_chart
from zermelo.web.errors import TroubleError
from zermelo.web.page import Page, page_routes
from zermelo.web.pages.games import find_game
from zermelo.web.site import site_of

RELOAD_SECONDS = 3


@dataclass(frozen=True, slots=True)
class StudiedPly:
    ply: int
    #: Distinct positions, symmetric ones once; None beyond the exact part.
    positions: int | None
    branching: float | None
    branching_error: float | None
    #: A pass being no move.
    branching_without_pass: float | None
    #: In the founding document, where it has this game and this ply.
    founding_branching: float | None


@dataclass(frozen=True, slots=True)
class StudyPage:
    game: str
    #: False while the numbers are being computed.
    ready: bool
    games: int
    mean_length: float | None
    tree_size: float | None
    tree_size_low: float | None
    tree_size_high: float | None
    tree_size_of_means: float | None
    founding_tree_size: float | None
    plies: list[StudiedPly]


def routes() -> list[Route]:
    return page_routes("/study/{spec:path}", study)


async def study(request: Request) -> Page:
    game = find_game(request.path_params["spec"])
    try:
        found = site_of(request).studies.find(game.spec)
    except LookupError:
        raise TroubleError(
            503, "Too large for a page",
            f"This takes too long here; run `zermelo tree study {game.short_spec}`.",
        ) from None
    title = f"The tree of {game.short_spec}"
    if found is None:
        told = StudyPage(game.short_spec, False, 0, None, None, None, None, None, None, [])
        return Page(title, "study.html", told, status=202,
                    view={"reload": RELOAD_SECONDS, "lazy": True})  # fmt: skip
    made = Study(**{**found, "plies": [Ply(**ply) for ply in found["plies"]]})
    ours = game.spec == find_game(founding.SPEC).spec
    told = StudyPage(
        game.short_spec, True, made.games, made.mean_length, made.tree_size, made.tree_size_low,
        made.tree_size_high, made.tree_size_of_means, founding.TREE_SIZE if ours else None,
        [_ply(ply, ours) for ply in made.plies],
    )  # fmt: skip
    sampled = [ply for ply in told.plies if ply.branching is not None]
    chart = time_chart(
        "Moves by ply, mean of random games", [float(ply.ply) for ply in sampled],
        [Series("a pass being no move", [ply.branching_without_pass for ply in sampled], "first"),
         *([Series("founding document", [ply.founding_branching for ply in sampled], "second")]
           if ours else [])],
        write=lambda number: f"{number:g}", write_x=lambda ply: f"ply {ply:.0f}",
    )  # fmt: skip
    return Page(title, "study.html", told, told.plies, {
        "chart": chart, "founding_peak": founding.PEAK_PLY if ours else None,
        "peak": max(sampled, key=lambda ply: ply.branching_without_pass or 0.0, default=None),
    })  # fmt: skip


def _ply(ply: Ply, ours: bool) -> StudiedPly:
    lines = (1, *founding.LINES)
    there = lines[ply.ply + 1] / lines[ply.ply] if ours and ply.ply + 1 < len(lines) else None
    return StudiedPly(
        ply.ply, ply.positions, ply.branching, ply.branching_error, ply.branching_without_pass,
        there,
    )  # fmt: skip
