"""`make` in places where nothing can be written: what it would do there, by `make -n`."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[3]
FILES = ["Makefile", "pyproject.toml", "setup.py"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """As much of the project as `make` looks at, at a path with a space."""
    folder = tmp_path / "the tree"
    folder.mkdir()
    for name in FILES:
        shutil.copy(PROJECT / name, folder)
    return folder


def make(tree: Path, *, read_only: bool, **environment: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "-n", "-C", tree, "demo"]
    if read_only:
        mounts = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
        command = ["unshare", "--mount", "sh", "-c", mounts, "sh", tree, *command]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False,
        env={"PATH": os.environ["PATH"], **environment},
    )  # fmt: skip


def would_do(tree: Path, *, read_only: bool, **environment: str) -> list[str]:
    done = make(tree, read_only=read_only, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_tree_that_can_be_written_is_built_in_its_place(tree: Path, tmp_path: Path) -> None:
    steps = would_do(tree, read_only=False, HOME=str(tmp_path))
    assert not [step for step in steps if "read-only" in step]
    assert any("zermelo solve reversi:6x6 --demo" in step for step in steps)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a folder read-only")
@pytest.mark.parametrize("variable", ["HOME", "XDG_CACHE_HOME"])
def test_a_read_only_tree_is_copied_and_built_there(
    tree: Path, tmp_path: Path, variable: str
) -> None:
    home = tmp_path / "home of somebody"
    steps = would_do(tree, read_only=True, **{variable: str(home)})
    cache = home / ".cache" if variable == "HOME" else home
    copy = cache / f"zermelo-source-{os.geteuid()}"
    assert f"this folder is read-only: working in {copy}" in steps
    assert any("zermelo solve reversi:6x6 --demo" in step for step in steps)
    assert copy.stat().st_mode & 0o777 == 0o700
    assert sorted(os.listdir(copy)) == sorted(os.listdir(tree)) == FILES


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a folder read-only")
def test_nothing_is_written_through_a_link_that_somebody_prepared(
    tree: Path, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (tmp_path / f"zermelo-source-{os.geteuid()}").symlink_to(precious)
    done = make(tree, read_only=True, XDG_CACHE_HOME=str(tmp_path))
    assert done.returncode != 0
    assert "is not ours: remove it, or set HOME" in done.stdout
    assert not os.listdir(precious)
