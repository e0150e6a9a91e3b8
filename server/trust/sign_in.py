"""Ways to a token for who shows none: a link that signs in once, and the secret of an account.

Each secret is 256 random bits, told once and kept as its digest. A link's code is worthless after
its first use and after some minutes, so that a browser's history holds nothing of value; the
session that it gives ends by itself.
"""

from __future__ import annotations

import hmac
from typing import NamedTuple

from zermelo.server.database import Connection
from zermelo.server.trust.accounts import (
    AccountError,
    UserId,
    digest_of,
    forget_accounts,
    new_secret,
    token_of,
)
from zermelo.server.trust.audit import record
from zermelo.sql import query

LINK_SECONDS = 600
SESSION_SECONDS = 30 * 86400
WEB = "web"


class Session(NamedTuple):
    token: str
    name: str
    role: str


def open_sign_in(connection: Connection, user: UserId) -> str:
    """The code of a link that signs a user in once."""
    code = token_of(new_secret())
    connection.execute(
        query("open_sign_in"), {"digest": digest_of(code), "user": user, "seconds": LINK_SECONDS}
    )
    return code


def sign_in(connection: Connection, code: str) -> Session:
    """A session for the code of a link; `AccountError` when it was used or is too old."""
    with connection.transaction():
        row = connection.execute(query("use_sign_in"), {"digest": digest_of(code)}).fetchone()
        if row is None:
            raise AccountError(
                "this link was used already or is too old; `zermelo client open` makes another"
            )
        user, name, role = row
        token = token_of(new_secret())
        connection.execute(
            query("add_session"),
            {
                "digest": digest_of(token), "user": user, "purpose": WEB,
                "seconds": SESSION_SECONDS,
            },
        )  # fmt: skip
    return Session(token, name, role)


def sign_out(connection: Connection, user: UserId, token: str) -> bool:
    """End a session of this user; whether there was one."""
    with connection.transaction():
        ended = connection.execute(
            query("end_session"), {"digest": digest_of(token), "user": user, "purpose": WEB}
        ).fetchone()
        if ended:
            forget_accounts(connection)
    return ended is not None


def new_recovery_code(connection: Connection, user: UserId, name: str) -> str:
    """The secret of an account; the former one is worthless."""
    code = token_of(new_secret())
    with connection.transaction():
        connection.execute(
            query("set_recovery_code"), {"user": user, "digest": digest_of(code)}
        )
        record(connection, name, "set recovery code", f"user {name}")
    return code


def recover(connection: Connection, name: str, code: str, *, revoke_others: bool) -> str:
    """A new token for who knows the secret of an account."""
    with connection.transaction():
        row = connection.execute(query("find_recovery"), {"name": name}).fetchone()
        # Compared also without an account, so that the time tells nobody which names there are.
        digest = row[2] if row else bytes(32)
        if not hmac.compare_digest(digest, digest_of(code)) or row is None:
            raise AccountError("there is no account of this name with this recovery code")
        user = row[0]
        if revoke_others:
            connection.execute(query("revoke_tokens"), {"user": user})
        token = token_of(new_secret())
        connection.execute(query("add_token"), {"digest": digest_of(token), "user": user})
        record(connection, name, "recover token", f"user {name}",
               "the others were revoked" if revoke_others else "")
        forget_accounts(connection)
    return token
