"""Accounts: who may call, as what, and the tokens that prove it.

A token is 256 random bits. It is shown once; the database holds its SHA-256 digest, which
is as good as a slow hash because there is nothing to guess.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import unicodedata
from enum import StrEnum
from typing import NamedTuple

from zermelo import ZermeloError
from zermelo.server.database import Connection
from zermelo.server.listening import notify
from zermelo.server.trust.audit import record
from zermelo.server.trust.looks import look_of
from zermelo.server.vocabulary import Channel
from zermelo.sql import query

UserId = int

TOKEN_BYTES = 32
#: Of 32 random bytes fewer are different once in 10^13 times.
FEWEST_BYTE_VALUES = 18
LONGEST_NAME = 40
#: Names that begin so are given to volunteers who want none.
ANONYMOUS = "anonymous"
#: ... and these to accounts that are no more.
DELETED = "deleted"
#: Names that only operators give: whoever had one would be taken for somebody in charge.
RESERVED = (
    "admin", "administrator", "assimilator", "coordinator", "generator", "moderator", "official",
    "operator", "researcher", "root", "security", "staff", "support", "system", "validator",
    "zermelo",
)  # fmt: skip
_RESERVED_LOOKS = frozenset(map(look_of, RESERVED))


class Role(StrEnum):
    VOLUNTEER = "volunteer"
    OPERATOR = "operator"
    RESEARCHER = "researcher"


class Account(NamedTuple):
    """The account behind a call."""

    user: UserId
    role: Role
    name: str
    banned: bool
    #: Why it is banned, as the operators said.
    ban_reason: str = ""


class AccountError(ZermeloError, ValueError):
    """An account cannot be used as asked; the message says why."""

    exit_code = 2


def new_secret() -> bytes:
    return secrets.token_bytes(TOKEN_BYTES)


def checked_secret(secret: bytes) -> bytes:
    """A secret that a client chose, unless it is so regular that it was not drawn at random."""
    if len(secret) != TOKEN_BYTES or len(set(secret)) < FEWEST_BYTE_VALUES:
        raise AccountError(f"the secret must be {TOKEN_BYTES} random bytes, and is not random")
    return secret


def token_of(secret: bytes) -> str:
    return base64.urlsafe_b64encode(secret).rstrip(b"=").decode()


def digest_of(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def anonymous_name(secret: bytes) -> str:
    """The same for the same secret, which it does not give away."""
    return f"{ANONYMOUS}-{hashlib.blake2b(secret, digest_size=6).hexdigest()}"


def checked_name(name: str, what: str = "user name") -> str:
    """The name, normalised (NFKC), if an account or a team may have it, else `AccountError`."""
    name = unicodedata.normalize("NFKC", name)
    if not name.isprintable() or name != name.strip() or len(name.encode()) > LONGEST_NAME:
        raise AccountError(
            f"{what} {name!r}: at most {LONGEST_NAME} bytes of printable text are allowed,"
            " without space at the ends"
        )
    if not {".", ".."}.isdisjoint(name.split("/")):
        # Browsers take these parts out of an address, so that no link would lead to the page.
        raise AccountError(f"{what} {name!r}: no part between slashes may be '.' or '..'")
    for reserved in (ANONYMOUS, f"{DELETED}-"):
        if look_of(name).startswith(look_of(reserved)):
            raise AccountError(f"{what} {name!r}: names that begin with {reserved!r} are reserved")
    return name


def checked_own_name(name: str, what: str = "user name") -> str:
    """The name if somebody may give it to himself or to a team, else `AccountError`."""
    name = checked_name(name, what)
    if look_of(name) in _RESERVED_LOOKS:
        raise AccountError(f"{what} {name!r}: it looks like a name that operators give")
    return name


def looks_of(name: str, team: str) -> list[str]:
    """The looks to be locked while a user and its team, if any, are made."""
    return [f"user {look_of(name)}", *([team_look(team)] if team else [])]


def team_look(name: str) -> str:
    """The look to be locked while a team is made."""
    return f"team {look_of(name)}"


def team_taken(name: str) -> AccountError:
    return AccountError(
        f"team {name!r}: there is a team whose name looks the same; choose another, or write it"
        " as they do to join them"
    )


def open_account(
    connection: Connection, name: str, role: Role, *, team: str = "", reason: str = "", actor: str
) -> str:
    """A new account; its token, which is told only now. `AccountError` if the name is taken."""
    name = checked_name(name)
    team = checked_name(team, "team") if team else ""
    with connection.transaction():
        connection.execute(query("lock_looks"), {"looks": looks_of(name, team)})
        team_id, founded = _team(connection, team)
        row = connection.execute(
            query("open_account"),
            {"name": name, "look": look_of(name), "team": team_id, "role": role},
        ).fetchone()
        if row is None:
            raise AccountError(
                f"there is a user {name!r} already, or a name that looks the same; choose another"
            )
        if founded:
            connection.execute(query("set_founder"), {"user": row[0], "team": team_id})
        token = _add_token(connection, row[0])
        record(connection, actor, "open account", f"user {name}", _detail(f"as {role}", reason))
    return token


def renew_token(connection: Connection, name: str, *, reason: str = "", actor: str) -> str:
    """Revoke every token of a user and give a new one."""
    with connection.transaction():
        user = user_id(connection, name)
        connection.execute(query("revoke_tokens"), {"user": user})
        token = _add_token(connection, user)
        record(connection, actor, "renew token", f"user {name}", reason)
        forget_accounts(connection)
    return token


def revoke_tokens(connection: Connection, name: str, *, reason: str = "", actor: str) -> int:
    """Make every token of a user worthless; how many there were."""
    with connection.transaction():
        user = user_id(connection, name)
        revoked = connection.execute(query("revoke_tokens"), {"user": user}).rowcount
        record(connection, actor, "revoke tokens", f"user {name}",
               _detail(f"tokens: {revoked}", reason))
        forget_accounts(connection)
    return revoked


def set_role(
    connection: Connection, name: str, role: Role, *, reason: str = "", actor: str
) -> None:
    with connection.transaction():
        user = user_id(connection, name)
        connection.execute(query("set_role"), {"user": user, "role": role})
        record(connection, actor, "set role", f"user {name}", _detail(role, reason))
        forget_accounts(connection)


def user_id(connection: Connection, name: str) -> UserId:
    row = connection.execute(query("find_user"), {"name": name}).fetchone()
    if row is None:
        raise AccountError(f"there is no user {name!r}; see `zermelo admin users`")
    return int(row[0])


def forget_accounts(connection: Connection) -> None:
    """Tell the coordinators that what they know about accounts and hosts is out of date."""
    notify(connection, Channel.ACCOUNTS)


def _detail(what: str, reason: str) -> str:
    return f"{what}: {reason}" if reason else what


def _team(connection: Connection, name: str) -> tuple[int | None, bool]:
    """The team of this name, none for an empty one, and whether it is new."""
    if not name:
        return None, False
    row = connection.execute(
        query("ensure_team"), {"name": name, "look": look_of(name)}
    ).fetchone()
    if row is None:
        raise team_taken(name)
    return int(row[0]), bool(row[1])


def _add_token(connection: Connection, user: UserId) -> str:
    token = token_of(new_secret())
    connection.execute(query("add_token"), {"digest": digest_of(token), "user": user})
    return token
