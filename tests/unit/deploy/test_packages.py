"""`deploy/packages.sh` on machines with and without programs, with an apt-get of ours."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "deploy" / "packages.sh"

#: Knows packages only after `update`; what it is asked for is written down.
WITHOUT_LISTS = """
echo "$1" >> "$MACHINE/asked"
case $1 in
    update) touch "$MACHINE/lists" ;;
    install)
        echo "$@" > "$MACHINE/wanted"
        test -e "$MACHINE/lists" || { echo "E: no such package"; exit 100; } ;;
esac
"""
OFFLINE = 'echo "$1" >> "$MACHINE/asked"; echo "E: no network"; exit 100'


class Machine:
    """A machine that has the given programs, and no others but a shell's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.has("id", "echo 0")
        for tool in ("sh", "tail", "touch"):
            found = shutil.which(tool)
            assert found is not None
            (folder / tool).symlink_to(found)

    def has(self, program: str, script: str = "") -> None:
        (self.folder / program).write_text(f"#!/bin/sh\n{script}\n")
        (self.folder / program).chmod(0o755)

    def run(self, what: str = "browser") -> str:
        done = subprocess.run(
            ["/bin/sh", SCRIPT, what], capture_output=True, text=True, timeout=60, check=True,
            env={"PATH": str(self.folder), "MACHINE": str(self.folder)},
        )  # fmt: skip
        assert not done.stderr
        return done.stdout

    @property
    def asked(self) -> list[str]:
        asked = self.folder / "asked"
        return asked.read_text().split() if asked.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_lists_are_fetched_where_there_are_none(machine: Machine) -> None:
    machine.has("apt-get", WITHOUT_LISTS)
    said = machine.run()
    assert machine.asked == ["install", "update", "install"]
    assert said.splitlines() == [
        "installing the package chromium with apt-get: tests of pages need a browser"
    ]


def test_lists_that_are_there_are_used(machine: Machine) -> None:
    machine.has("apt-get", WITHOUT_LISTS)
    (machine.folder / "lists").touch()
    machine.run()
    assert machine.asked == ["install"]


@pytest.mark.parametrize("browser", ["chromium", "chromium-browser", "google-chrome"])
def test_a_browser_that_is_there_is_enough(machine: Machine, browser: str) -> None:
    machine.has("apt-get", WITHOUT_LISTS)
    machine.has(browser)
    assert not machine.run()
    assert not machine.asked


def test_a_failure_is_told_with_its_reason(machine: Machine) -> None:
    machine.has("apt-get", OFFLINE)
    assert machine.run().splitlines()[1:] == ["chromium cannot be installed: E: no network"]


def test_others_than_root_are_not_asked(machine: Machine) -> None:
    machine.has("apt-get", WITHOUT_LISTS)
    machine.has("id", "echo 1000")
    assert not machine.run()
    assert not machine.asked


def test_what_deploy_offers_is_tried_with_what_is_missing(machine: Machine) -> None:
    machine.has("apt-get", WITHOUT_LISTS)
    machine.has("haproxy")
    said = machine.run("services")
    missing = "prometheus slurm-wlm munge"
    assert said == f"installing the packages {missing} with apt-get: tests of deploy/ run them\n"
    wanted = (machine.folder / "wanted").read_text().split()
    assert wanted == ["install", "-y", "--no-install-recommends", *missing.split()]


def test_programs_that_are_there_are_enough(machine: Machine) -> None:
    machine.has("apt-get", WITHOUT_LISTS)
    for program in ("haproxy", "promtool", "slurmctld", "munged"):
        machine.has(program)
    assert not machine.run("services")
    assert not machine.asked
