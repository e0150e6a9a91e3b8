"""The client's folder on disks that do not want it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from zermelo.client.folder import ClientFolder, FolderError


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.EROFS, "the disk is read-only"),
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "your share of the disk is used up"),
        (errno.EACCES, "you may not write there"),
    ],
)
def test_a_disk_that_takes_nothing_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, words: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(FolderError, match=words) as caught:
        ClientFolder(tmp_path).open()
    assert "choose another --data-dir" in str(caught.value)


def test_a_damaged_identity_is_named(tmp_path: Path) -> None:
    folder = ClientFolder(tmp_path)
    key = folder.open()
    folder.close()
    assert folder.open() == key
    folder.close()
    (folder.path / "host-key").write_text("not a key")
    with pytest.raises(FolderError, match="is damaged; delete it"):
        folder.open()
    folder.close()
