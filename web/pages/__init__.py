"""The pages, one module each; a module brings its routes."""

from __future__ import annotations

from importlib import import_module

from starlette.routing import Route

#: In the order in which they are tried: those below a campaign before the campaign itself.
MODULES = (
    "home", "theme", "machines", "volunteers", "login", "me", "operate", "statistics", "solved",
    "claims", "games", "play", "played", "theatre", "study", "position",
    "tree", "work", "certificate", "campaign",
)  # fmt: skip


def all_routes() -> list[Route]:
    return [route for name in MODULES for route in import_module(f"{__name__}.{name}").routes()]
