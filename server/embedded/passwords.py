"""The password of a cluster: random, in a file that its user alone can read.

libpq reads it from there (`passfile=`), so that it is in no URL, process list or log.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
from pathlib import Path

from zermelo.server.embedded.files import write_private

ROLE = "zermelo"
PASSFILE = "postgres.password"
#: All of pg_hba.conf: whoever comes through the socket needs the password.
RULES = "local all all scram-sha-256\n"

#: More of them slow down guessing, and 256 random bits are not guessed: they would only cost both
#: sides milliseconds of a processor for each connection.
ITERATIONS = 1


def passfile_of(data_dir: Path) -> Path:
    return data_dir / PASSFILE


def ensure_password(data_dir: Path) -> str:
    """The password in the data directory's file, made when there is none."""
    path = passfile_of(data_dir)
    known = _read(path)
    if known is not None:
        return known
    password = secrets.token_urlsafe(32)
    write_private(path, f"*:*:*:{ROLE}:{password}\n", os.geteuid(), os.getegid())
    return password


def is_secured(data_dir: Path, cluster: Path) -> bool:
    """Whether the cluster asks everybody for a password that we have."""
    try:
        rules = (cluster / "pg_hba.conf").read_text()
    except OSError:
        return False
    return rules == RULES and _read(passfile_of(data_dir)) is not None


def scram_verifier(password: str) -> str:
    """What PostgreSQL stores of a password (RFC 5803); it does not tell the password."""
    salt = os.urandom(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, ITERATIONS)
    stored = hashlib.sha256(_sign(salted, b"Client Key")).digest()
    return (
        f"SCRAM-SHA-256${ITERATIONS}:{_text(salt)}"
        f"${_text(stored)}:{_text(_sign(salted, b'Server Key'))}"
    )


def _read(path: Path) -> str | None:
    try:
        fields = path.read_text().strip().split(":")
    except OSError:
        return None
    return fields[4] if len(fields) == 5 and fields[4] else None


def _sign(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
