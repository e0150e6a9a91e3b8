"""Certificates of definitions: the plain check and solver, on the checker's own rules."""

from __future__ import annotations

from zermelo.checker.certificate import CertificateError
from zermelo.checker.definition.game import CheckedDefinition
from zermelo.checker.plain import PlainChecker
from zermelo.games import Game


def open_definition_checker(game: Game[object]) -> PlainChecker:
    """Checking by the rules that made the proof would check nothing."""
    if not isinstance(game, CheckedDefinition):
        raise CertificateError(
            f"{game.short_spec} is a definition; only the checker's own reading of its text can"
            " check certificates of it"
        )
    return PlainChecker(game)
