"""Campaigns: creating, finding, steering and describing them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from psycopg.errors import NotNullViolation
from psycopg.rows import class_row

from zermelo import ZermeloError
from zermelo.games import Bounds, Game, open_game
from zermelo.server.database import Connection
from zermelo.server.definitions import learn_definition, store_definition
from zermelo.server.goals import Aim, ClaimAim, Goal
from zermelo.server.listening import notify
from zermelo.server.tree.identity import CampaignId, NodeId
from zermelo.server.tree.line import best_line
from zermelo.server.tree.tree import Tree
from zermelo.server.vocabulary import (
    CAMPAIGNS_LOCK,
    DEFAULT_REPLICATION,
    CampaignState,
    Channel,
    Replication,
)
from zermelo.sql import query

DEFAULT_PROBE_RATE = 0.002
#: Ids of campaigns have 16 bits, because every row of the large tables names one.
LAST_ID = 2**15 - 1


class CampaignError(ZermeloError):
    """A campaign cannot be used as asked; the message says why."""

    exit_code = 4


@dataclass(frozen=True, slots=True)
class Campaign:
    id: CampaignId
    name: str
    spec: str
    position: str | None
    goal: Goal
    state: CampaignState
    root: NodeId
    max_score: int
    threshold: int | None
    target_seconds: float
    node_budget: int | None
    replication: Replication
    quorum: int
    created_at: datetime
    finished_at: datetime | None
    claim_lo: int | None
    claim_hi: int | None
    #: The list of claims that it is of; empty for a campaign alone.
    list: str
    #: How much of the clients it gets compared with others.
    share: float
    #: Whether `create_campaign` has just made it.
    is_new: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "goal", Goal(self.goal))
        object.__setattr__(self, "state", CampaignState(self.state))
        object.__setattr__(self, "replication", Replication(self.replication))

    @property
    def game(self) -> Game[Any]:
        return open_game(self.spec)

    @property
    def claim(self) -> Bounds | None:
        """What somebody claims about the root, for campaigns that check just that."""
        if self.claim_lo is None or self.claim_hi is None:
            return None
        return Bounds(self.claim_lo, self.claim_hi)

    @property
    def aim(self) -> Aim:
        """When the campaign is finished, and what to ask until then."""
        return self.goal if self.claim is None else ClaimAim(self.claim)

    @property
    def start(self) -> Any:
        """The position whose value is to be proved."""
        return start_position(self.game, self.position)


def start_position(game: Game[Any], position: str | None) -> Any:
    return game.initial() if position is None else game.parse(position)


def create_campaign(
    connection: Connection,
    spec: str,
    *,
    position: str | None = None,
    name: str | None = None,
    goal: str = Goal.SCORE,
    target_seconds: float | None = None,
    node_budget: int | None = None,
    replication: str = DEFAULT_REPLICATION,
    quorum: int = 1,
    probe_rate: float = DEFAULT_PROBE_RATE,
    claim: Bounds | None = None,
    claim_list: str = "",
    share: float = 1.0,
) -> Campaign:
    """The campaign of this name, made if there is none.

    `CampaignError` when there is one of another game or goal.
    """
    game = open_game(spec)
    start = start_position(game, position)
    position = None if position is None else game.format(start)
    name = name or (game.short_spec if position is None else f"{game.short_spec} {position}")
    with connection.transaction(), clear_limit():
        connection.execute(query("lock_transaction"), (CAMPAIGNS_LOCK,))
        store_definition(connection, game)
        row = connection.execute(
            query("insert_campaign"),
            {
                "name": name,
                "spec": game.spec,
                "position": position,
                "goal": Goal(goal),
                "max_score": game.max_score,
                "target_seconds": target_seconds or game.target_seconds,
                "node_budget": node_budget,
                "replication": Replication(replication),
                "quorum": quorum,
                "probe_rate": probe_rate,
                "claim_lo": None if claim is None else claim.lo,
                "claim_hi": None if claim is None else claim.hi,
                "list": claim_list,
                "share": share,
                "last_id": LAST_ID,
            },
        ).fetchone()
        if row is not None:
            (campaign,) = row
            connection.execute(query("insert_totals"), {"campaign": campaign})
            root = Tree(connection, campaign, game).plant(start)
            connection.execute(query("set_root"), {"campaign": campaign, "root": root})
            notify(connection, Channel.CAMPAIGNS, campaign)
    found = find_campaign(connection, name)
    if (found.spec, found.position, found.goal, found.claim) != (
        game.spec, position, goal, claim
    ):
        raise CampaignError(
            f"campaign {name!r} exists already, for the {found.goal} of"
            f" {found.position or 'the initial position'} in {found.spec}; choose another --name"
        )
    return replace(found, is_new=row is not None)


@contextmanager
def clear_limit() -> Iterator[None]:
    """That there is no id left for a campaign is a `CampaignError`."""
    try:
        yield
    except NotNullViolation as error:
        if error.diag.column_name != "id":
            raise
        raise CampaignError(
            f"there are {LAST_ID} campaigns, and no more can be made; drop some that have ended"
            " (`zermelo campaign drop`)"
        ) from None


def find_campaign(connection: Connection, name: str) -> Campaign:
    with connection.cursor(row_factory=class_row(Campaign)) as cursor:
        found = cursor.execute(query("find_campaign"), (name,)).fetchone()
    if found is None:
        names = ", ".join(campaign.name for campaign in list_campaigns(connection))
        raise CampaignError(f"no campaign {name!r}; there are: {names or 'none'}")
    return _playable(connection, [found])[0]


def list_campaigns(connection: Connection) -> list[Campaign]:
    with connection.cursor(row_factory=class_row(Campaign)) as cursor:
        return _playable(connection, cursor.execute(query("list_campaigns")).fetchall())


def running_campaigns(connection: Connection) -> list[Campaign]:
    with connection.cursor(row_factory=class_row(Campaign)) as cursor:
        return _playable(connection, cursor.execute(query("running_campaigns")).fetchall())


def load_campaigns(connection: Connection, ids: Iterable[CampaignId]) -> list[Campaign]:
    """Those of these campaigns that run."""
    with connection.cursor(row_factory=class_row(Campaign)) as cursor:
        found = cursor.execute(query("load_campaigns"), (list(ids),)).fetchall()
    return _playable(connection, found)


def set_share(connection: Connection, name: str, share: float) -> int:
    """Change how much of the clients a campaign, or each of a list, gets; how many these are."""
    with connection.transaction():
        changed = connection.execute(query("set_share"), {"name": name, "share": share}).rowcount
        if not changed:
            find_campaign(connection, name)  # says which there are
        notify(connection, Channel.CAMPAIGNS)
    return changed


def waiting_campaigns(connection: Connection) -> list[Campaign]:
    """The campaigns that have something to assimilate."""
    with connection.cursor(row_factory=class_row(Campaign)) as cursor:
        return _playable(connection, cursor.execute(query("waiting_campaigns")).fetchall())


def _playable(connection: Connection, campaigns: list[Campaign]) -> list[Campaign]:
    """The same campaigns, the definitions of their games known to this process."""
    for campaign in campaigns:
        learn_definition(connection, campaign.spec)
    return campaigns


def steer_campaign(connection: Connection, campaign: Campaign, state: CampaignState) -> None:
    """Pause, resume or cancel a campaign; `CampaignError` when it has ended."""
    with connection.transaction():
        row = connection.execute(
            query("steer_campaign"), {"campaign": campaign.id, "state": state}
        ).fetchone()
        if row is None:
            ended = find_campaign(connection, campaign.name).state
            raise CampaignError(f"campaign {campaign.name!r} is {ended} already")
        if state == CampaignState.CANCELLED:
            connection.execute(query("withdraw_campaign"), {"campaign": campaign.id})
        notify(connection, Channel.CAMPAIGNS, campaign.id)


@dataclass(frozen=True, slots=True)
class Summary:
    """Where a campaign stands: what the live view, `campaign show` and programs print."""

    campaign: str
    game: str
    goal: str
    state: str
    threshold: int | None
    bounds: tuple[int, int]
    value: int | None
    outcome: str | None
    line: list[str]
    tree_nodes: int
    workunits: int
    answered: int
    splits: int
    withdrawn: int
    ready: int
    leased: int
    returned: int
    nodes: int
    wasted_nodes: int
    split_nodes: int
    engine_seconds: float
    open_questions: int
    remaining: float | None
    remaining_factor: float | None
    alarms: int
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def campaign_summary(connection: Connection, name: str) -> Summary:
    campaign = find_campaign(connection, name)
    tree = Tree(connection, campaign.id, campaign.game)
    (root,) = tree.load([campaign.root])
    found = standings(connection, campaign=campaign.id)
    if not found:
        raise CampaignError(f"campaign {name!r} has no totals; run `zermelo db check`")
    line = best_line(tree, campaign.start, root)
    names = tree.game.line_names([each.move for each in line.moves])
    return replace(found[0], line=names)


def standings(
    connection: Connection, most: int = 1, skip: int = 0, *, campaign: CampaignId | None = None
) -> list[Summary]:
    """Where campaigns stand, without their best lines, in one statement however many they are."""
    rows = connection.execute(
        query("campaign_standings"), {"campaign": campaign, "most": most, "skip": skip}
    )
    found = rows.fetchall()
    for _, spec, *_ in found:
        learn_definition(connection, spec)
    return [_summary(*row) for row in found]


def _summary(
    name: str, spec: str, goal: str, state: str, threshold: int | None, lo: int, hi: int,
    *counts: Any,
) -> Summary:  # fmt: skip
    bounds = Bounds(lo, hi)
    value = lo if bounds.exact else None
    return Summary(
        name, open_game(spec).short_spec, goal, state, threshold, (lo, hi), value,
        outcome_in_words(bounds), [], *counts,
    )  # fmt: skip


def outcome_in_words(bounds: Bounds) -> str | None:
    """Who wins under perfect play, as far as the bounds of the root tell."""
    if bounds.lo > 0:
        return "the first player wins"
    if bounds.hi < 0:
        return "the second player wins"
    return "draw" if bounds.exact else None
