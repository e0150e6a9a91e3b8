"""What pages tell of volunteers and teams: credit, places, badges, and what they let be seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeVar

from psycopg.rows import class_row

from zermelo.proof.authors import leaves_by_user
from zermelo.research.replies import TeamRecord, VolunteerRecord
from zermelo.server.campaigns import find_campaign
from zermelo.server.database import Connection
from zermelo.sql import query
from zermelo.web.errors import Offer, TroubleError, nearest
from zermelo.web.library import Library

T = TypeVar("T")

MOST_VOLUNTEERS = 200
MOST_PROOFS = 20
MOST_HOSTS = 100
DAYS = 60
#: Of a larger tree nobody finds out for a page who stands in its certificate.
MOST_TREE_NODES = 50_000
AUTHORS_SECONDS = 86400.0
#: Credit that earns a badge, in millions of nodes, and what the badge is called.
LEVELS = (
    (1, "first million nodes"), (100, "hundred million nodes"), (1_000, "billion nodes"),
    (100_000, "hundred billion nodes"), (1_000_000, "trillion nodes"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Placed:
    """A volunteer, as everybody may see it: how many hosts there are is nobody's business."""

    #: From 1; 0 without credit.
    rank: int
    name: str
    team: str | None
    credit: float
    month_credit: float
    #: By day, with a half-life of a week.
    average_credit: float
    results: int


@dataclass(frozen=True, slots=True)
class Day:
    day: date
    credit: float
    results: int


@dataclass(frozen=True, slots=True)
class Proof:
    """A proved value to which a volunteer contributed."""

    campaign: str
    #: Answers that were accepted.
    results: int
    revision: int
    tree_nodes: int
    #: Leaves of the certificate that rest on a result of the volunteer; None where the tree is
    #: too large to find out for a page.
    leaves: int | None = None


@dataclass(frozen=True, slots=True)
class ShownHost:
    id: int
    name: str
    platform: str
    cores: int
    memory_mb: int
    workers: int
    speed: float
    seen_at: datetime
    credit: float


@dataclass(frozen=True, slots=True)
class Badge:
    label: str
    #: What it was given for, in words.
    reason: str
    href: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    volunteer: Placed
    created_at: datetime
    #: How many have credit.
    volunteers: int
    days: list[Day]
    badges: list[Badge]
    proofs: list[Proof]
    #: Empty unless the volunteer lets everybody see them.
    hosts: list[ShownHost]


@dataclass(frozen=True, slots=True)
class TeamProfile:
    team: TeamRecord
    members: list[Placed]


def records(connection: Connection, kind: type[T], asked: str, **parameters: Any) -> list[T]:
    """What a named query finds, as objects of a class with the same names."""
    with connection.cursor(row_factory=class_row(kind)) as cursor:
        return cursor.execute(query(asked), parameters).fetchall()


def leaderboard(
    connection: Connection, *, month: bool = False, team: str | None = None
) -> list[Placed]:
    found = records(
        connection, VolunteerRecord, "list_volunteers", name=None, team=team, month=month,
        most=MOST_VOLUNTEERS,
    )  # fmt: skip
    return [
        Placed(place, one.name, one.team, one.credit, one.month_credit, one.average_credit,
               one.results)
        for place, one in enumerate(found, 1)
    ]  # fmt: skip


def teams(connection: Connection, name: str | None = None) -> list[TeamRecord]:
    return records(connection, TeamRecord, "list_teams", name=name, most=MOST_VOLUNTEERS)


def team_profile(connection: Connection, name: str) -> TeamProfile:
    found = teams(connection, name)
    if not found:
        offers = nearest(name, [team.name for team in teams(connection)])
        raise TroubleError(404, "No such team", f"There is no team {name!r}.", [
            *(Offer(other, f"/teams/{other}") for other in offers), Offer("all teams", "/teams"),
        ])  # fmt: skip
    return TeamProfile(found[0], leaderboard(connection, team=name))


def profile(connection: Connection, name: str) -> Profile:
    """All of a profile but its badges."""
    found = records(
        connection, VolunteerRecord, "list_volunteers", name=name, team=None, month=False, most=1
    )
    if not found:
        offers = nearest(name, [one.name for one in leaderboard(connection)])
        raise TroubleError(404, "Nobody of this name", f"There is no volunteer {name!r}.", [
            *(Offer(other, f"/volunteers/{other}") for other in offers),
            Offer("all volunteers", "/volunteers"),
        ])  # fmt: skip
    one = found[0]
    more, all_of_them = connection.execute(
        query("place_of_volunteer"), {"name": name}
    ).fetchone() or (0, 0)
    proofs = records(connection, Proof, "proofs_of_volunteer", name=name, most=MOST_PROOFS)
    rank = more + 1 if one.credit else 0
    return Profile(
        Placed(rank, one.name, one.team, one.credit, one.month_credit, one.average_credit,
               one.results),
        one.created_at,
        all_of_them,
        every_day(records(connection, Day, "credit_of_days", name=name, days=DAYS)),
        [],
        proofs,
        records(connection, ShownHost, "shown_hosts", name=name, most=MOST_HOSTS),
    )


def every_day(found: Sequence[Day], today: date | None = None) -> list[Day]:
    """The last days one by one, also those without credit."""
    today = today or datetime.now(UTC).date()
    known = {each.day: each for each in found}
    days = [today - timedelta(back) for back in reversed(range(DAYS))]
    return [known.get(day, Day(day, 0.0, 0)) for day in days]


def badges(credit: float, proofs: Sequence[Proof]) -> list[Badge]:
    earned = [
        Badge(label, f"credit for {least:,} million nodes") for least, label in LEVELS
        if credit >= least
    ]  # fmt: skip
    for proof in proofs:
        if proof.leaves:
            leaves = "one leaf" if proof.leaves == 1 else f"{proof.leaves:,} leaves"
            earned.append(Badge(
                f"stands in the certificate of {proof.campaign}",
                f"{leaves} of it rest on results of this volunteer",
                f"/campaigns/{proof.campaign}/certificate",
            ))  # fmt: skip
        else:
            one = proof.results == 1
            answers, were = ("one answer", "was") if one else (f"{proof.results:,} answers", "were")
            earned.append(Badge(
                f"helped to solve {proof.campaign}",
                f"{answers} of this volunteer {were} accepted there",
                f"/campaigns/{proof.campaign}",
            ))  # fmt: skip
    return earned


async def find_profile(library: Library, name: str) -> Profile:
    """The profile of a volunteer, with the certificates in which the volunteer stands."""
    found = await library.read(lambda connection: profile(connection, name))
    proofs = [
        replace(proof, leaves=await _leaves(library, proof, name)) for proof in found.proofs
    ]
    return replace(found, proofs=proofs, badges=badges(found.volunteer.credit, proofs))


async def _leaves(library: Library, proof: Proof, name: str) -> int | None:
    if proof.tree_nodes > MOST_TREE_NODES:
        return None

    async def count() -> Counter[str]:
        return await library.read(
            lambda connection: leaves_by_user(connection, find_campaign(connection, proof.campaign))
        )

    # What is proved changes only with the revision.
    key = ("authors", proof.campaign, proof.revision)
    counts: Counter[str] = await library.keep(key, AUTHORS_SECONDS, count)
    return counts[name]
