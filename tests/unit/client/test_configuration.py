"""The configuration file: what is written is read, what is damaged is named."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zermelo.client.configuration import (
    Configuration,
    ConfigurationError,
    read_configuration,
    render,
    write_configuration,
)
from zermelo.client.preferences import PRIORITIES, Hours, Limits, Preferences

_text = st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=12)
_hours = st.tuples(st.integers(0, 1439), st.integers(0, 1440)).filter(lambda h: h[0] != h[1])
_limits = st.builds(
    Limits,
    cores=st.integers(0, 1024),
    cpu_share=st.integers(1, 100).map(lambda percent: percent / 100),
    memory_mb=st.integers(1, 1 << 20),
    on_battery=st.booleans(),
    hours=_hours.map(lambda pair: Hours(*pair)),
    load_by_others=st.none() | st.integers(0, 99).map(lambda percent: percent / 100),
    max_temperature=st.none() | st.integers(1, 150),
    priority=st.sampled_from(PRIORITIES),
)
_configurations = st.builds(
    Configuration,
    preferences=st.builds(Preferences, _limits, _limits, st.integers(1, 1440)),
    server=st.sampled_from(["", "example.org:1913", "[::1]:99"]),
    name=_text,
    host_name=_text,
    token=_text,
    ca_file=st.none() | _text.filter(bool).map(Path),
    tls=st.sampled_from(["auto", "on", "off"]),
    store_seconds=st.integers(0, 3600),
    quit_seconds=st.integers(0, 3600),
    checkpoint_seconds=st.integers(1, 86400),
)


@settings(max_examples=80)
@given(_configurations)
def test_round_trip(tmp_path: Path, configuration: Configuration) -> None:
    path = tmp_path / "client" / "config.toml"
    write_configuration(path, configuration)
    assert read_configuration(path) == configuration
    assert path.stat().st_mode & 0o077 == 0


def test_a_missing_file_means_defaults(tmp_path: Path) -> None:
    found = read_configuration(tmp_path / "none.toml")
    assert found == Configuration(Preferences.default())
    assert found.preferences.in_use.cores <= found.preferences.idle.cores


def test_every_key_has_a_comment() -> None:
    lines = render(Configuration(Preferences.default())).splitlines()
    for before, line in itertools.pairwise(lines):
        if " = " in line and not line.startswith("#"):
            assert before.startswith("# "), line


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('server = "a:1"\ncolour = 3\n', 2, ["colour", "unknown", "server"]),
        ("\n[idle]\ncores = -1\n", 3, ["idle.cores", "-1 is not between 0 and 1024"]),
        ("[in_use]\ncores = 2\n[idle]\ncores = 2.5\n", 4, ["idle.cores", "not a whole number"]),
        ('[in_use]\nhours = "25-3"\n', 2, ["in_use.hours", "22:00-07:00"]),
        ("[in_use]\nhours = 9\n", 2, ["in_use.hours", "22:00-07:00"]),
        ('server = "nowhere"\n', 1, ["server", "HOST:PORT"]),
        ("name = 1\n", 1, ["name", "one printable line"]),
        ("\n\ntls = 'maybe'\n", 3, ["tls", "auto, on, off"]),
        ("on_battery = true\n", 1, ["on_battery", "unknown"]),
        ("[idle]\non_battery = 1\n", 2, ["idle.on_battery", "true or false"]),
        ("idle = 3\n", 1, ["idle", "[idle]"]),
        ("[sometimes]\ncores = 3\n", 1, ["sometimes", "unknown"]),
        ('server = "a:1"\ntoken = "abc\n', 2, ["token"]),
        ("server =\n", 1, ["server"]),
        ("[idle]\ncores = 1\ncores = 2\n", 3, ["cores"]),
        ("store_seconds = -1\n", 1, ["store_seconds", "-1 is not between 0 and 3600"]),
        ("cpu_share 3\n", 1, ["cpu_share"]),
    ],
)
def test_damage_is_named_with_line_and_key(
    tmp_path: Path, text: str, line: int, words: list[str]
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        read_configuration(path)
    message = str(caught.value)
    assert f"{path}, line {line}:" in message
    assert all(word in message for word in words), message
    assert "\n" not in message
    assert caught.value.exit_code == 2


def test_a_binary_file_is_no_configuration(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(ConfigurationError, match="is no text file"):
        read_configuration(path)
