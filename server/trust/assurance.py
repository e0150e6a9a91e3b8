"""Whether somebody trusted stands behind everything that a campaign's value rests on.

While a project is young, strangers who agree are believed, so that work goes on; all of them may be
accounts of one person. So before a campaign ends, each answer of its proof that has no trusted
user's word and not the referee's is asked once more. Until `FEW_TRUSTED` users are trusted
only the referee's word counts: the first to be trusted may have confirmed each other.
"""

from __future__ import annotations

from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection
from zermelo.server.listening import notify
from zermelo.server.trust import records
from zermelo.server.trust.provenance import proof_of_root
from zermelo.server.vocabulary import Channel, Replication
from zermelo.sql import query

#: As long as fewer users than this are trusted, what strangers say is searched by the referee.
FEW_TRUSTED = 12


def assure(connection: Connection, campaign: Campaign) -> int:
    """Ask again what the root rests on without anybody's word that counts; how many questions.

    None where answers are not compared, and where there is nobody whose word would count. The
    caller holds the tree lock of the campaign in the running transaction.
    """
    if campaign.replication is not Replication.ADAPTIVE:
        return 0
    _, _, trusted, refereed = records.count_users(connection)
    if trusted < FEW_TRUSTED and not refereed:
        return 0
    asked = connection.execute(
        query("ask_unassured"),
        {
            "results": proof_of_root(connection, campaign),
            "trusted_after": records.TRUSTED_AFTER, "of_users": trusted >= FEW_TRUSTED,
        },
    ).rowcount  # fmt: skip
    if asked:
        notify(connection, Channel.READY, campaign.id)
    return asked
