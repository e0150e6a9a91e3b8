"""Why a host gets no work, in words that its owner understands."""

from __future__ import annotations

from enum import Enum

#: A search is overdue OVERDUE_SECONDS and OVERDUE_TARGETS times the campaign's target after its
#: lease began; such a lease counts as OVERDUE_WEIGHT of them in the quota of a user.
OVERDUE_SECONDS, OVERDUE_TARGETS = 10.0, 1.5
OVERDUE_WEIGHT = 8


class Shortage(Enum):
    """Why a call gets no work; the value is the sentence for people."""

    STOPPING = "this coordinator is going down"
    HOST_RESTS = (
        "this host gave a bad answer and gets no work for a while; `zermelo client hosts` says"
        " until when"
    )
    HOST_QUOTA = "this host has as many workunits as it may; accepted results raise the number"
    USER_QUOTA = (
        "all hosts of this account together have as many workunits as they may; accepted results"
        " raise the number"
    )
    OTHERS_ASKED = "what is left waits for the answers of other users"
    ALL_LEASED = "everything worth asking is being worked on already"
    PAUSED = "the campaigns are paused"
    NO_CAMPAIGN = "no campaign is open"
