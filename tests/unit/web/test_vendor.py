"""Files of others are what VENDOR.toml says, and nothing else is among them."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

import pytest

from tests.support.places import REPOSITORY

FOLDERS = [REPOSITORY / "web/static/vendor", REPOSITORY / "tests/support/vendor"]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.parts[-3])
def test_every_file_is_listed_with_its_digest_and_licence(folder: Path) -> None:
    listed = tomllib.loads((folder / "VENDOR.toml").read_text())["file"]
    assert {entry["name"] for entry in listed} == {
        path.name for path in folder.iterdir() if path.suffix in (".js", ".css")
    }
    for entry in listed:
        digest = hashlib.sha256((folder / entry["name"]).read_bytes()).hexdigest()
        assert digest == entry["sha256"], entry["name"]
        assert (folder / entry["licence_file"]).read_text().strip()
        assert entry["version"]
        assert entry["licence"]
