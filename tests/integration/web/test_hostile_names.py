"""Names that want to be more than names are shown harmless in every form of every page."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from itertools import groupby
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from tests.support.harness import Solve
from zermelo.server.campaigns import create_campaign
from zermelo.server.database import Connection

MARKUP = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
FORMULA = '=HYPERLINK("http://evil.example","click")'
TURNED = "moc.live\u202e\u2066 txt"
PILED = "z" + "\u0301" * 200
NAMES = [MARKUP, FORMULA, TURNED, PILED, "{{ 7 * 7 }}", "</textarea></svg><svg/onload=alert(3)>"]
ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_user_and_host(
    visitor: TestClient, connection: Connection, name: str
) -> None:
    campaign = create_campaign(connection, "reversi:4x4", node_budget=40, replication="none")
    solve = Solve(connection, campaign)
    for _ in range(6):
        solve.step()
    connection.execute("UPDATE users SET name = %s", (name,))
    connection.execute("UPDATE hosts SET name = %s", (name,))
    for path in ("/campaigns/reversi:4x4", "/campaigns/reversi:4x4/results",
                 "/campaigns/reversi:4x4/workunits/1", "/campaigns/reversi:4x4/position"):
        page = visitor.get(path)
        assert page.status_code == 200
        assert_harmless(page.text)
    told = visitor.get("/campaigns/reversi:4x4/results.json")
    assert told.json()["results"][0]["user"] == name  # programs get what it is, as JSON
    assert "<" not in told.text
    for row in csv.DictReader(io.StringIO(visitor.get("/campaigns/reversi:4x4/results.csv").text)):
        assert row["host_name"] == ""
        assert not row["user"].startswith(("=", "+", "-", "@"))


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_campaign(visitor: TestClient, connection: Connection, name: str) -> None:
    create_campaign(connection, "reversi:4x4", name=name, replication="none")
    address = quote(name, safe="/:,@=")
    for path in ("/", f"/campaigns/{address}", f"/campaigns/{address}/position",
                 f"/campaigns/{address}/certificate", f"/campaigns/{address}/nothing",
                 f"/campaigns/{address}/position?moves={address}"):
        assert_harmless(visitor.get(path).text)
    assert visitor.get(f"/campaigns/{address}.json").json()["campaign"] == name
    assert json.loads(visitor.get("/status.json").text)["overview"]["campaigns"]
    feed = ElementTree.fromstring(visitor.get("/feed.atom").text)  # noqa: S314 - our own
    titles = [entry.findtext(f"{ATOM}title") or "" for entry in feed.iter(f"{ATOM}entry")]
    assert len(titles) == 1
    assert_plain(titles[0])
    assert visitor.get("/metrics").text.endswith("# EOF\n")


def assert_harmless(html: str) -> None:
    lowered = html.lower()
    for tag in ("<script>", "<img", "onerror=alert(2)>", "<svg/onload"):
        assert tag not in lowered
    assert_plain(html)


def assert_plain(text: str) -> None:
    assert not set(text) & {"\u202e", "\u2066"}
    marks = [len(list(group)) for is_mark, group in
             groupby(text, lambda char: unicodedata.category(char) == "Mn") if is_mark]
    assert max(marks, default=0) <= 4
