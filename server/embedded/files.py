"""Files that nobody else can read, and folders that nobody else prepared for us."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path


def write_private(path: Path, text: str, uid: int, gid: int) -> None:
    """Put a file of mode 0600 and this owner in place, complete or not at all.

    The folder may belong to a less privileged account, so no link in it is followed.
    """
    new = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(file, "w") as stream:
            if (uid, gid) != (os.geteuid(), os.getegid()):
                os.fchown(stream.fileno(), uid, gid)
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def is_private_folder(path: Path, uid: int) -> bool:
    """Whether this is a folder, not a link to one, that its owner `uid` alone can enter."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == uid and not found.st_mode & 0o077
