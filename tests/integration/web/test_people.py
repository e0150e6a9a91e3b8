"""Pages of volunteers, teams and operators: with a real coordinator and real tokens."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

import grpc
import pytest
from starlette.testclient import TestClient

from tests.support.campaigns import solve
from tests.support.coordinator import Queue, bearer, running_coordinator
from tests.support.databases import new_database
from tests.support.web import visiting
from zermelo.proto import coordinator_pb2 as co
from zermelo.proto import volunteers_pb2 as pb
from zermelo.proto.service import CoordinatorStub
from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection, connect_once
from zermelo.server.trust import accounts, teams
from zermelo.server.trust.accounts import Account, Role
from zermelo.server.trust.credit import grant
from zermelo.server.trust.referee import Referee
from zermelo.server.trust.volunteers import perform
from zermelo.sql import query

KEY = b"k" * 16
#: What somebody may call a team, a host or an account, and must not become more than text.
HOSTILE = "<b>=1+1&\"'"


@pytest.fixture(scope="module")
def project(postgres: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """A database, the address of its coordinator, and the tokens of its people."""
    with new_database(postgres) as url, connect_once(url) as connection:
        connection.execute(query("create_roles"))  # the pages have the rights of researchers
        solve(connection, "reversi:4x4", node_budget=200)
        tokens = {
            "ada": accounts.open_account(connection, "ada", Role.VOLUNTEER, actor="test"),
            "otto": accounts.open_account(connection, "otto", Role.OPERATOR, actor="test"),
            HOSTILE: accounts.open_account(connection, HOSTILE, Role.VOLUNTEER, actor="test"),
        }
        with running_coordinator(url, require_token=True) as address:
            with grpc.insecure_channel(address) as channel:
                CoordinatorStub(channel).Hello(co.HelloRequest(
                    protocol_version=1, host_key=KEY, workers=2, host_name=HOSTILE, cores=8,
                    memory_mb=4096, platform=f"Linux {HOSTILE}", client_version="9.9",
                ), metadata=bearer(tokens[HOSTILE]), timeout=60)  # fmt: skip
            row = connection.execute("SELECT id FROM hosts WHERE cores = 8").fetchone()
            assert row is not None
            grant(connection, [(row[0], 2.5e6)])
            user = accounts.user_id(connection, HOSTILE)
            teams.found_team(connection, user, HOSTILE, HOSTILE)
            perform(connection, pb.SetConsentsRequest(show_hosts=True, export_statistics=True),
                    Account(user, Role.VOLUNTEER, HOSTILE, False))
            # As no release writes it, but other programs may: longer than a reply may carry.
            connection.execute("UPDATE hosts SET version = repeat('ü', 99) WHERE cores = 8")
            yield url, address, tokens


@pytest.fixture
def people(project: tuple[str, str, dict[str, str]]) -> Iterator[TestClient]:
    url, address, _ = project
    with visiting(url, coordinator=address) as client:
        yield client


def sign_in(visitor: TestClient, token: str) -> None:
    answer = visitor.post("/login", data={"token": token}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/me")


def number_of_host(connection: Connection) -> int:
    row = connection.execute("SELECT id FROM hosts WHERE cores = 8").fetchone()
    assert row is not None
    return int(row[0])


PUBLIC = (
    "/volunteers", "/volunteers?time=month", "/teams", f"/volunteers/{HOSTILE}",
    f"/teams/{HOSTILE}", "/login", "/login?code=%3Cb%3E",
)  # fmt: skip


@pytest.mark.parametrize("path", PUBLIC)
def test_hostile_names_are_text_on_public_pages(people: TestClient, path: str) -> None:
    page = people.get(path)
    assert page.status_code == 200
    assert "<b>" not in page.text
    assert "style=" not in page.text
    assert re.findall(r"<script(?![^>]* src=)", page.text) == []


def test_volunteers_have_three_forms(people: TestClient) -> None:
    data = people.get("/volunteers.json").json()
    first = next(one for one in data["volunteers"] if one["name"] == HOSTILE)
    assert (first["credit"], first["team"]) == (2.5, HOSTILE)
    assert first["average_credit"] == pytest.approx(2.5 * 0.0990210258)  # ln 2 / 7
    assert "hosts" not in first
    rows = list(csv.DictReader(io.StringIO(people.get("/teams.csv").text)))
    assert [row["members"] for row in rows] == ["1"]
    assert not rows[0]["name"].startswith("=")
    month = people.get("/volunteers.json?time=month").json()["volunteers"]
    assert month[0]["rank"] == 1


def test_a_profile_shows_what_its_owner_lets_be_seen(people: TestClient) -> None:
    shown = people.get(f"/volunteers/{HOSTILE}.json").json()
    assert [host["cores"] for host in shown["hosts"]] == [8]
    assert shown["badges"][0]["label"] == "first million nodes"
    assert len(shown["days"]) == 60
    assert shown["days"][-1]["credit"] == 2.5
    # Nobody else agreed to anything.
    proving = next(one["name"] for one in people.get("/volunteers.json").json()["volunteers"]
                   if one["name"] != HOSTILE)
    hidden = people.get(f"/volunteers/{proving}.json").json()
    assert hidden["hosts"] == []
    assert [proof["campaign"] for proof in hidden["proofs"]] == ["reversi:4x4"]
    assert hidden["proofs"][0]["leaves"] > 0
    (badge,) = (badge for badge in hidden["badges"] if badge["href"])
    assert badge["label"] == "stands in the certificate of reversi:4x4"
    assert badge["href"] == "/campaigns/reversi:4x4/certificate"


def test_who_is_not_there_is_told_with_others_who_are(people: TestClient) -> None:
    for path in ("/volunteers/nobody", "/teams/nobody", "/volunteers/nobody/badge.svg"):
        page = people.get(path)
        assert page.status_code == 404
        assert "nobody" in page.text
        assert "<b>" not in page.text


def test_a_badge_is_a_picture_whatever_the_name(people: TestClient) -> None:
    badge = people.get(f"/volunteers/{HOSTILE}/badge.svg")
    assert badge.headers["content-type"] == "image/svg+xml"
    drawn = ET.fromstring(badge.text)  # noqa: S314 - our own
    texts = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == HOSTILE
    assert "2.5 million nodes" in str(texts[1])


def test_statistics_contain_who_agreed_and_nobody_else(people: TestClient) -> None:
    files = {}
    for name in ("user", "host", "team"):
        packed = people.get(f"/stats/{name}.gz")
        assert packed.status_code == 200
        files[name] = ET.fromstring(gzip.decompress(packed.content))  # noqa: S314 - our own
    assert [user.findtext("name") for user in files["user"]] == [HOSTILE]
    (host,) = files["host"]
    assert host.findtext("userid") == files["user"][0].findtext("id")
    assert float(str(host.findtext("total_credit"))) == 2.5
    assert float(str(host.findtext("expavg_credit"))) == pytest.approx(2.5 * 0.099021, rel=1e-3)
    assert [team.findtext("name") for team in files["team"]] == [HOSTILE]
    totals = ET.fromstring(people.get("/stats/tables.xml").text)  # noqa: S314
    assert int(str(totals.findtext("nusers_total"))) > 1
    assert people.get("/stats/token.gz").status_code == 404


# -- signed in --------------------------------------------------------------------------------


def test_strangers_are_asked_who_they_are(people: TestClient) -> None:
    for path in ("/me", "/me/hosts", "/me/hosts/1", "/me/settings", "/operate/queue",
                 "/operate/hosts.json", "/operate/ban?host=1"):
        assert people.get(path).status_code == 401
    for path in ("/me/consents", "/me/team", "/me/delete", "/logout"):
        assert people.post(path, data={"do": "leave"}).status_code in (400, 401)
    assert people.post("/login", data={"token": "nonsense"}).status_code == 403
    assert people.post("/login", data={"token": ""}).status_code == 400
    assert people.post("/login", data={"code": "x" * 5000}).status_code == 400


def test_the_token_that_was_pasted_is_not_what_the_cookie_holds(
    people: TestClient, project: tuple[str, str, dict[str, str]]
) -> None:
    url, _, tokens = project
    sign_in(people, tokens["ada"])
    assert tokens["ada"] not in str(people.cookies)
    with connect_once(url) as connection:
        before = connection.execute(
            "SELECT count(*) FROM tokens WHERE purpose = 'web' AND revoked_at IS NULL"
            " AND expires_at < now() + interval '31 days'"
        ).fetchone()
        assert before is not None
        assert before[0] >= 1
        assert people.post("/logout", follow_redirects=False).status_code == 303
        assert people.get("/me").status_code == 401
        after = connection.execute(
            "SELECT count(*) FROM tokens WHERE purpose = 'web' AND revoked_at IS NULL"
        ).fetchone()
    assert after == (before[0] - 1,)


def test_a_link_is_used_by_the_button_and_only_once(
    people: TestClient, project: tuple[str, str, dict[str, str]]
) -> None:
    url = project[0]
    with connect_once(url) as connection:
        user = accounts.user_id(connection, "ada")
        code = perform(connection, pb.OpenSignInRequest(),
                       Account(user, Role.VOLUNTEER, "ada", False)).code
    for _ in range(2):  # looking does not use it up
        assert code in people.get(f"/login?code={code}").text
    answer = people.post("/login", data={"code": code}, follow_redirects=False)
    assert answer.status_code == 303
    assert people.get("/me").status_code == 200
    people.cookies.clear()
    assert people.post("/login", data={"code": code}).status_code == 403


def test_my_pages(people: TestClient, project: tuple[str, str, dict[str, str]]) -> None:
    url, _, tokens = project
    sign_in(people, tokens[HOSTILE])
    with connect_once(url) as connection:
        number = number_of_host(connection)
    for path in ("/me", "/me/hosts", f"/me/hosts/{number}", "/me/settings",
                 f"/me/hosts/{number}?tab=in-progress", f"/me/hosts/{number}?tab=error"):
        page = people.get(path)
        assert page.status_code == 200, path
        assert "<b>" not in page.text
    (host,) = people.get("/me/hosts.json").json()["hosts"]
    assert (host["memory_mb"], host["no_work"]) == (4096, "no campaign is open")
    assert host["version"] == "ü" * 30 + "…"
    assert "Why is there no work?" in people.get("/me").text
    assert people.get(f"/me/hosts/{number}?tab=lost").status_code == 404
    assert people.get("/me/hosts/99999").status_code == 403
    assert people.get(f"/me/hosts/{2**40}").status_code == 404
    assert people.get("/operate/queue").status_code == 403


def test_consents_and_teams_are_changed_through_the_coordinator(
    people: TestClient, project: tuple[str, str, dict[str, str]]
) -> None:
    sign_in(people, project[2]["ada"])

    def account() -> Any:
        return people.get("/me/settings.json").json()["account"]

    people.post("/me/consents", data={"show_hosts": "on"})
    assert (account()["show_hosts"], account()["export_statistics"]) == (True, False)
    people.post("/me/consents", data={})
    assert account()["show_hosts"] is False
    people.post("/me/team", data={"do": "join", "name": HOSTILE})
    assert account()["team"] == HOSTILE
    people.post("/me/team", data={"do": "leave"})
    people.post("/me/team", data={"do": "found", "name": "Engines"})
    people.post("/me/team", data={"do": "describe", "description": "we count"})
    assert people.get("/teams/Engines.json").json()["team"]["description"] == "we count"
    refused = people.post("/me/team", data={"do": "join", "name": "None"})
    assert refused.status_code == 403
    assert "no team" in refused.text
    assert people.post("/me/team", data={"do": "dance"}).status_code == 400


def test_secrets_are_shown_once_and_not_kept_by_the_browser(
    people: TestClient, project: tuple[str, str, dict[str, str]]
) -> None:
    url, _, _ = project
    with connect_once(url) as connection:
        token = accounts.open_account(connection, "carol", Role.VOLUNTEER, actor="test")
    sign_in(people, token)
    page = people.post("/me/recovery")
    assert page.headers["cache-control"] == "no-store"
    assert re.search(r"<code>[\w-]{43}</code>", page.text)
    assert people.get("/me/settings.json").json()["account"]["recovery_code"]
    page = people.post("/me/token")
    (fresh,) = re.findall(r"<code>([\w-]{43})</code>", page.text)
    assert people.get("/me").status_code == 401
    sign_in(people, fresh)
    assert people.post("/me/delete", data={"name": "ada"}).status_code == 400
    answer = people.post("/me/delete", data={"name": "carol"}, follow_redirects=False)
    assert answer.status_code == 303
    assert people.get("/volunteers/carol").status_code == 404


# -- operators --------------------------------------------------------------------------------


def test_operators_pages(people: TestClient, project: tuple[str, str, dict[str, str]]) -> None:
    url, _, tokens = project
    sign_in(people, tokens["otto"])
    with connect_once(url) as connection:
        number = number_of_host(connection)
    for path in ("/operate/queue", "/operate/alarms", "/operate/alarms?all=1", "/operate/hosts",
                 "/operate/users", "/operate/audit", f"/operate/ban?host={number}"):
        page = people.get(path)
        assert page.status_code == 200, path
        assert "<b>" not in page.text
    assert people.get("/operate", follow_redirects=False).headers["location"] == "/operate/queue"
    assert people.get("/operate/ban").status_code == 400
    assert people.get("/operate/ban?host=x").status_code == 400
    rows = csv.DictReader(io.StringIO(people.get("/operate/hosts.csv").text))
    assert number in {int(row["id"]) for row in rows}


def test_nobody_is_offered_to_ban_the_referee(
    people: TestClient, project: tuple[str, str, dict[str, str]]
) -> None:
    url, _, tokens = project
    with connect_once(url) as connection:
        referee, number = Referee(connection).host, number_of_host(connection)
    sign_in(people, tokens["otto"])
    page = people.get("/operate/hosts").text
    assert f"/operate/ban?host={number}\"" in page
    assert f"/operate/ban?host={referee}\"" not in page
    hosts = people.get("/operate/hosts.json").json()["hosts"]
    assert {host["id"] for host in hosts if host["referee"]} == {referee}


def test_a_ban_has_a_preview_and_a_reason(
    people: TestClient, project: tuple[str, str, dict[str, str]]
) -> None:
    url, _, tokens = project
    sign_in(people, tokens["otto"])
    with connect_once(url) as connection:
        number = number_of_host(connection)
    told = people.get(f"/operate/ban.json?host={number}").json()["preview"]
    assert (told["credit"], told["user"]) == (2.5, HOSTILE)
    assert people.post("/operate/ban", data={"host": str(number)}).status_code == 400
    people.post("/operate/ban", data={"host": str(number), "reason": "overclocked"})
    assert "Unban" in people.get("/operate/hosts").text
    lines = people.get(f"/operate/audit.json?subject=host+{number}").json()["audit"]
    assert ("otto", "ban", "overclocked") in {
        (line["actor"], line["action"], line["detail"]) for line in lines
    }
    people.cookies.clear()
    sign_in(people, tokens[HOSTILE])
    (host,) = people.get("/me/hosts.json").json()["hosts"]
    assert host["no_work"] == "this host is banned: overclocked"
    people.cookies.clear()
    sign_in(people, tokens["otto"])
    people.post("/operate/unban", data={"host": str(number), "reason": "cooled"})
    assert "Unban" not in people.get("/operate/hosts").text


def test_alarms_are_settled_and_the_project_is_steered(
    database: str, connection: Connection, campaign: Campaign, queue: Queue
) -> None:
    connection.execute(query("create_roles"))
    token = accounts.open_account(connection, "otto", Role.OPERATOR, actor="test")
    connection.execute(
        "INSERT INTO alarms (campaign, kind, detail) VALUES (%s, 'contradiction', %s)",
        (campaign.id, HOSTILE),
    )
    (workunit,) = queue.add(1)
    with (
        running_coordinator(database, require_token=True) as address,
        visiting(database, coordinator=address) as operator,
    ):
        sign_in(operator, token)
        shown = operator.get("/operate/queue.json").json()
        assert (shown["alarms"], shown["queue"][0]["workunits"]) == (1, 1)
        page = operator.get("/operate/alarms").text
        assert "<b>" not in page
        (alarm,) = operator.get("/operate/alarms.json").json()["alarms"]
        operator.post("/operate/alarms/settle", data={"alarm": alarm["id"], "reason": "bad RAM"})
        assert operator.get("/operate/alarms.json").json() == {"alarms": []}
        why = {"reason": "maintenance"}
        operator.post("/operate/campaign", data={"campaign": campaign.name, "do": "pause", **why})
        assert operator.get("/operate/queue.json").json()["campaigns"][0]["state"] == "paused"
        operator.post("/operate/campaign", data={"campaign": campaign.name, "do": "resume", **why})
        operator.post("/operate/ask-again", data={"workunit": str(workunit), **why})
        operator.post("/operate/project", data={
            "registration": "closed", "notice": HOSTILE, "web_url": "https://example.org", **why,
        })  # fmt: skip
        shown = operator.get("/operate/queue.json").json()
        assert (shown["registration_open"], shown["notice"]) == (False, HOSTILE)
        assert "<b>" not in operator.get("/operate/queue").text
        refused = operator.post("/operate/project", data={"web_url": "javascript:x", **why})
        assert refused.status_code == 403
        did = [line["action"] for line in operator.get("/operate/audit.json").json()["audit"]]
        assert {"settle", "pause", "resume", "ask again", "set notice"} <= set(did)
        assert json.dumps(did)
