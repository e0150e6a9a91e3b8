"""The Python API: `zermelo.open(...)` and what can be asked then."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, closing
from pathlib import Path
from typing import Any, TypeVar

from psycopg.rows import class_row

from zermelo.games import Bounds, Game, open_game
from zermelo.research import replies
from zermelo.research.queries import MOST_ROWS, Campaigns, Query
from zermelo.research.tree_queries import TreeQueries, one_state
from zermelo.server.campaigns import (
    CampaignError,
    Summary,
    find_campaign,
    list_campaigns,
    standings,
)
from zermelo.server.claims import ImportedClaim, imported_claims
from zermelo.server.database import Connection, check_schema, connect_once
from zermelo.server.embedded import default_data_dir, embedded_database
from zermelo.sql import query as named_query

T = TypeVar("T")
_STATES = {True: "confirmed", False: "refuted", None: "open"}


class TreeCampaigns(Campaigns):
    """The campaigns of a database, which somebody else opens and closes."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def close(self) -> None:
        """The connection is its owner's."""

    def one_state(self) -> AbstractContextManager[None]:
        """All that is asked inside is answered from one state of the database."""
        return one_state(self._connection)

    def finished_campaign(self, game: Game[Any]) -> str:
        """A finished campaign from the start of a game; empty if there is none."""
        with self.one_state():
            asked = self._connection.execute(named_query("finished_campaign"), (game.spec,))
            row = asked.fetchone()
        return "" if row is None else str(row[0])

    def campaign(self, name: str) -> TreeQueries:
        with one_state(self._connection):
            return TreeQueries(self._connection, find_campaign(self._connection, name))

    def _ask(self, asked: Query, arguments: dict[str, Any]) -> Any:
        with one_state(self._connection):
            return getattr(self, f"_{asked.name}")(**arguments)

    def _campaigns(self) -> list[str]:
        return [campaign.name for campaign in list_campaigns(self._connection)]

    def _some_standings(self, most: int, skip: int) -> list[Summary]:
        return standings(self._connection, most, skip)

    def _some_claims(self, name: str, most: int, skip: int) -> list[replies.ClaimReport]:
        return [_report(claim) for claim in self._imported(name, most, skip)]

    def _teams(self, most: int) -> list[replies.TeamRecord]:
        return self._records(replies.TeamRecord, "list_teams", most=most, name=None)

    def _volunteers(self, most: int) -> list[replies.VolunteerRecord]:
        return self._records(
            replies.VolunteerRecord, "list_volunteers", most=most, name=None, team=None, month=False
        )

    def _records(self, kind: type[T], asked: str, **parameters: Any) -> list[T]:
        with self._connection.cursor(row_factory=class_row(kind)) as cursor:
            return cursor.execute(named_query(asked), parameters).fetchall()

    def _claim_totals(self, name: str) -> replies.ClaimTotals:
        claims: list[ImportedClaim] = []
        while len(page := self._imported(name, MOST_ROWS, len(claims))) == MOST_ROWS:
            claims += page
        claims += page
        states = [_STATES[claim.holds] for claim in claims]
        estimates = [claim.remaining for claim in claims if claim.holds is None]
        return replies.ClaimTotals(
            claims=len(claims),
            confirmed=states.count("confirmed"),
            refuted=states.count("refuted"),
            open=states.count("open"),
            nodes=sum(claim.nodes for claim in claims),
            remaining=float(sum(estimate or 0.0 for estimate in estimates)),
            without_estimate=estimates.count(None),
        )

    def _imported(self, name: str, most: int, skip: int) -> list[ImportedClaim]:
        found = imported_claims(self._connection, name, most, skip)
        if not found and not skip:
            raise CampaignError(f"no claims were imported under the name {name!r}")
        return found


class Database(TreeCampaigns):
    """An open database of campaigns."""

    def __init__(self, url: str | None = None, data_dir: Path | None = None) -> None:
        with ExitStack() as stack:
            if url is None:
                url = stack.enter_context(embedded_database(data_dir or default_data_dir()))
            # Only closed at the end: its own context would also commit, which there is nothing for,
            # and fail where the database has gone away in the middle of a reading.
            connection = stack.enter_context(closing(connect_once(url)))
            check_schema(connection)
            self._stack = stack.pop_all()
        super().__init__(connection)

    def close(self) -> None:
        self._stack.close()


def _report(claim: ImportedClaim) -> replies.ClaimReport:
    game = open_game(claim.spec)
    rules = game.score_range
    return replies.ClaimReport(
        claim.campaign, claim.position or game.format(game.initial()), claim.lower, claim.upper,
        replies.Worth.of(Bounds(claim.lo, claim.hi), rules), _STATES[claim.holds],
    )
