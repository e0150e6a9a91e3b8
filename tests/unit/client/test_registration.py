"""The secret of an account that is being opened: one for each, and kept before it is used."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from zermelo.client.registration import SECRET_BYTES, Registration
from zermelo.client.settings import ClientError


def test_a_secret_is_kept_for_one_name_at_one_server(tmp_path: Path) -> None:
    path = tmp_path / "registration"
    secret = Registration(path).secret("example.org:1913", "Ada")
    assert len(secret) == SECRET_BYTES
    assert path.stat().st_mode & 0o077 == 0
    # A later run asks with the same one.
    assert Registration(path).secret("example.org:1913", "Ada") == secret
    # Neither another server nor another account ever hears of it.
    other_server = Registration(path).secret("example.com:1913", "Ada")
    other_name = Registration(path).secret("example.com:1913", "Bob")
    assert len({secret, other_server, other_name}) == 3
    Registration(path).done()
    assert not path.exists()
    Registration(path).done()


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b"\xff", b'{"server": "a:1", "user_name": "", "secret": "00"}',
     b'{"server": "a:1", "user_name": "", "secret": 7}'],
)  # fmt: skip
def test_a_damaged_file_is_replaced(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "registration"
    path.write_bytes(content)
    secret = Registration(path).secret("a:1", "")
    assert len(secret) == SECRET_BYTES
    assert Registration(path).secret("a:1", "") == secret


def test_no_account_is_opened_that_could_not_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ClientError, match=r"no account was opened.*the disk is full; make room"):
        Registration(tmp_path / "registration").secret("a:1", "Ada")
