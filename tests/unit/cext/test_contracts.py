"""Every search that takes a window says what its result means outside of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import zermelo

SOURCE = Path(zermelo.__file__).parent
FILES = [
    path
    for folder in ("cext", "checker")
    for path in sorted((SOURCE / folder).glob("*.[hp]*"))
    if path.suffix in (".h", ".pxi", ".pyx")
]
#: Parameters may stand on several lines.
CYTHON = re.compile(
    r'^ *c?p?def [^\n(]*?(\w+)\(([^)]*)\)[^:\n]*:\n( *"""(?P<said>.*?)""")?',
    re.DOTALL | re.MULTILINE,
)
C = re.compile(
    r"(/\*(?P<said>(?:(?!\*/).)*)\*/\n)?^(?:\w+ )*static [^\n(;]*?(\w+)\(([^)]*)\)\s*\{",
    re.DOTALL | re.MULTILINE,
)
SAYS = re.compile(r"[Ff]ail-(soft|hard)|(lower|upper) bound")


def searches(path: Path) -> list[tuple[str, str]]:
    """The functions of a file that take alpha, each with what is said above it."""
    text = path.read_text()
    if path.suffix == ".h":
        found = [(m[3], m[4], m["said"] or "") for m in C.finditer(text)]
    else:
        found = [(m[1], m[2], m["said"] or "") for m in CYTHON.finditer(text)]
    return [(name, said) for name, parameters, said in found if re.search(r"\balpha\b", parameters)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_search_states_its_contract(path: Path) -> None:
    silent = [name for name, said in searches(path) if not SAYS.search(said)]
    assert not silent, f"{path.name}: what do results outside the window of {silent} mean?"


def test_the_searches_are_found() -> None:
    found = {name for path in FILES for name, _ in searches(path)}
    assert found >= {
        "solve_2", "solve_3", "solve_4", "solve_few", "search_middle", "search_upper",
        "search_below", "search_estimate", "book_alphabeta", "book_negamax", "book_mtdf",
        "run_textbook", "run", "textbook", "search_few", "search_steps", "search", "look_ahead",
    }
