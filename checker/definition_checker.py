"""Certificates of definitions: refused until the checker has a grounder and rules of its own."""

from __future__ import annotations

from typing import NoReturn

from zermelo.checker.certificate import CertificateError
from zermelo.games import Game


def refuse_definition(game: Game[object]) -> NoReturn:
    """Checking by the rules that made the proof would check nothing."""
    raise CertificateError(
        f"{game.short_spec} is a definition; the checker has no rules of its own for definitions"
        " yet, so that it cannot verify certificates of them"
    )
