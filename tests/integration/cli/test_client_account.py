"""`zermelo client` about the volunteer's own account: teams, hosts, consents, links, recovery."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner

from tests.support.volunteer import Client
from zermelo import ZermeloError
from zermelo.cli import zermelo
from zermelo.client.configuration import read_configuration
from zermelo.client.folder import ClientFolder
from zermelo.proto import operations_pb2 as op
from zermelo.proto.remote import RefusedError
from zermelo.server.database import Connection
from zermelo.server.trust import accounts
from zermelo.server.trust.accounts import Role
from zermelo.server.trust.operations import perform


@pytest.fixture
def client(guarded: str, tmp_path: Path) -> Client:
    client = Client(tmp_path / "ada")
    assert client("configure", "--server", guarded, "--name", "ada")["works"]
    return client


def test_a_team_by_command(client: Client, guarded: str, tmp_path: Path) -> None:
    other = Client(tmp_path / "bob")
    other("configure", "--server", guarded, "--name", "bob")
    assert client("team", "found", "Engines", "--description", "we count") == {"name": "Engines"}
    assert "you work for Engines" in other.text("team", "join", "Engines")
    with pytest.raises(RefusedError, match="only the founder"):
        other("team", "describe", "mine")
    client("team", "describe", "we count on")
    (team,) = other("team", "list")["teams"]
    assert (team["members"], team["founder"], team["description"]) == (2, "ada", "we count on")
    assert other("team", "leave") == {"name": "Engines"}


def test_account_hosts_and_results_without_a_researchers_token(client: Client) -> None:
    told = client("account", "--show-hosts")
    assert (told["name"], told["show_hosts"], told["export_statistics"]) == ("ada", True, False)
    assert client("account", "--hide-hosts", "--export")["export_statistics"]
    assert client("hosts") == {"hosts": []}
    assert client("results", "in-progress") == {"results": []}
    with pytest.raises(ZermeloError, match="is not one of"):
        client("results", "lost")


def test_a_link_to_the_pages(client: Client, connection: Connection) -> None:
    with pytest.raises(ZermeloError, match="names no pages"):
        client("open")
    perform(connection, op.SetProjectRequest(web_url="https://example.org/"), actor="otto")
    link = urlsplit(client("open")["link"])
    assert (link.scheme, link.netloc, link.path) == ("https", "example.org", "/login")
    (code,) = parse_qs(link.query)["code"]
    assert code != read_configuration(ClientFolder(client.data_dir).config).token
    assert "works once" in client.text("open", "--web", "http://127.0.0.1:8080")


def test_a_lost_token_comes_back_with_the_recovery_code(
    client: Client, guarded: str, tmp_path: Path
) -> None:
    code = client("recovery-code")["code"]
    again = Client(tmp_path / "new")
    with pytest.raises(ZermeloError, match="Give --name and --code-file"):
        again("recover", "--server", guarded)
    with pytest.raises(RefusedError, match="no account of this name with this recovery code"):
        again("recover", "--server", guarded, "--name", "ada", "--code-file", "-", given="wrong\n")
    again("recover", "--server", guarded, "--name", "ada", "--code-file", "-", "--revoke-others",
          given=f"{code}\n")
    assert again("account")["name"] == "ada"


def test_an_account_is_deleted_by_its_owner(client: Client) -> None:
    with pytest.raises(ZermeloError, match="give --name to confirm"):
        client("delete-account")
    assert client("delete-account", "--name", "ada")["name"].startswith("deleted-")
    with pytest.raises(RefusedError, match="unknown or was revoked"):
        client("account")


def test_an_account_shows_its_tokens_once(client: Client) -> None:
    shown = client.text("account").splitlines()
    assert [line.strip() for line in shown if line.startswith("tokens")] == ["tokens"]


def test_without_an_account_the_remedy_is_named(guarded: str, tmp_path: Path) -> None:
    nobody = Client(tmp_path / "nobody")
    with pytest.raises(ZermeloError, match="no server is configured"):
        nobody("account")
    with pytest.raises(ZermeloError, match="`zermelo client recover` finds yours again"):
        nobody("account", "--server", guarded)


def test_operators_variables_do_not_reach_clients(
    client: Client, guarded: str, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = accounts.open_account(connection, "otto", Role.OPERATOR, actor="test")
    monkeypatch.setenv("ZERMELO_REMOTE_SERVER", guarded)
    monkeypatch.setenv("ZERMELO_REMOTE_TOKEN", token)
    users = CliRunner().invoke(zermelo, ["admin", "users", "--json"])
    assert {user["name"] for user in json.loads(users.output)["users"]} == {"ada", "otto"}
    assert client("account")["name"] == "ada"
    monkeypatch.setenv("ZERMELO_REMOTE_SERVER", "127.0.0.1:1")
    assert client("account")["name"] == "ada"
    listed = CliRunner().invoke(zermelo, ["query", "volunteers", "--json"])
    assert "cannot reach 127.0.0.1:1" in str(listed.exception)
