"""Researchers' requests to a coordinator, answered from its database."""

from __future__ import annotations

from typing import Any

from psycopg import errors

from zermelo import ZermeloError
from zermelo.proto import limits
from zermelo.research.api import TreeCampaigns
from zermelo.research.queries import OF_ONE_CAMPAIGN, Asked
from zermelo.research.wire import from_request, to_reply
from zermelo.server.database import Connection


class TooLongError(ZermeloError):
    """The answer takes longer than the coordinator gives anybody."""


def reply_to(connection: Connection, request: Any) -> Any:
    """The reply to a researcher's request; a `ZermeloError` says why there is none."""
    limits.check(request)
    asked, arguments = from_request(request)
    try:
        campaigns = TreeCampaigns(connection)
        source: Asked = campaigns
        if asked in OF_ONE_CAMPAIGN:
            source = campaigns.campaign(request.campaign)
        return to_reply(asked, getattr(source, asked.name)(**arguments))
    except errors.QueryCanceled:
        raise TooLongError(
            "the answer takes the coordinator too long; ask for less (`query tree --depth`),"
            " or the database itself"
        ) from None
