"""Preferences are read again when their file was written, and only then."""

from __future__ import annotations

from pathlib import Path

import pytest

from zermelo.client.configuration import Configuration, read_configuration, write_configuration
from zermelo.client.preferences import Limits, Preferences
from zermelo.client.reloading import Reloading


def prefer(path: Path, cores: int) -> Preferences:
    preferences = Preferences.always(Limits(cores=cores, memory_mb=8))
    write_configuration(path, Configuration(preferences))
    return preferences


def test_what_changes_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "config.toml"
    one = prefer(path, 1)
    reloading = Reloading(path, lambda: read_configuration(path).preferences)
    assert reloading.changed(one) is None
    two = prefer(path, 2)
    assert reloading.changed(one) == two
    assert reloading.changed(two) is None
    # Written again with the same preferences: nothing to do.
    path.write_text(path.read_text() + "\n# a comment\n")
    assert reloading.changed(two) is None
    path.write_text("[idle]\ncores = -1\n")
    assert reloading.changed(two) is None
    assert "going on as before" in caplog.text
    caplog.clear()
    assert reloading.changed(two) is None
    assert not caplog.text
    path.unlink()
    default = reloading.changed(two)
    assert default == Preferences.default()


def test_where_somebody_else_decides_nothing_is_read(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    reloading = Reloading(path, None)
    prefer(path, 3)
    assert reloading.changed(Preferences.default()) is None
