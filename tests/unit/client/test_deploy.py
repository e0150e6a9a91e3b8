"""What the repository offers to deploy fits what the client offers to print."""

from __future__ import annotations

import plistlib
import re
from pathlib import Path

import pytest
import yaml

from tests.support.places import REPOSITORY
from zermelo.cli.client.run import run
from zermelo.client.configuration import ConfigurationError
from zermelo.client.service_files import SERVICES
from zermelo.client.settings import ClientError

DEPLOY = REPOSITORY / "deploy" / "client"


@pytest.mark.parametrize(
    ("kind", "name", "data_dir"),
    [
        ("systemd-system", "zermelo-client.service", "/var/lib/zermelo"),
        ("systemd-user", "zermelo-client.user.service", "%h/.local/share/zermelo"),
    ],
)
def test_the_units_are_those_the_client_prints(kind: str, name: str, data_dir: str) -> None:
    printed = SERVICES[kind]("/usr/local/bin/zermelo", Path(data_dir)).text
    assert (DEPLOY / name).read_text() == printed


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


def test_every_setting_that_the_files_use_exists() -> None:
    twins = {str(option.envvar) for option in run.params if option.envvar}
    for path in DEPLOY.iterdir():
        used = set(re.findall(r"ZERMELO_[A-Z_]+", path.read_text()))
        # The script's own.
        assert used - {"ZERMELO_ROOT"} <= twins, path


def test_the_manifests_are_whole() -> None:
    objects = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
    kinds = [found["kind"] for found in objects]
    assert kinds == ["ConfigMap", "Secret", "StatefulSet", "PriorityClass"]
    pod = objects[2]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    claimed = {claim["metadata"]["name"] for claim in objects[2]["spec"]["volumeClaimTemplates"]}
    assert mounted == claimed | {volume["name"] for volume in pod["volumes"]}
    assert pod["priorityClassName"] == objects[3]["metadata"]["name"]
    sources = {name for source in container["envFrom"] for name in source}
    assert sources == {"configMapRef", "secretRef"}
    # Enough time to finish or save: the default quit time is ten seconds.
    assert pod["terminationGracePeriodSeconds"] >= 30
