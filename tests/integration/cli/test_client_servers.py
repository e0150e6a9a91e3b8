"""`zermelo client` and its ways to servers: another one, a wrong token, a second machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import grpc
import pytest

from tests.support.client_process import command, known_speeds
from tests.support.coordinator import running_coordinator
from tests.support.volunteer import Client
from zermelo import ZermeloError
from zermelo.cli.client.configure import NotSavedError
from zermelo.cli.plain_errors import CommandError
from zermelo.client.configuration import read_configuration, write_configuration
from zermelo.client.folder import ClientFolder
from zermelo.client.token_file import TokenFile
from zermelo.proto.remote import UnreachableError
from zermelo.server.ports import free_port
from zermelo.server.trust.certificates import make_certificates


@pytest.fixture
def client(guarded: str, tmp_path: Path) -> Client:
    client = Client(tmp_path / "ada")
    assert client("configure", "--server", guarded, "--name", "ada")["works"]
    return client


def test_a_recovery_keeps_the_way_to_the_server(
    database: str, tmp_path: Path
) -> None:
    tls = tmp_path / "tls"
    make_certificates(tls, ["localhost"], 10)
    listen = f"localhost:{free_port()}"
    channel = grpc.secure_channel(
        listen, grpc.ssl_channel_credentials((tls / "ca.pem").read_bytes())
    )
    with running_coordinator(
        database, listen, channel, require_token=True, certificate=tls / "server.pem",
        key=tls / "server-key.pem",
    ):  # fmt: skip
        way = ("--server", listen, "--ca-file", str(tls / "ca.pem"))
        lost, again = Client(tmp_path / "lost"), Client(tmp_path / "again")
        lost("configure", *way, "--name", "ada")
        code = lost("recovery-code")["code"]
        again("recover", *way, "--tls", "on", "--name", "ada", "--code-file", "-",
              given=f"{code}\n")  # fmt: skip
        (tls / "ca.pem").unlink()  # what is given on a command line need not stay
        moved = Client(tmp_path / "moved")
        again.data_dir.rename(moved.data_dir)
        assert moved("account")["name"] == "ada"
        assert moved("configure")["works"]
        found = read_configuration(ClientFolder(moved.data_dir).config)
        assert (found.name, found.tls, found.ca_file) == ("ada", "on", Path("ca.pem"))


def test_a_token_that_cannot_be_kept_is_not_asked_for(
    client: Client, guarded: str, tmp_path: Path
) -> None:
    code = client("recovery-code")["code"]
    again = Client(tmp_path / "again")
    ClientFolder(again.data_dir).make()
    (ClientFolder(again.data_dir).path / ".config.toml.new").mkdir()  # where files are written
    with pytest.raises(ZermeloError, match="cannot write"):
        again("recover", "--server", guarded, "--name", "ada", "--revoke-others",
              "--code-file", "-", given=f"{code}\n")  # fmt: skip
    assert client("account")["name"] == "ada"  # its token was not revoked


def test_another_server_costs_no_account(
    client: Client, guarded: str, tmp_path: Path
) -> None:
    wrong = f"127.0.0.1:{free_port()}"
    _, port = guarded.split(":")
    assert client.code("configure", "--server", wrong) == UnreachableError.exit_code
    config = ClientFolder(client.data_dir).config
    assert read_configuration(config).token == ""  # which is none of that server's business
    assert client("configure", "--server", f" LOCALHOST:{port}", "--name", "eve")["works"]
    assert client("configure", "--server", guarded)["works"]
    assert client("account")["name"] == "ada"
    # What `run` opened itself is found by `configure`, too.
    before = read_configuration(config)
    write_configuration(config, replace(before, token="", server=wrong))
    TokenFile(ClientFolder(client.data_dir).token).keep(guarded, before.token)
    assert client("configure", "--server", guarded)["works"]
    assert read_configuration(config).token == before.token


def test_what_the_server_refuses_is_not_saved(client: Client, tmp_path: Path) -> None:
    config = ClientFolder(client.data_dir).config
    before = config.read_bytes()
    wrong = tmp_path / "token"
    wrong.touch(0o600)
    wrong.write_text("wrong")
    assert client.code("configure", "--token-file", str(wrong)) == NotSavedError.exit_code
    for name in ("n" * 41, "two\nlines"):
        with pytest.raises(CommandError, match="one printable line"):
            client("configure", "--name", name)
    assert config.read_bytes() == before
    # A token says whose it is.
    assert client("configure", "--name", "somebody else")["works"]
    assert read_configuration(config).name == "ada"


def test_a_token_is_not_shown_to_another_server(
    client: Client, guarded: str
) -> None:
    _, port = guarded.split(":")
    other = f"localhost:{port}"  # by its name the same server is another one
    told = client.text("doctor", "--server", guarded)
    assert "knows you as ada" in " ".join(told.split())
    assert client.code("doctor", "--server", other) == 1
    known_speeds(client.data_dir)
    ran = command("run", "--server", other, "--for", "0.5s", "--memory-mb", "1",
                  "--data-dir", str(client.data_dir))  # fmt: skip
    assert "there is a user 'ada' already" in ran.stderr  # it wanted an account of its own
