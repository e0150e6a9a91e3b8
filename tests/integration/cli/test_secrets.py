"""Nothing secret in a process list, and backups and tokens that only their owner reads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from psycopg.conninfo import conninfo_to_dict

from zermelo import ZermeloError
from zermelo.cli import zermelo
from zermelo.cli.token_options import token_options
from zermelo.client import dask_fleet
from zermelo.server.database import Connection, DatabaseError, without_password
from zermelo.server.dumps import back_up_database

SECRET = "hunter2"  # noqa: S105 - the point of it


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ada:{SECRET}@127.0.0.1:9/x",
        f"postgresql://ada@127.0.0.1:9/x?password={SECRET}",
        f"host=127.0.0.1 port=9 password={SECRET}",
        f"host=127.0.0.1 port=9 PASSWORD = '{SECRET}'",
    ],
)
def test_a_password_on_the_command_line_is_refused(url: str) -> None:
    refused = CliRunner().invoke(zermelo, ["db", "check", "--database", url])
    assert isinstance(refused.exception, ZermeloError)
    assert refused.exception.exit_code == 2
    assert "ZERMELO_DATABASE" in str(refused.exception)
    assert SECRET not in refused.output + str(refused.exception)
    # From the environment it is taken: then there is just no such server.
    tried = CliRunner().invoke(zermelo, ["db", "check"], env={"ZERMELO_DATABASE": url})
    assert isinstance(tried.exception, DatabaseError)
    assert SECRET not in str(tried.exception)


@pytest.mark.parametrize(
    "url",
    ["postgresql://ada@127.0.0.1:9/x", "postgresql:///x?passfile=%2Fhome%2Fada%2Fpass",
     "postgresql://127.0.0.1:9/x", "service=zermelo", "postgresql://[::1]:9/x"],
)  # fmt: skip
def test_urls_without_a_password_are_taken(url: str) -> None:
    tried = CliRunner().invoke(zermelo, ["db", "check", "--database", url])
    assert isinstance(tried.exception, DatabaseError)
    assert without_password(url) == (url, "")


def test_backups_are_their_owners_and_children_see_no_password(
    database: str, connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passfile = Path(str(conninfo_to_dict(database)["passfile"]))
    password = passfile.read_text().strip().rpartition(":")[2]
    started: list[list[str]] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, command: list[str], **more: Any) -> None:
            started.append(command)
            super().__init__(command, **more)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    url = database.replace("zermelo@", f"zermelo:{password}@").partition("&passfile=")[0]
    assert password in url
    (tmp_path / "b.new").touch(mode=0o666)
    before = os.umask(0)
    try:
        assert back_up_database(url, tmp_path / "b") > 0
    finally:
        os.umask(before)
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600
    (command,) = started
    assert password not in " ".join(command)


# -- tokens -----------------------------------------------------------------------------------


@click.command()
@token_options
def tell(token: str | None) -> None:
    click.echo(token)


def told(*arguments: str, **more: Any) -> str:
    ran = CliRunner().invoke(tell, arguments, **more)
    assert ran.exit_code == 0, ran.output
    return ran.stdout.strip()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.touch(0o600)
    path.write_text(f"{SECRET}\n")
    return path


def test_a_token_comes_from_a_file_the_environment_or_standard_input(file: Path) -> None:
    assert told() == ""
    assert told("--token-file", str(file)) == SECRET
    assert told("--token-file", "-", input=f"{SECRET}\n") == SECRET
    assert told(env={"ZERMELO_TOKEN": SECRET}) == SECRET
    assert told(env={"ZERMELO_TOKEN_FILE": str(file)}) == SECRET
    # What stands on the command line is meant.
    assert told("--token-file", str(file), env={"ZERMELO_TOKEN": "other"}) == SECRET
    assert told("--token", "other", env={"ZERMELO_TOKEN_FILE": str(file)}) == "other"


def test_a_token_on_the_command_line_is_warned_of() -> None:
    ran = CliRunner().invoke(tell, ["--token", SECRET])
    assert "everybody on this machine" in ran.stderr
    assert SECRET not in ran.stderr
    assert not CliRunner().invoke(tell, [], env={"ZERMELO_TOKEN": SECRET}).stderr


def test_a_file_that_others_may_read_is_warned_of(file: Path) -> None:
    assert not CliRunner().invoke(tell, ["--token-file", str(file)]).stderr
    file.chmod(0o640)
    assert "chmod 600" in CliRunner().invoke(tell, ["--token-file", str(file)]).stderr


@pytest.mark.parametrize(
    ("content", "complaint"),
    [("", "holds no token"), ("two words", "holds no token"), ("x" * 300, "holds no token"),
     ("t\u00f6ken", "holds no token"), (None, "cannot read")],
)  # fmt: skip
def test_what_is_no_token_is_one_line(file: Path, content: str | None, complaint: str) -> None:
    if content is None:
        file.unlink()
    else:
        file.write_text(content)
    ran = CliRunner().invoke(tell, ["--token-file", str(file)])
    assert ran.exit_code == 2
    assert complaint in ran.stderr
    both = CliRunner().invoke(tell, ["--token-file", str(file), "--token", SECRET])
    assert "give one of them" in both.stderr


def test_no_command_of_ours_hands_a_token_to_a_command_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Dask workers start clients: each as a process that others see."""
    started: list[tuple[list[str], dict[str, str]]] = []

    class Process:
        returncode = 0

        def __init__(self, command: list[str], env: dict[str, str], **_: Any) -> None:
            started.append((command, env))

        def poll(self) -> int:
            return 0

        def wait(self, *_: Any) -> int:
            return 0

    worker = type("Worker", (), {"local_directory": "/nowhere"})()
    fake = type("Distributed", (), {
        "Event": lambda _: type("Event", (), {"is_set": lambda _: True})(),
        "get_worker": staticmethod(lambda: worker),
    })  # fmt: skip
    monkeypatch.setitem(sys.modules, "distributed", fake)
    monkeypatch.setattr(dask_fleet.subprocess, "Popen", Process)
    assert dask_fleet.run_client(["--server", "x:1"], SECRET, "stop") == 0
    ((command, environment),) = started
    assert SECRET not in " ".join(command)
    assert environment["ZERMELO_TOKEN"] == SECRET
