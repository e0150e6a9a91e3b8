"""Nothing secret in a process list, and backups that only their owner reads."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from psycopg.conninfo import conninfo_to_dict

from zermelo import ZermeloError
from zermelo.cli import zermelo
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
    run = subprocess.run

    def noted(command: list[str], **more: Any) -> Any:
        started.append(command)
        return run(command, **more)

    monkeypatch.setattr(subprocess, "run", noted)
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
