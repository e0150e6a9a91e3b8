"""The Python API: `zermelo.open(...)` and what can be asked then."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from zermelo.games import Bounds
from zermelo.research import answers
from zermelo.research.questions import Campaigns
from zermelo.research.tree_questions import TreeQuestions
from zermelo.server.campaigns import Campaign, CampaignError, find_campaign, list_campaigns
from zermelo.server.claims import imported_campaigns
from zermelo.server.database import Connection, check_schema, connect_once
from zermelo.server.embedded import default_data_dir, embedded_database
from zermelo.server.planning.planner import ClaimAim
from zermelo.sql import query

_VERDICTS = {True: "confirmed", False: "refuted", None: "open"}


class Database(Campaigns):
    """An open database of campaigns."""

    def __init__(self, url: str | None = None, data_dir: Path | None = None) -> None:
        with ExitStack() as stack:
            if url is None:
                url = stack.enter_context(embedded_database(data_dir or default_data_dir()))
            self._connection = stack.enter_context(connect_once(url))
            check_schema(self._connection)
            self._stack = stack.pop_all()

    def close(self) -> None:
        self._stack.close()

    def campaigns(self) -> list[str]:
        return campaign_names(self._connection)

    def claims(self, name: str) -> list[answers.ClaimReport]:
        return claims_of(self._connection, name)

    def campaign(self, name: str) -> TreeQuestions:
        return TreeQuestions(self._connection, find_campaign(self._connection, name))


def campaign_names(connection: Connection) -> list[str]:
    return [campaign.name for campaign in list_campaigns(connection)]


def claims_of(
    connection: Connection, name: str, skip: int = 0, most: int | None = None
) -> list[answers.ClaimReport]:
    """The claims that were imported under this name, or some of them."""
    imported = imported_campaigns(connection, name)
    if not imported:
        raise CampaignError(f"no claims were imported under the name {name!r}")
    page = imported[skip : None if most is None else skip + most]
    rows = connection.execute(query("bounds_of_nodes"), ([campaign.root for campaign in page],))
    bounds = {node: Bounds(lo, hi) for node, lo, hi in rows}
    return [_report(campaign, bounds[campaign.root]) for campaign in page]


def _report(campaign: Campaign, bounds: Bounds) -> answers.ClaimReport:
    game = campaign.game
    claim = campaign.claim or game.score_range
    return answers.ClaimReport(
        campaign.name, game.format(campaign.start), claim.lo, claim.hi,
        answers.Worth.of(bounds, game.score_range), _VERDICTS[ClaimAim(claim).verdict(bounds)],
    )
