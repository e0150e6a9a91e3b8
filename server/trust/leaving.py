"""The end of an account.

Results and credit refer to it, so its row stays, without a name that anybody chose: the sums of
the project and the provenance of bounds do not change. What the audit says of it stays, too.
"""

from __future__ import annotations

from zermelo.server.database import Connection
from zermelo.server.trust.accounts import DELETED, UserId, forget_accounts
from zermelo.server.trust.audit import record
from zermelo.server.trust.looks import look_of
from zermelo.server.trust.teams import leave_team
from zermelo.sql import query


def delete_account(connection: Connection, user: UserId, *, reason: str = "", actor: str) -> str:
    """End an account for good; what it is called from now on."""
    name = f"{DELETED}-{user}"
    with connection.transaction():
        leave_team(connection, user)
        hosts = [row[0] for row in connection.execute(query("hosts_of_user"), {"user": user})]
        connection.execute(query("end_leases_of"), {"hosts": hosts})
        for statement in ("delete_tokens", "delete_sign_ins", "delete_consents", "forget_hosts"):
            connection.execute(query(statement), {"user": user})
        connection.execute(
            query("forget_user"), {"user": user, "name": name, "look": look_of(name)}
        )
        # By its number: the name is no longer anybody's.
        record(connection, actor, "delete account", f"user {name}", reason)
        forget_accounts(connection)
    return name
