"""Lists of claims about positions, published elsewhere: one sub-campaign checks each.

Two formats are read, whichever a line is in. Lines that begin with # or % are skipped,
but for one that tells the game::

    # game: reversi:8x8
    POSITION, LOWER, UPPER          CSV; an empty bound claims nothing on that side
    POSITION; LOWER; UPPER          OBF, the position as in suites
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg.rows import class_row

from zermelo import ZermeloError
from zermelo.games import Bounds, Game, GameError, open_game
from zermelo.games.foreign_files import read_lines
from zermelo.server.campaigns import Campaign, create_campaign
from zermelo.server.database import Connection
from zermelo.server.goals import ClaimAim
from zermelo.sql import query

_COMMENTS = ("#", "%")
_HEADINGS = ("position", "lower", "upper")
_GAME = re.compile(r"[#%]\s*game:\s*(\S+)\s*", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?[0-9]{1,4}", re.ASCII)
MOST_CLAIMS = 20_000


class ClaimError(ZermeloError, ValueError):
    """A list of claims cannot be read; the message says which line and why."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Claim:
    #: As the game writes it.
    position: str
    bounds: Bounds


def read_claims(path: Path, game: Game[Any] | None = None) -> tuple[Game[Any], list[Claim]]:
    """The game and the claims of a file, in its order; none may be told twice.

    Without `game` the file itself must tell it.
    """
    try:
        lines = read_lines(path)
    except OSError as error:
        raise ClaimError(f"cannot read {str(path)!r}: {error.strerror}") from None
    told = next((found[1] for line in lines if (found := _GAME.fullmatch(line.strip()))), None)
    if game is None:
        if told is None:
            raise ClaimError(
                f"{str(path)!r} does not name its game; give --game or a line"
                " '# game: SPEC'"
            )
        game = open_game(told)
    elif told is not None and open_game(told) != game:
        raise ClaimError(f"{str(path)!r} is about {told}, not about {game.short_spec}")
    claims: dict[str, Claim] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith(_COMMENTS):
            continue
        try:
            fields = _fields(line)
            if tuple(field.lower() for field in fields) == _HEADINGS:
                continue
            if len(claims) == MOST_CLAIMS:
                raise ClaimError(f"more than {MOST_CLAIMS} claims; make several lists of them")
            claim = _read_claim(game, fields)
            if claim.position in claims:
                raise ClaimError("the position is in an earlier line already")
        except (GameError, ClaimError) as error:
            raise ClaimError(f"{str(path)!r}, line {number}: {error}") from None
        claims[claim.position] = claim
    if not claims:
        raise ClaimError(f"{str(path)!r} has no claims; write POSITION,LOWER,UPPER a line")
    return game, list(claims.values())


def import_claims(
    connection: Connection, game: Game[Any], name: str, claims: list[Claim], **options: Any
) -> list[Campaign]:
    """A campaign for each claim, called ``NAME/1``, ``NAME/2``, ...: all or none."""
    width = len(str(len(claims)))
    with connection.transaction():
        return [
            create_campaign(
                connection, game.spec, name=f"{name}/{number:0{width}}",
                position=claim.position, claim=claim.bounds, claim_list=name, **options,
            )
            for number, claim in enumerate(claims, 1)
        ]


@dataclass(frozen=True, slots=True)
class ImportedClaim:
    """A claim that is checked, and how far that is."""

    campaign: str
    spec: str
    position: str | None
    #: What was claimed about the score, and what is proved about it.
    lower: int
    upper: int
    lo: int
    hi: int
    #: Searched so far, and the estimate of what is left; None where there is none yet.
    nodes: int
    remaining: float | None

    @property
    def holds(self) -> bool | None:
        """Whether the claim is right; None while that is open."""
        return ClaimAim(Bounds(self.lower, self.upper)).holds(Bounds(self.lo, self.hi))


def imported_claims(
    connection: Connection, name: str, most: int, skip: int
) -> list[ImportedClaim]:
    """The claims that were imported under a name, in the order of their list."""
    with connection.cursor(row_factory=class_row(ImportedClaim)) as cursor:
        return cursor.execute(
            query("imported_claims"), {"name": name, "most": most, "skip": skip}
        ).fetchall()


def _fields(line: str) -> list[str]:
    if ";" in line:
        return [field.strip() for field in line.strip().rstrip(";").split(";")]
    try:
        (row,) = csv.reader([line], skipinitialspace=True)
    except csv.Error as error:
        raise ClaimError(f"no line of CSV: {error}") from None
    return [field.strip() for field in row]


def _read_claim(game: Game[Any], fields: list[str]) -> Claim:
    if len(fields) != len(_HEADINGS):
        raise ClaimError(f"{len(fields)} fields; write POSITION,LOWER,UPPER")
    position, *numbers = fields
    lower, upper = (
        _number(text, default) for text, default in
        zip(numbers, (-game.max_score, game.max_score), strict=True)
    )
    if not -game.max_score <= lower <= upper <= game.max_score:
        raise ClaimError(
            f"bounds {lower}..{upper}; they must lie within"
            f" {-game.max_score}..{game.max_score}, the lower one first"
        )
    if Bounds(lower, upper) == game.score_range:
        raise ClaimError("the claim says nothing: every score lies within these bounds")
    return Claim(game.format(game.parse(position)), Bounds(lower, upper))


def _number(text: str, default: int) -> int:
    if not text:
        return default
    if not _NUMBER.fullmatch(text):
        raise ClaimError(f"{text!r} is no bound; write a whole number, or nothing")
    return int(text)
