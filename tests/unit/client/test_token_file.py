"""The token of an account: kept for its owner's eyes, shown to its own server alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from zermelo.client.token_file import TokenFile


def test_a_token_is_for_its_own_server(tmp_path: Path) -> None:
    path = tmp_path / "token"
    TokenFile(path).keep("one.example:443", "secret")
    assert TokenFile(path).token_for("one.example:443") == "secret"
    assert TokenFile(path).token_for("two.example:443") == ""
    assert path.stat().st_mode & 0o077 == 0


def test_each_server_has_its_own(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "token")
    for server, token in (("one:1", "first"), ("two:1", "second"), ("one:1", "third")):
        tokens.keep(server, token)
    assert (tokens.token_for("one:1"), tokens.token_for("two:1")) == ("third", "second")


@pytest.mark.parametrize("damaged", [None, b"", b"secret", b"a\nb\nc\n", b"\xff\n\xfe\n"])
def test_a_damaged_file_is_no_token(tmp_path: Path, damaged: bytes | None) -> None:
    path = tmp_path / "token"
    if damaged is not None:
        path.write_bytes(damaged)
    assert TokenFile(path).token_for("secret") == ""
