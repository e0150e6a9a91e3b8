"""What the repository offers to deploy: every setting exists, every object fits its schema."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from tests.support.effort import first_of
from tests.support.places import REPOSITORY
from zermelo.cli import COMMANDS, zermelo

DEPLOY = REPOSITORY / "deploy"
KUBERNETES = sorted(DEPLOY.glob("kubernetes/*/*.yaml"))
UNITS = sorted(DEPLOY.glob("systemd/*.service"))
#: The newest and the oldest that are tried.
VERSIONS = ("1.34", "1.28")
#: Of the files themselves: shells and compose put them in their places.
OWN = {"ZERMELO_HOST", "ZERMELO_ROOT", "ZERMELO_"}


def twins() -> set[str]:
    """Every variable that stands for an option of a command that is deployed."""
    found: set[str] = set()

    def collect(command: click.Command, context: click.Context) -> None:
        for parameter in command.params:
            named = parameter.envvar or ()
            found.update([named] if isinstance(named, str) else named)
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                inner = command.get_command(context, name)
                if inner is not None:
                    collect(inner, context)

    context = click.Context(zermelo)
    for name in ("serve", "web", "client", "health"):
        assert name in COMMANDS
        command = zermelo.get_command(context, name)
        assert command is not None
        collect(command, context)
    return found


def test_every_setting_that_the_files_use_exists() -> None:
    known = twins() | OWN
    for path in (*DEPLOY.glob("*/**/*"), DEPLOY / "compose.yaml", DEPLOY / "Containerfile"):
        if path.is_file():
            used = set(re.findall(r"ZERMELO_[A-Z_]*", path.read_text()))
            assert used <= known, path


def objects(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text()))


@pytest.mark.parametrize("version", first_of(VERSIONS))
def test_kubernetes_knows_every_field(version: str) -> None:
    import kubernetes_validate  # here, because every process of a run loads this module

    checked = 0
    for path in KUBERNETES:
        if path.name != "kustomization.yaml":
            for found in objects(path):
                kubernetes_validate.validate(found, version, strict=True)
                checked += 1
    assert checked >= 10


@pytest.mark.parametrize("folder", ["client", "server"])
def test_a_kustomization_lists_its_files(folder: str) -> None:
    here = DEPLOY / "kubernetes" / folder
    (kustomization,) = objects(here / "kustomization.yaml")
    files = {path.name for path in here.glob("*.yaml")} - {"kustomization.yaml"}
    assert set(kustomization["resources"]) == files
    used = {
        container["image"]
        for name in files for found in objects(here / name)
        for container in found.get("spec", {}).get("template", {}).get("spec", {}).get(
            "containers", []
        )
    }  # fmt: skip
    assert used == {image["name"] for image in kustomization["images"]}
    targets = re.findall(r"^FROM .* AS (\w+)$", (DEPLOY / "Containerfile").read_text(), re.M)
    assert {image.removeprefix("zermelo-") for image in used} <= set(targets)


def test_volumes_and_selectors_of_kubernetes_fit_together() -> None:
    for path in KUBERNETES:
        for found in objects(path):
            template = found.get("spec", {}).get("template")
            if found["kind"] not in ("Deployment", "StatefulSet"):
                continue
            assert found["spec"]["selector"]["matchLabels"] == template["metadata"]["labels"]
            pod = template["spec"]
            claims = found["spec"].get("volumeClaimTemplates", [])
            there = {volume["name"] for volume in pod["volumes"]}
            there |= {claim["metadata"]["name"] for claim in claims}
            for container in pod["containers"]:
                assert {mount["name"] for mount in container["volumeMounts"]} == there
            # Enough time to finish or save: services take 3 seconds, clients 10.
            assert pod["terminationGracePeriodSeconds"] >= (30 if claims else 10)


#: What the Pod Security Standard `restricted` lets a pod mount.
VOLUMES = {"configMap", "emptyDir", "persistentVolumeClaim", "projected", "secret"}


def test_pods_of_kubernetes_want_no_rights() -> None:
    """The standard `restricted`, and more: nothing is written beside volumes, no API is called."""
    checked = 0
    for path in KUBERNETES:
        for found in objects(path):
            pod = found.get("spec", {}).get("template", {}).get("spec")
            if pod is None:
                continue
            checked += 1
            assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers"} & set(pod)
            assert pod["automountServiceAccountToken"] is False
            assert pod["securityContext"]["runAsNonRoot"] is True
            assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
            for volume in pod["volumes"]:
                assert set(volume) - {"name"} <= VOLUMES
            for container in pod["containers"]:
                assert container["securityContext"] == {
                    "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                }  # fmt: skip
                assert not any("hostPort" in port for port in container.get("ports", []))
    assert checked >= 7


def test_compose_has_a_whole_project() -> None:
    (project,) = objects(DEPLOY / "compose.yaml")
    services = project["services"]
    wanted = {"postgres", "coordinator", "generator", "validator", "assimilator", "web"}
    assert wanted | {"prometheus", "grafana"} <= set(services)
    for name, service in services.items():
        for needed in service.get("depends_on", {}):
            assert needed in services, name
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            if source.startswith("./"):
                assert (DEPLOY / source).exists(), source
            elif not source.startswith("/"):
                assert source in project["volumes"]
        if "build" in service:
            assert (DEPLOY / service["build"]["context"] / "deploy/Containerfile").exists()
        # Nobody looks for an image of ours in a registry.
        assert ("build" in service) is service["image"].startswith("zermelo-"), name


def test_builds_take_nothing_along() -> None:
    """By the one file that Docker and podman both read."""
    left_out = (REPOSITORY / ".dockerignore").read_text().splitlines()
    assert {".git", ".venv", "build", "**/*.so", "**/*.c", "deploy"} <= set(left_out)


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files to another account")
def test_compose_keeps_the_key_of_its_authority_from_the_services(tmp_path: Path) -> None:
    (project,) = objects(DEPLOY / "compose.yaml")
    services = project["services"]
    mounts = {name: str(service.get("volumes", ())) for name, service in services.items()}
    assert [name for name, volumes in mounts.items() if "authority" in volumes] == ["certificates"]
    (script,) = services["certificates"]["command"]
    for ours, theirs in (
        ("$$", "$"), ("/tls", f"{tmp_path}/tls"), ("/authority", f"{tmp_path}/authority"),
    ):  # fmt: skip
        assert ours in script
        script = script.replace(ours, theirs)
    (tmp_path / "tls").mkdir()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

    def made() -> dict[str, bytes]:
        subprocess.run(
            ["sh", "-c", script], check=True, timeout=120,
            env={"PATH": path, "ZERMELO_HOST": "play.example.org"},
        )  # fmt: skip
        return {file.name: file.read_bytes() for file in (tmp_path / "tls").iterdir()}

    first = made()
    assert set(first) == {"ca.pem", "server.pem", "server-key.pem"}
    assert {file.stat().st_uid for file in (tmp_path / "tls").iterdir()} == {10001}
    assert made() == first
    # What ended between its steps goes on with the same authority.
    (tmp_path / "tls" / "server.pem").unlink()
    assert made() == first


def test_whatever_runs_on_comes_back_with_the_machine() -> None:
    (project,) = objects(DEPLOY / "compose.yaml")
    once = {"certificates", "migrate"}
    for name, service in project["services"].items():
        assert name in once or service["restart"] == "unless-stopped", name


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)
def test_units_run_commands_that_exist(unit: Path) -> None:
    read = ConfigParser(strict=False, interpolation=None)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read(unit)
    command = read["Service"]["ExecStart"].split()
    assert command[0] == "/usr/local/bin/zermelo"
    found: click.Command | None = zermelo
    for name in command[1:]:
        assert isinstance(found, click.Group)
        found = found.get_command(click.Context(found), name)
    assert found is not None
    assert Path(read["Service"]["EnvironmentFile"]).name in {"server.env", "web.env"}


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs promtool (Debian: prometheus)")
def test_prometheus_raises_each_alert_for_its_trouble_alone() -> None:
    for arguments in (
        ("check", "config", "--syntax-only", "monitoring/prometheus.yml"),
        ("check", "config", "--syntax-only", "compose/prometheus.yml"),
        ("check", "rules", "monitoring/zermelo-alerts.yml"),
        ("test", "rules", "monitoring/zermelo-alerts-test.yml"),
    ):
        done = subprocess.run(
            ["promtool", *arguments], cwd=DEPLOY, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_tried_and_explained() -> None:
    (rules,) = objects(DEPLOY / "monitoring" / "zermelo-alerts.yml")
    (trials,) = objects(DEPLOY / "monitoring" / "zermelo-alerts-test.yml")
    alerts = {rule["alert"] for group in rules["groups"] for rule in group["rules"]}
    for raised in (True, False):
        tried = {
            trial["alertname"] for test in trials["tests"] for trial in test["alert_rule_test"]
            if bool(trial["exp_alerts"]) is raised
        }  # fmt: skip
        assert tried == alerts
    docs = (REPOSITORY / "docs" / "operating.md").read_text()
    assert not [alert for alert in alerts if alert not in docs]


@pytest.mark.skipif(not shutil.which("haproxy"), reason="needs haproxy")
def test_haproxy_reads_its_configuration(tmp_path: Path) -> None:
    from zermelo.server.trust.certificates import make_certificates

    make_certificates(tmp_path / "tls", ["localhost"], 10)
    pair = [(tmp_path / "tls" / name).read_text() for name in ("server.pem", "server-key.pem")]
    (tmp_path / "zermelo.pem").write_text("".join(pair))
    text = (DEPLOY / "haproxy" / "haproxy.cfg").read_text()
    file = tmp_path / "haproxy.cfg"
    file.write_text(text.replace("/etc/haproxy/", f"{tmp_path}/"))
    done = subprocess.run(
        ["haproxy", "-c", "-f", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
