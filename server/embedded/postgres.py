"""The PostgreSQL server of a data directory: created, started, kept alive, stopped."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from zermelo.server.embedded.errors import DiskFullError, EmbeddedError
from zermelo.server.embedded.files import write_private
from zermelo.server.embedded.identity import STARTED_IN, Identity, choose_identity, creator_of
from zermelo.server.embedded.passwords import (
    ITERATIONS,
    ROLE,
    RULES,
    ensure_password,
    is_secured,
    scram_verifier,
)
from zermelo.server.embedded.postmaster import is_postgres, read_postmaster
from zermelo.server.embedded.programs import POSTGRES_VERSION, programs, programs_for
from zermelo.server.embedded.sockets import SocketFolder
from zermelo.server.embedded.template import Template

log = logging.getLogger(__name__)

#: The folder of the cluster in a data directory.
CLUSTER = "postgres"
#: How folders there begin that were clusters, and are to be deleted.
DISCARDED = "postgres.old-"
START_SECONDS = 60.0
STOP_SECONDS = 30.0
RESTART_PAUSE = 0.5
#: Room for a few segments of the write-ahead log and an orderly end.
LEAST_FREE_MB = 64
#: Room for a new cluster beside one that is not deleted yet.
ROOM_FOR_TWO_MB = 1024

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
    "scram_iterations": "4096",  # for passwords that are not ours, which may be guessable
    "io_method": "sync",
    "autovacuum_naptime": "15s",
    "autovacuum_vacuum_cost_delay": "10ms",
    "autovacuum_vacuum_scale_factor": "0.1",
    "log_checkpoints": "off",
    "log_timezone": "UTC",
    "timezone": "UTC",
}

#: How a cluster is made.
INITDB = (
    "--no-sync", "--no-instructions", "--auth=scram-sha-256", "--locale=C", "--encoding=UTF8",
    f"--username={ROLE}", f"--set=scram_iterations={ITERATIONS}",
)  # fmt: skip


class EmbeddedPostgres:
    """The server of one data directory; the caller holds the directory's lock."""

    def __init__(self, data_dir: Path, *, durable: bool = True, contents: str = "") -> None:
        """Without `durable` the disk is waited for in `stop` alone: before that a power cut may
        lose the whole cluster, the death of a process nothing. For what is then begun anew.

        A new cluster gets its `contents` by this script, or with the template, which has them.
        """
        self._durable, self._contents = durable, contents
        self.cluster = data_dir / CLUSTER
        self.log = data_dir / "postgres.log"
        self._data_dir = data_dir
        self._process: subprocess.Popen[bytes] | None = None
        self._unfinished = data_dir / "postgres.new"
        #: A new cluster is copied, or made by initdb; a copy then gets its password.
        self._copying: subprocess.Popen[bytes] | None = None
        self._creating: subprocess.Popen[bytes] | None = None
        #: What the new cluster is a copy of, or is to be the first of.
        self._template: Template | None = None
        self._copied = False
        self._syncing: subprocess.Popen[bytes] | None = None
        #: Clusters that were put aside, until they are deleted.
        self._discarded: list[Path] = []
        self._deleting: subprocess.Popen[bytes] | None = None
        self._sockets = SocketFolder(data_dir, self.cluster)
        # Found out by `begin`.
        self._identity = Identity(os.geteuid(), os.getegid())
        self._programs = Path()
        self._in_place = True
        self._not_before = 0.0

    # -- life ---------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin to create a new cluster, or start the one there is; waits for neither.

        The caller can do something useful for the half second that a user's first one takes.
        """
        self._check_disk()
        self._stop_orphan()
        exists = self._exists()
        self._choose_identity()
        if exists:
            self._secure()
            self._start()
        else:
            self._begin_creating()

    def wait_ready(self) -> str:
        """Wait until the server takes connections and tell its URL."""
        self._go_on()
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if url := self.ready_url():
                return url
            if not self.running:
                raise EmbeddedError(f"PostgreSQL did not start: {self._last_words()}")
            time.sleep(0.005)
        raise EmbeddedError(f"PostgreSQL did not start within {START_SECONDS:.0f} s")

    def ready_url(self) -> str:
        """The URL once the server takes connections; empty before."""
        postmaster = read_postmaster(self.cluster) if self._process else None
        ready = postmaster and postmaster.ready and postmaster.pid == self.pid
        return postmaster.url if postmaster and ready else ""

    def advance(self) -> None:
        """Take the next step to a new cluster if the last one has ended; waits for nothing."""
        if self._copying is not None and self._copying.poll() is not None:
            self._finish_copying(self._copying)
        elif self._creating is not None and self._creating.poll() is not None:
            self._go_on()

    def _go_on(self) -> None:
        if self._copying is not None:
            self._finish_copying(self._copying)
        if self._creating is not None:
            self._finish_creating(self._creating)
            self._start()

    @property
    def creating(self) -> bool:
        """Whether the cluster is still being created."""
        return self._copying is not None or self._creating is not None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def keep_alive(self) -> None:
        """Start the server again after it died. Call it now and then.

        What is left of the dead one can make the first attempts fail. `DiskFullError` comes
        early enough to stop in good order. What was discarded is deleted meanwhile.
        """
        self._begin_deleting()
        self._check_disk()
        if not self.running and time.monotonic() >= self._not_before:
            log.warning("PostgreSQL died; starting it again")
            self._not_before = time.monotonic() + RESTART_PAUSE
            self._start()

    def stop(self, within: float = STOP_SECONDS) -> None:
        """Stop in good order: sessions end, everything is written, the next start is fast.

        What takes longer than `within` seconds is left to the next start, which reads the log of
        what was committed.
        """
        self._begin_deleting()
        begun = (self._copying, self._creating, self._syncing, self._deleting, self._process)
        unasked = (self._syncing, self._deleting)  # these end by themselves
        for process in begun:
            if process is None:
                continue
            if process not in unasked and process.poll() is None:
                process.send_signal(signal.SIGINT)
            try:
                process.wait(within)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGQUIT)
                process.wait()
        if self._process is not None and not self._durable:
            self._begin_sync().wait()
        self._copying = self._creating = self._syncing = self._deleting = self._process = None
        if self._template is not None:
            self._template.finish()
        self._sockets.remove()

    def discard(self) -> None:
        """Put the cluster aside, before `begin`: the next one is new.

        Deleting a thousand files takes longer than renaming their folder, so that waits until the
        server runs. Whoever dies in between leaves folders to the next call.
        """
        self._stop_orphan()
        with suppress(OSError):
            if self.cluster.exists():
                # Renamed onto an empty folder: one step, to a name that nobody else has.
                self.cluster.rename(tempfile.mkdtemp(prefix=DISCARDED, dir=self._data_dir))
        self._discarded = [*self._data_dir.glob(f"{DISCARDED}*")]
        if self.cluster.exists() or self._free_mb() < ROOM_FOR_TWO_MB:
            for folder in (self.cluster, *self._discarded):
                shutil.rmtree(folder, ignore_errors=True)
            self._discarded = []

    # -- steps --------------------------------------------------------------------------

    def _begin_deleting(self) -> None:
        if self._discarded:
            with suppress(OSError):  # the next run tries it again
                self._deleting = subprocess.Popen(  # noqa: S603
                    ["rm", "-rf", "--", *map(str, self._discarded)],  # noqa: S607
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL, process_group=0,
                )  # fmt: skip
            self._discarded = []

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

    def _choose_identity(self) -> None:
        self._identity = choose_identity(programs() / "postgres", self._data_dir, self.cluster)
        self._programs = programs_for(self._identity)
        self._in_place = self._identity.reaches(self._programs / "postgres", self._data_dir)
        if not self._in_place and not STARTED_IN.exists():
            raise EmbeddedError(
                f"PostgreSQL does not run as root, and user {self._identity.uid} may not enter "
                f"{self._data_dir}; run as another user, or choose another --data-dir"
            )

    def _begin_creating(self) -> None:
        """Begin to make a cluster: a copy of the template where there is one."""
        # Renamed when it is complete: one that was interrupted is never taken for real.
        self._make_folder()
        made_by = (*INITDB, self._contents)
        self._template = Template(self._programs / "postgres", self._identity, made_by)
        self._copying = self._template.begin_copy(self._unfinished)
        if self._copying is None:
            self._begin_initdb()

    def _finish_copying(self, process: subprocess.Popen[bytes]) -> None:
        self._copying = None
        self._copied = process.wait() == 0
        if self._copied:
            # Not written to the disk yet; all of it is, in the end.
            self._creating = self._begin_password(self._unfinished, "--fsync=off")
        else:
            self._begin_initdb()

    def _make_folder(self) -> None:
        target = self._unfinished
        shutil.rmtree(target, ignore_errors=True)
        try:
            target.mkdir(mode=0o700)
            os.chown(target, self._identity.uid, self._identity.gid)
        except OSError as error:
            raise EmbeddedError(f"cannot create {target}: {error.strerror}") from error

    def _begin_initdb(self) -> None:
        self._make_folder()
        with self._input(self._password()) as stdin:
            self._creating = self._popen(
                self._unfinished, "initdb", *INITDB, "--pwfile=/dev/stdin",
                identity=creator_of(self._identity), stdin=stdin,
            )  # fmt: skip

    def _password(self) -> str:
        try:
            return ensure_password(self._data_dir)
        except OSError as error:
            raise EmbeddedError(f"cannot use {self._data_dir}: {error.strerror}") from error

    def _finish_creating(self, process: subprocess.Popen[bytes]) -> None:
        if process.wait() != 0 and self._copied:
            log.warning("the template cluster is no use: %s", self._last_words())
            self._copied = False
            self._begin_initdb()
            process = self._creating or process
        self._creating = None
        if process.wait() != 0:
            shutil.rmtree(self._unfinished, ignore_errors=True)
            words = self._last_words()
            if "could not look up" in words:
                words += "; give this user an account, or use --database URL"
            raise EmbeddedError(f"PostgreSQL's initdb failed: {words}")
        if not self._copied and self._contents:
            filling = self._begin_script(self._unfinished, self._contents, "--fsync=off")
            if filling.wait() != 0:
                raise EmbeddedError(f"the new database cannot be filled: {self._last_words()}")
        self._write_rules(self._unfinished)
        if self._template is not None and not self._copied:
            self._template.keep(self._unfinished)
        self._unfinished.rename(self.cluster)
        # Nobody waited for the disk so far; this does, beside the start of the server.
        self._syncing = self._begin_sync()

    def _begin_sync(self) -> subprocess.Popen[bytes]:
        """Begin to write the cluster to the disk, all at once where that is possible: file by file
        it would hold up commits."""
        how = "syncfs" if sys.platform == "linux" else "fsync"
        return self._popen(
            self.cluster, "initdb", "--sync-only", f"--sync-method={how}",
            identity=creator_of(self._identity),
        )  # fmt: skip

    def _secure(self) -> None:
        """Give a cluster of an earlier version, which trusted everybody, the password of today.

        One that belonged to root in a user namespace is handed over where there is none now.
        """
        if self.cluster.stat().st_uid != self._identity.uid:
            _hand_over(self.cluster, self._identity)
        if is_secured(self._data_dir, self.cluster):
            return
        log.info("a password is set for the database in %s", self.cluster)
        if self._begin_password(self.cluster).wait() != 0:
            raise EmbeddedError(f"PostgreSQL takes no password: {self._last_words()}")
        self._write_rules(self.cluster)

    def _begin_password(self, cluster: Path, *options: str) -> subprocess.Popen[bytes]:
        """Begin to give a cluster that does not run the data directory's password."""
        verifier = scram_verifier(self._password())
        return self._begin_script(cluster, f"ALTER ROLE {ROLE} PASSWORD '{verifier}'", *options)

    def _begin_script(
        self, cluster: Path, script: str, *options: str
    ) -> subprocess.Popen[bytes]:
        """Begin to run a script in a cluster that does not run, all of it or nothing."""
        # With -j a statement ends where a line is empty, and so all of them are one.
        whole = "".join(f"{line}\n" for line in script.splitlines() if line)
        with self._input(whole) as stdin:
            return self._popen(
                cluster, "postgres", "--single", "-j", *_options(), *options, "--exit_on_error=on",
                stdin=stdin, last="postgres",
            )  # fmt: skip

    def _write_rules(self, cluster: Path) -> None:
        write_private(cluster / "pg_hba.conf", RULES, self._identity.uid, self._identity.gid)

    def _start(self) -> None:
        sockets = self._sockets.prepare(self._identity, self._programs / "postgres")
        lazily = () if self._durable else ("--fsync=off",)
        self._process = self._popen(self.cluster, "postgres", "-k", sockets, *_options(), *lazily)

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

    def _popen(
        self, cluster: Path, program: str, *arguments: str, last: str | None = None,
        identity: Identity | None = None, stdin: IO[bytes] | int = subprocess.DEVNULL,
    ) -> subprocess.Popen[bytes]:  # fmt: skip
        """Start one of PostgreSQL's programs on a cluster; it is started in that folder, so
        that the path to it may be closed."""
        command = [str(self._programs / program), *arguments]
        command += ["-D", str(cluster if self._in_place else STARTED_IN)]
        command += [] if last is None else [last]
        with open(self.log, "ab") as log:
            return (identity or self._identity).popen(
                command, cwd=cluster, stdin=stdin, output=log, signal_number=signal.SIGINT
            )

    @contextmanager
    def _input(self, text: str) -> Iterator[IO[bytes]]:
        """A file without a name that PostgreSQL's account can open as /dev/stdin."""
        with tempfile.TemporaryFile() as file:
            os.fchown(file.fileno(), self._identity.uid, self._identity.gid)
            file.write(text.encode())
            file.seek(0)
            yield file

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
        free = self._free_mb()
        if free < LEAST_FREE_MB:
            raise DiskFullError(
                f"only {free} MB are free where {self.cluster.parent} is, at least "
                f"{LEAST_FREE_MB} are needed; make room, and the same command goes on"
            )

    def _free_mb(self) -> int:
        return shutil.disk_usage(self._data_dir).free // 2**20


@contextmanager
def running(postgres: EmbeddedPostgres) -> Iterator[str]:
    """The URL of a server that is launched before and stopped after the block."""
    try:
        postgres.begin()
        yield postgres.wait_ready()
    finally:
        postgres.stop()


def url_beside(data_dir: Path) -> str:
    """The URL of the server that another process creates or starts, when it takes connections."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        postmaster = read_postmaster(data_dir / CLUSTER)
        if postmaster and postmaster.ready:
            return postmaster.url
        time.sleep(0.005)
    raise EmbeddedError(f"PostgreSQL did not start within {START_SECONDS:.0f} s")


def _options() -> list[str]:
    return [f"--{name}={value}" for name, value in SETTINGS.items()]


def _hand_over(cluster: Path, identity: Identity) -> None:
    for path in (cluster, *cluster.rglob("*")):
        os.chown(path, identity.uid, identity.gid, follow_symlinks=False)
