"""What holds for every page: forms, headers, limits, visitors, failures."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from starlette.requests import Request
from starlette.responses import Response
from starlette.testclient import TestClient

from tests.support.coordinator import wait_until
from tests.support.databases import new_database
from tests.support.web import ORIGIN, visiting
from zermelo.server.database import Connection, connect_once
from zermelo.server.trust import accounts
from zermelo.server.trust.accounts import Role
from zermelo.server.trust.referee import Referee
from zermelo.sql import query
from zermelo.web.session import COOKIE, Sessions, Visitor


def test_a_page_has_three_forms(solved_site: TestClient) -> None:
    page = solved_site.get("/")
    assert page.status_code == 200
    assert "reversi:4x4" in page.text
    assert 'href="/campaigns.json"' in page.text
    data = solved_site.get("/campaigns.json").json()
    [card] = data["campaigns"]
    assert (card["campaign"], card["value"], card["bounds"]) == ("reversi:4x4", -8, [-8, -8])
    table = solved_site.get("/campaigns.csv")
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    [row] = csv.DictReader(io.StringIO(table.text))
    assert (row["campaign"], row["lo"], row["hi"]) == ("reversi:4x4", "-8", "-8")


def test_an_empty_project(visitor: TestClient) -> None:
    page = visitor.get("/")
    assert page.status_code == 200
    assert "No campaign is running" in page.text
    assert visitor.get("/campaigns.csv").text == ""


def test_operators_and_the_referee_are_no_volunteers(
    visitor: TestClient, connection: Connection
) -> None:
    for name, role in (("ada", Role.VOLUNTEER), ("otto", Role.OPERATOR)):
        accounts.open_account(connection, name, role, actor="test")
    Referee(connection)
    totals = visitor.get("/campaigns.json").json()["totals"]
    assert (totals["users"], totals["hosts"]) == (1, 0)


def test_headers_of_every_answer(solved_site: TestClient) -> None:
    for path in ("/", "/campaigns.json", "/nothing", "/static/nothing", "/theme"):
        answer = solved_site.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "server" not in answer.headers


def test_no_page_has_inline_script_or_style(solved_site: TestClient) -> None:
    page = solved_site.get("/").text
    assert "style=" not in page
    assert "<style" not in page
    assert re.findall(r"<script(?![^>]* src=)", page) == []
    assert re.findall(r"\son\w+=", page) == []


def test_unknown_pages_say_so_in_the_form_asked_for(solved_site: TestClient) -> None:
    page = solved_site.get("/nothing/here")
    assert page.status_code == 404
    assert "There is no such page." in page.text
    assert page.headers["content-type"].startswith("text/html")


def test_forms_are_taken_from_our_own_pages_only(solved_site: TestClient) -> None:
    taken = solved_site.post("/theme", data={"theme": "dark"}, follow_redirects=False)
    assert taken.status_code == 303
    solved_site.cookies.clear()
    for headers in (
        {"origin": "http://elsewhere.example"}, {"origin": "null"},
        {"origin": ORIGIN, "sec-fetch-site": "cross-site"},
    ):
        refused = solved_site.post("/theme", data={"theme": "dark"}, headers=headers)
        assert refused.status_code == 403
    silent = TestClient(solved_site.app, ORIGIN)
    assert silent.post("/theme", data={"theme": "dark"}).status_code == 403


def test_the_theme_is_remembered(solved_site: TestClient) -> None:
    assert "data-theme" not in solved_site.get("/").text
    taken = solved_site.post("/theme", data={"theme": "dark"}, follow_redirects=False)
    cookie = taken.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=lax" in cookie.lower()
    assert 'data-theme="dark"' in solved_site.get("/").text
    solved_site.post("/theme", data={"theme": ""})
    assert "data-theme" not in solved_site.get("/").text


def test_a_theme_leads_back_to_our_own_pages_only(solved_site: TestClient) -> None:
    for referer, back in (
        (f"{ORIGIN}/solved?x=1", "/solved?x=1"), ("http://elsewhere.example/", "/"),
        (f"{ORIGIN}//elsewhere.example", "/elsewhere.example"), ("", "/"),
    ):
        taken = solved_site.post(
            "/theme", data={"theme": ""}, headers={"referer": referer}, follow_redirects=False
        )
        assert taken.headers["location"] == back


def test_large_bodies_and_addresses_are_refused(solved_site: TestClient) -> None:
    assert solved_site.post("/theme", content=b"x" * 100_000).status_code == 413
    assert solved_site.get("/?" + "x" * 5000).status_code == 414

    def drip() -> Iterator[bytes]:  # no Content-Length: it is counted
        for _ in range(100):
            yield b"theme=" + b"x" * 1000

    form = {"content-type": "application/x-www-form-urlencoded"}
    assert solved_site.post("/theme", content=drip(), headers=form).status_code == 413


def test_other_names_of_a_local_site_are_refused(solved_site: TestClient) -> None:
    """A page elsewhere could give its own name our address, and read what is only local."""
    assert solved_site.get("/", headers={"host": "evil.example"}).status_code == 421
    assert solved_site.get("/", headers={"host": "localhost:8080"}).status_code == 200


def test_an_address_may_ask_only_so_often(solved_database: str) -> None:
    with visiting(solved_database, requests_per_second=0.001, request_burst=3) as visitor:
        answers = [visitor.get("/healthz") for _ in range(4)]
        assert [answer.status_code for answer in answers][-1] == 429
        assert int(answers[-1].headers["retry-after"]) > 0
        asset = re.search(r"/static/[^\"]+css", visiting_page(solved_database))
        assert asset is not None
        assert visitor.get(asset[0]).status_code == 200  # what browsers keep is not counted


def visiting_page(database: str) -> str:
    with visiting(database) as visitor:
        return visitor.get("/").text


def test_static_files_are_compressed_and_kept(solved_site: TestClient) -> None:
    asset = re.search(r"/static/[^\"]+css", solved_site.get("/").text)
    assert asset is not None
    packed = solved_site.get(asset[0])
    assert packed.headers["content-encoding"] == "gzip"
    assert "immutable" in packed.headers["cache-control"]
    plain = solved_site.get(asset[0], headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.text == packed.text


def test_a_cookie_of_ours_cannot_be_forged_or_read() -> None:
    ours, others = Sessions("secret"), Sessions("another")
    response = Response()
    request = Request({"type": "http", "scheme": "https", "headers": [], "path": "/",
                       "server": ("site.example", 443), "query_string": b""})  # fmt: skip
    ours.sign_in(request, response, Visitor("ann", "volunteer", "her secret token"))
    cookie = response.headers["set-cookie"]
    assert "her" not in cookie
    assert "Secure" in cookie
    sealed = cookie.partition("=")[2].partition(";")[0]

    def seen(sessions: Sessions, value: str) -> Visitor | None:
        headers = [(b"cookie", f"{COOKIE}={value}".encode())]
        return sessions.visitor(Request({"type": "http", "headers": headers}))

    assert seen(ours, sealed) == Visitor("ann", "volunteer", "her secret token")
    assert seen(others, sealed) is None
    assert seen(ours, sealed[:-8] + "AAAAAAAA") is None
    assert seen(ours, "") is None


def test_the_database_is_away(postgres: str, caplog: pytest.LogCaptureFixture) -> None:
    closed = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
    with new_database(postgres) as url, connect_once(postgres) as server:
        name = sql.Identifier(conninfo_to_dict(url)["dbname"])
        server.execute(closed.format(name, sql.Literal(False)))
        with visiting(url) as visitor:
            for _ in range(2):
                page = visitor.get("/")
                assert page.status_code == 503
                assert "database does not answer" in page.text
            server.execute(closed.format(name, sql.Literal(True)))
            wait_until(lambda: visitor.get("/").status_code == 200)
    told = [message for message in caplog.messages if message.startswith("the database is ")]
    assert ["is away" in message for message in told] == [True, False], told


def test_pages_have_the_rights_of_researchers_and_read_only(postgres: str) -> None:
    with new_database(postgres) as url, connect_once(url) as connection:
        connection.execute(query("create_roles"))
        with visiting(url) as visitor:
            assert visitor.get("/").status_code == 200
            library = visitor.app.site.library

            def attempt(statement: str) -> str:
                async def read() -> str:
                    try:
                        await library.read(lambda c: c.execute(statement).fetchall())
                    except psycopg.Error as error:
                        return type(error).__name__
                    return "allowed"

                assert visitor.portal is not None
                return visitor.portal.call(read)

            assert attempt("SELECT current_user") == "allowed"
            assert attempt("SELECT * FROM tokens") == "InsufficientPrivilege"
            assert attempt("SELECT host_key_digest FROM hosts") == "InsufficientPrivilege"
            assert attempt("DELETE FROM nodes RETURNING id") in (
                "InsufficientPrivilege", "ReadOnlySqlTransaction",
            )
