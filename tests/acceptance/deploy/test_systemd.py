"""The units under a real systemd: they start, work, come back after a crash, and end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.coordinator import wait_until
from tests.support.places import REPOSITORY
from tests.support.systemd_machine import Machine, booted

UNITS = REPOSITORY / "deploy" / "systemd"
SERVICES = ("coordinator", "generator", "validator", "assimilator", "web")
#: With what systemd would replace in a command.
ODD_FOLDER = "/srv/50% of $HOME"
#: The services join the PostgreSQL that zermelo-all.service runs.
ENVIRONMENT = """
ZERMELO_DATA_DIR=/var/lib/zermelo
ZERMELO_LISTEN=127.0.0.1:{port}
ZERMELO_LOG_FORMAT=json
"""
TLS = "/etc/zermelo/tls"
SERVER = ("--server", "localhost:1923", "--ca-file", f"{TLS}/ca.pem")
ENCRYPTED = f"""
ZERMELO_CERTIFICATE={TLS}/server.pem
ZERMELO_KEY={TLS}/server-key.pem
"""


def install(machine: Machine) -> None:
    """As docs/operating.md says."""
    machine.install_zermelo()
    machine.write("/usr/lib/sysusers.d/zermelo.conf", (UNITS / "zermelo.sysusers").read_text())
    machine.run("systemd-sysusers")
    for unit in (*UNITS.glob("*.service"), *UNITS.glob("*.target")):
        machine.write(f"/etc/systemd/system/{unit.name}", unit.read_text())
    machine.write("/etc/zermelo/server.env", ENVIRONMENT.format(port=1913))
    machine.write("/etc/zermelo/web.env", ENVIRONMENT.format(port=1913))
    machine.run("zermelo", "tls", "make", TLS, "--host", "localhost")
    machine.run("chgrp", "zermelo", f"{TLS}/server-key.pem")
    machine.run("chmod", "640", f"{TLS}/server-key.pem")
    machine.run("install", "-d", "-o", "zermelo", "/var/lib/zermelo")
    for command in ("db init", "campaign create reversi:4x4"):
        as_service = ("runuser", "-u", "zermelo", "--", "zermelo", *command.split())
        machine.run(*as_service, "--data-dir", "/var/lib/zermelo")


def campaign(machine: Machine) -> str:
    shown = machine.run(
        "runuser", "-u", "zermelo", "--", "zermelo", "campaign", "show", "reversi:4x4",
        "--data-dir", "/var/lib/zermelo", "--json",
    )  # fmt: skip
    return str(json.loads(shown)["state"])


@pytest.mark.long
@pytest.mark.repeated
def test_services_and_a_client_as_units(tmp_path: Path) -> None:
    with booted(tmp_path) as machine:
        install(machine)
        units = [f"zermelo-{name}.service" for name in SERVICES]
        files = [f"/etc/systemd/system/{unit}" for unit in (*units, "zermelo-all.service")]
        machine.run("systemd-analyze", "verify", "--man=no", *files)

        # All in one unit, with a PostgreSQL of their own.
        machine.run("systemctl", "start", "zermelo-all")
        wait_until(lambda: healthy(machine, "127.0.0.1:1913"))

        # One unit each, beside it, at another port, encrypted.
        machine.run("sed", "-i", "/Conflicts=/d", "/etc/systemd/system/zermelo-all.service")
        machine.write("/etc/zermelo/server.env", ENVIRONMENT.format(port=1923) + ENCRYPTED)
        machine.run("systemctl", "daemon-reload")
        machine.run("systemctl", "start", "zermelo.target", "zermelo-web.service")
        wait_until(lambda: healthy(machine, *SERVER[1:]))
        wait_until(lambda: healthy(machine, "http://127.0.0.1:8080/"))
        assert all(machine.active(unit) for unit in units)
        lines = machine.journal("zermelo-coordinator.service").splitlines()
        assert json.loads(lines[-1])["service"] == "coordinator"

        # Whoever is killed comes back.
        before = machine.show("zermelo-generator", "MainPID")
        machine.run("kill", "-9", before)
        wait_until(lambda: machine.show("zermelo-generator", "MainPID") not in ("0", before))

        volunteer(machine)
        user(machine)
        end(machine, units)


def healthy(machine: Machine, *place: str) -> bool:
    return "is ready" in machine.run("zermelo", "health", *place, check=False)


def volunteer(machine: Machine) -> None:
    """Root configures a client, and the unit it prints solves the campaign."""
    printed = machine.run(
        "zermelo", "client", "configure", *SERVER, "--name", "ada",
        "--cores", "1", "--memory-mb", "16", "--data-dir", ODD_FOLDER,
        "--service", "systemd-system",
    )  # fmt: skip
    unit = printed[printed.index("[Unit]"):]
    machine.write("/etc/systemd/system/zermelo-client.service", unit)
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "start", "zermelo-client")
    wait_until(lambda: campaign(machine) == "finished")
    assert machine.active("zermelo-client")
    # Under its own account, whatever root wrote before.
    pid = machine.show("zermelo-client", "MainPID")
    assert machine.run("stat", "-c", "%U", f"/proc/{pid}") == "zermelo"
    machine.run("systemctl", "stop", "zermelo-client")
    assert machine.show("zermelo-client", "Result") == "success"
    # What does not mend itself is not started again.
    machine.write(f"{ODD_FOLDER}/client/config.toml", "cores = what\n")
    machine.run("systemctl", "start", "zermelo-client")
    wait_until(lambda: machine.show("zermelo-client", "ActiveState") == "failed")
    assert machine.show("zermelo-client", "NRestarts") == "0"


def user(machine: Machine) -> None:
    """Somebody without rights configures a client, and runs it by the unit that it prints."""
    machine.run("useradd", "--create-home", "ada")
    number = machine.run("id", "-u", "ada")
    # As `loginctl enable-linger` does where logind runs.
    machine.run("systemctl", "start", f"user@{number}")

    def as_ada(*command: str, check: bool = True) -> str:
        return machine.run(
            "runuser", "-u", "ada", "--", "env", "HOME=/home/ada",
            f"XDG_RUNTIME_DIR=/run/user/{number}", *command, check=check,
        )  # fmt: skip

    def shown(what: str) -> str:
        return as_ada("systemctl", "--user", "show", "--value", "-p", what, "zermelo-client")

    printed = as_ada(
        "zermelo", "client", "configure", *SERVER, "--name", "eve",
        "--cores", "1", "--memory-mb", "16", "--service", "systemd-user",
    )  # fmt: skip
    place = "/home/ada/.config/systemd/user/zermelo-client.service"
    as_ada("mkdir", "-p", str(Path(place).parent))
    machine.write(place, printed[printed.index("[Unit]"):])
    as_ada("systemd-analyze", "--user", "verify", "--man=no", place)
    as_ada("systemctl", "--user", "enable", "--now", "zermelo-client")
    wait_until(lambda: '"state": "waiting"' in status(as_ada))
    assert as_ada("systemctl", "--user", "is-active", "default.target") == "active"
    wants = as_ada("systemctl", "--user", "show", "--value", "-p", "Wants", "default.target")
    assert "zermelo-client.service" in wants
    as_ada("systemctl", "--user", "stop", "zermelo-client")
    assert (shown("Result"), shown("NRestarts")) == ("success", "0")


def status(as_ada: Callable[..., str]) -> str:
    return as_ada("zermelo", "client", "status", "--json", check=False)


def end(machine: Machine, units: list[str]) -> None:
    """Everything ends by itself when it is told to."""
    units = [*units, "zermelo-all.service"]
    machine.run("systemctl", "stop", *units)
    for unit in units:
        assert machine.show(unit, "Result") == "success", machine.journal(unit)
