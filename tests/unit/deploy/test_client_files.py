"""What the repository offers to deploy fits what the client offers to print."""

from __future__ import annotations

import getpass
import plistlib
import re
from pathlib import Path

import pytest

from tests.support.places import REPOSITORY
from zermelo.client.configuration import ConfigurationError
from zermelo.client.service_files import SERVICES, systemd_system
from zermelo.client.settings import ClientError

DEPLOY = REPOSITORY / "deploy" / "client"


@pytest.mark.parametrize(
    ("kind", "name", "data_dir"),
    [
        ("systemd-system", "zermelo-client.service", "/var/lib/zermelo"),
        ("systemd-user", "zermelo-client.user.service", "%h/.local/share/zermelo"),
    ],
)
def test_the_units_are_those_the_client_prints(
    kind: str, name: str, data_dir: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whoever runs the tests owns no such folder: root's client runs under another account.
    monkeypatch.setattr(getpass, "getuser", lambda: "root")
    printed = SERVICES[kind]("/usr/local/bin/zermelo", Path(data_dir)).text
    assert (DEPLOY / name).read_text() == printed


def test_a_system_unit_runs_as_who_owns_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "client").mkdir()
    for owner, account, own in (("ada", "ada", False), ("root", "zermelo", True)):
        monkeypatch.setattr(Path, "owner", lambda _, owner=owner: owner)
        file = systemd_system("/usr/local/bin/zermelo", tmp_path)
        assert f"User={account}\n" in file.text
        assert f"ReadWritePaths={tmp_path / 'client'}\n" in file.text
        assert ("ExecStartPre=+/bin/chown" in file.text, "useradd" in file.advice) == (own, own)


def test_the_property_list_is_one() -> None:
    text = SERVICES["launchd"]("/opt/a & b/zermelo", Path("/Users/ada")).text
    found = plistlib.loads(text.encode())
    assert found["ProgramArguments"] == [
        "/opt/a & b/zermelo", "client", "run", "--data-dir", "/Users/ada",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["systemd-system", "systemd-user"])
def test_what_does_not_mend_itself_is_not_started_again(kind: str) -> None:
    text = SERVICES[kind]("zermelo", Path("/srv")).text
    (line,) = re.findall("RestartPreventExitStatus=(.*)", text)
    assert set(map(int, line.split())) == {ConfigurationError.exit_code, ClientError.exit_code}
    assert "Restart=on-failure" in text


def test_launchd_starts_again_only_what_crashed() -> None:
    found = plistlib.loads(SERVICES["launchd"]("zermelo", Path("/Users/ada")).text.encode())
    assert found["KeepAlive"] == {"Crashed": True}


def test_odd_paths_are_quoted() -> None:
    text = SERVICES["systemd-user"]("/opt/my tools/zermelo", Path("/srv/a b")).text
    assert "ExecStart='/opt/my tools/zermelo' client run --data-dir '/srv/a b'" in text
    assert "''/srv/a b''" in SERVICES["windows"]("zermelo", Path("/srv/a b")).text
