"""Who PostgreSQL runs as: it refuses to be root.

An ordinary user's PostgreSQL runs as that user. Root's runs as

1. the account `postgres` (or `nobody`, ...), where that account can reach the programs and the
   data directory;
2. else root under another number, in a user namespace: to PostgreSQL it is an ordinary
   user, and root's files are its own, so nothing is copied and no owner changes. In exchange
   PostgreSQL can write what root can write without its privileges;
3. else, where namespaces are forbidden as in most containers, the account again, with a copy
   of the programs in a place it can reach. It never needs to find its data by name: it is
   started inside.

A cluster that exists keeps its owner wherever that is possible.
"""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from zermelo.server.embedded.errors import EmbeddedError
from zermelo.server.processes import die_with_parent, enter_user_namespace

#: Accounts to run PostgreSQL under when we are root.
ACCOUNTS = ("postgres", "nobody", "nonroot", "daemon")
#: The folder a process was started in, also where its path is closed to the process.
STARTED_IN = Path("/proc/self/cwd")


@dataclass(frozen=True, slots=True)
class Identity:
    """The owner of a cluster's files, and how to become it."""

    uid: int
    gid: int
    #: The number of `uid` in a user namespace; None where no namespace is needed.
    seen_as: int | None = None

    @property
    def is_ours(self) -> bool:
        return self.uid == os.geteuid()

    def popen(
        self, command: Sequence[str], *, cwd: Path, stdin: IO[bytes] | int, output: IO[bytes] | int,
        enter: Path | None = None, signal_number: int,
    ) -> subprocess.Popen[bytes]:  # fmt: skip
        """Start a program as this identity, in `cwd`, that ends with us by this signal."""
        switch = not self.is_ours
        return subprocess.Popen(  # noqa: S603
            command,
            stdin=stdin,
            stdout=output,
            stderr=output,
            cwd=cwd,
            # A Ctrl-C meant for us must not stop the server before its clients.
            process_group=0,
            user=self.uid if switch else None,
            group=self.gid if switch else None,
            extra_groups=[] if switch else None,
            preexec_fn=partial(_prepare, self.seen_as, enter, signal_number),
        )

    def reaches(self, program: Path, folder: Path) -> bool:
        """Whether it can run this program and enter this folder by its name: tried, not guessed."""
        if self.is_ours and self.seen_as is None:
            return os.access(program, os.X_OK) and os.access(folder, os.X_OK)
        try:
            process = self.popen(
                [str(program), "--version"], cwd=Path("/"), enter=folder, signal_number=9,
                stdin=subprocess.DEVNULL, output=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            return False
        return process.wait() == 0


def choose_identity(program: Path, data_dir: Path, cluster: Path) -> Identity:
    """Who runs the cluster of this data directory, whether it exists already or not."""
    me = Identity(os.geteuid(), os.getegid())
    if me.uid != 0:
        return me
    owner = _owner(cluster)
    if owner is not None and not owner.is_ours:
        return owner
    account = _account()
    if owner is None and account is not None and account.reaches(program, data_dir):
        return account
    namespace = Identity(me.uid, me.gid, seen_as=_named_number())
    if namespace.reaches(program, data_dir):
        return namespace
    if account is not None:
        return account
    raise EmbeddedError(
        "PostgreSQL does not run as root; here is no other account it could run under, and "
        "user namespaces are forbidden; run as another user, or use --database URL"
    )


def creator_of(identity: Identity) -> Identity:
    """Who creates the cluster of `identity`: initdb insists on a user that has a name."""
    if identity.seen_as is not None or _has_name(identity.uid):
        return identity
    return Identity(identity.uid, identity.gid, seen_as=_named_number())


def _prepare(seen_as: int | None, enter: Path | None, signal_number: int) -> None:
    """Between fork and exec."""
    if seen_as is not None:
        enter_user_namespace(seen_as)
    if enter is not None:
        os.chdir(enter)
    die_with_parent(signal_number)


def _owner(cluster: Path) -> Identity | None:
    try:
        found = cluster.stat()
    except FileNotFoundError:
        return None
    return Identity(found.st_uid, found.st_gid)


def _account() -> Identity | None:
    for name in ACCOUNTS:
        with suppress(KeyError):
            found = pwd.getpwnam(name)
            return Identity(found.pw_uid, found.pw_gid)
    return None


def _has_name(uid: int) -> bool:
    with suppress(KeyError):
        return bool(pwd.getpwuid(uid))
    return False


def _named_number() -> int:
    """A number to be seen under. Whose it is does not matter, the kernel knows better."""
    numbers = [account.pw_uid for account in pwd.getpwall() if account.pw_uid != 0]
    return numbers[0] if numbers else 65534
