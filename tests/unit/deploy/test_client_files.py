"""What the repository offers to deploy fits what the client offers to print."""

from __future__ import annotations

import getpass
import os
import plistlib
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

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
        ("systemd-user", "zermelo-client.user.service", "/home/ada/.local/share/zermelo"),
    ],
)
def test_the_units_are_those_the_client_prints(
    kind: str, name: str, data_dir: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whoever runs the tests owns no such folder: root's client runs under another account.
    monkeypatch.setattr(getpass, "getuser", lambda: "root")
    printed = SERVICES[kind]("/usr/local/bin/zermelo", Path(data_dir)).text
    assert (DEPLOY / name).read_text().replace("%h", "/home/ada") == printed


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


def test_odd_paths_are_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "root")
    odd = Path('/srv/50% of $HOME "a"')
    text = SERVICES["systemd-system"]("/opt/my $tools/zermelo", odd).text
    argument = r'"/srv/50%% of $$HOME \"a\"'
    assert f'ExecStart="/opt/my $tools/zermelo" client run --data-dir {argument}"\n' in text
    assert f'ExecStartPre=+/bin/chown -R zermelo: {argument}/client"\n' in text
    assert r'ReadWritePaths="/srv/50%% of $HOME \"a\"/client"' in text
    assert "''/srv/a b''" in SERVICES["windows"]("zermelo", Path("/srv/a b")).text


def submitted(monkeypatch: pytest.MonkeyPatch, *settings: str) -> Any:
    """The submit file as HTCondor reads it, with settings from the command line."""
    monkeypatch.setenv("CONDOR_CONFIG", os.devnull)
    import htcondor2  # here, because every process of a run loads this module

    # condor_submit reads them as lines above the first one.
    return htcondor2.Submit("\n".join([*settings, (DEPLOY / "htcondor.sub").read_text()]))


needs_htcondor = pytest.mark.skipif(find_spec("htcondor2") is None, reason="needs htcondor")


@needs_htcondor
def test_a_submit_line_says_where_and_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    found = submitted(monkeypatch, "server=host:1913", "clients=100", "program=/opt/zermelo")
    folder = found.expand("transfer_output_files")
    assert found.expand("arguments") == f"client run --server host:1913 --data-dir {folder}"
    assert found.expand("executable") == "/opt/zermelo"
    found["number"] = found.getQArgs()
    assert found.expand("number") == "100"


@needs_htcondor
def test_a_submit_line_needs_a_server_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="failed"):
        submitted(monkeypatch, "clients=100")
    found = submitted(monkeypatch, "server=host:1913")
    assert found.expand("executable") == "/usr/local/bin/zermelo"
    found["number"] = found.getQArgs()
    assert found.expand("number") == "10"
