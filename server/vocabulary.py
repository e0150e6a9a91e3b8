"""The words that PostgreSQL and the services share: states, channels and locks.

A test compares the states with the enums of the schema, and channels and locks with the
queries. `Goal` (goals.py) and `Role` (trust/accounts.py) are enums of the schema, too.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum


class CampaignState(StrEnum):
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    CANCELLED = "cancelled"


class Replication(StrEnum):
    """How many users must give the same answer before it is believed."""

    #: Every sound answer is believed.
    NONE = "none"
    #: New hosts are checked by a second user, trusted ones at random.
    ADAPTIVE = "adaptive"
    #: A fixed number of users must agree on every answer.
    QUORUM = "quorum"


#: For campaigns that do not say: volunteers are strangers until they have earned trust.
DEFAULT_REPLICATION = Replication.ADAPTIVE


class WorkunitState(StrEnum):
    """sql/schema.sql says which service moves a workunit into which state."""

    READY = "ready"
    LEASED = "leased"
    RETURNED = "returned"
    ANSWERED = "answered"
    EXHAUSTED = "exhausted"
    SPLIT = "split"
    WITHDRAWN = "withdrawn"


#: A question with a workunit in one of these states is not asked by another one. Queries write
#: {open_states} for the same set.
OPEN_WORKUNITS = (
    WorkunitState.READY, WorkunitState.LEASED, WorkunitState.RETURNED, WorkunitState.EXHAUSTED,
)  # fmt: skip


class LeaseState(StrEnum):
    OPEN = "open"
    RETURNED = "returned"
    EXPIRED = "expired"
    ABANDONED = "abandoned"
    CANCELLED = "cancelled"


class Answer(StrEnum):
    """What a result says to its question."""

    YES = "yes"
    NO = "no"
    #: The node budget did not suffice to tell.
    EXHAUSTED = "exhausted"


class ResultState(StrEnum):
    """sql/schema.sql says which service moves a result into which state."""

    PENDING = "pending"
    UNCONFIRMED = "unconfirmed"
    VALID = "valid"
    ASSIMILATED = "assimilated"
    DOUBTED = "doubted"
    RETRACTED = "retracted"
    INVALID = "invalid"
    QUARANTINED = "quarantined"


class AlarmKind(StrEnum):
    CONTRADICTION = "contradiction"


class Channel(StrEnum):
    """Channels of NOTIFY. The payload is the id of a campaign, or empty for all of them."""

    #: Workunits became ready: the coordinators hand them out.
    READY = "zermelo_ready"
    #: Coordinators have fewer workunits than clients want: the generator asks more.
    WANTED = "zermelo_wanted"
    #: Results came in: the validator judges them.
    RESULTS = "zermelo_results"
    #: Results were judged: the assimilator puts them into the tree.
    VALID = "zermelo_valid"
    #: Bounds changed: the generator plans anew.
    TREE = "zermelo_tree"
    #: A campaign was created, finished, paused, resumed, cancelled or given another share.
    CAMPAIGNS = "zermelo_campaigns"
    #: Accounts, hosts or quotas changed: coordinators forget what they know of them.
    ACCOUNTS = "zermelo_accounts"


class Lock(IntEnum):
    """The first half of an advisory lock; the second half is the id of a campaign."""

    #: Whoever writes the tree of a campaign, for a transaction.
    TREE = 1
    #: The generator that plans a campaign, as long as its connection lives.
    GENERATOR = 2
    #: The assimilator that serves a campaign, as long as its connection lives.
    ASSIMILATOR = 3
    #: The referee, one for all campaigns (the second half is 0), as long as its connection lives.
    REFEREE = 4


#: Whoever changes the schema, for a transaction; a lock of one half.
SCHEMA_LOCK = 0x7A65726D656C6F
#: Whoever creates campaigns, for a transaction: two of them must not choose the same id.
CAMPAIGNS_LOCK = SCHEMA_LOCK + 1
