"""Every page of a solved campaign, in all of its forms, and what is told where nothing is."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from tests.support.coordinator import Queue
from zermelo.checker import read_certificate
from zermelo.games import open_game
from zermelo.research.api import TreeCampaigns
from zermelo.server.campaigns import Campaign, create_campaign
from zermelo.server.database import Connection, connect_once

CAMPAIGN = "/campaigns/reversi:4x4"
PAGES = [
    "/", "/solved", "/claims", "/games", "/games/reversi", "/games/hex", "/games/go:3x3", CAMPAIGN,
    f"{CAMPAIGN}/position", f"{CAMPAIGN}/position?moves=b1,a1", f"{CAMPAIGN}/line",
    f"{CAMPAIGN}/tree", f"{CAMPAIGN}/workunits", f"{CAMPAIGN}/results", f"{CAMPAIGN}/certificate",
    f"{CAMPAIGN}/progress",
]  # fmt: skip


def twin(path: str, form: str) -> str:
    base, question, query = path.partition("?")
    return f"{'/campaigns' if base == '/' else base}.{form}{question}{query}"


@pytest.mark.parametrize("path", PAGES)
def test_a_page_and_its_twin(solved_site: TestClient, path: str) -> None:
    page = solved_site.get(path)
    assert page.status_code == 200
    assert page.text.count("<h1>") == 1
    assert re.search(r"\sstyle=|<style|\son[a-z]+=", page.text) is None
    links = re.findall(r'rel="alternate" type="(\S+)" href="([^"]+)"', page.text)
    assert ("application/json", twin(path, "json")) in links
    assert solved_site.get(twin(path, "json")).json()
    for kind, href in links:
        if kind == "text/csv":
            rows = list(csv.DictReader(io.StringIO(solved_site.get(href).text)))
            assert rows


def test_every_link_of_the_first_pages_leads_somewhere(solved_site: TestClient) -> None:
    seen: dict[str, int] = {}
    for path in PAGES:
        for href in re.findall(r'href="(/[^"]*)"', solved_site.get(path).text):
            address = href.replace("&amp;", "&")
            if address not in seen and len(seen) < 80:
                seen[address] = solved_site.get(address).status_code
    assert len(seen) == 80
    assert {href for href, status in seen.items() if status not in (200, 202)} == set()


def test_the_explorer_tells_what_each_move_is_worth(solved_site: TestClient) -> None:
    data = solved_site.get(f"{CAMPAIGN}/position.json").json()
    assert data["worth"] == {"proof_state": "proved", "value": -8, "bounds": [-8, -8]}
    best = [move["move"] for move in data["moves"] if move["best"]]
    assert "b1" in best
    after = solved_site.get(f"{CAMPAIGN}/position.json?moves=b1").json()
    assert after["worth"]["value"] == 8
    assert [step["worth"]["value"] for step in after["history"]] == [-8, -8]
    page = solved_site.get(f"{CAMPAIGN}/position?moves=b1").text
    assert f'href="{CAMPAIGN}/position?moves=b1,a1"' in page
    assert 'aria-label="a1: proved +8, best"' in page


def test_a_threshold_of_zero_has_no_sign(
    visitor: TestClient, campaign: Campaign, queue: Queue
) -> None:
    queue.add(17)
    page = visitor.get(f"/campaigns/{campaign.name}/workunits").text
    for threshold in ("-1", "0", "+1"):
        assert f"at least {threshold}?" in page


def test_a_position_as_text(solved_site: TestClient) -> None:
    start = solved_site.get(f"{CAMPAIGN}/position.json").json()["position"]
    found = solved_site.get(f"{CAMPAIGN}/position.json", params={"p": start, "moves": "b1"}).json()
    assert found["path"] == ["b1"]
    assert found["worth"]["value"] == 8
    beyond = solved_site.get(f"{CAMPAIGN}/position", params={"p": "XXXX OOOO ---- ---- X"})
    assert beyond.status_code == 200
    assert "The tree does not reach this position" in beyond.text
    assert "unknown" in beyond.text


def test_provenance_hides_what_computers_are_called(solved_site: TestClient) -> None:
    result = solved_site.get(f"{CAMPAIGN}/results.json").json()["results"][0]
    assert result["user"] == "tester"
    assert result["host_name"] == ""


@pytest.mark.parametrize(
    ("path", "status", "says", "offers"),
    [
        ("/campaigns/reversi:4x5", 404, "There is no campaign", "/campaigns/reversi:4x4"),
        (f"{CAMPAIGN}/position?moves=b1,d4", 404, "is no legal move after b1",
         f"{CAMPAIGN}/position?moves=b1"),
        (f"{CAMPAIGN}/position?p=hello", 400, "is no position of reversi:4x4",
         f"{CAMPAIGN}/position"),
        (f"{CAMPAIGN}/workunits/123456789", 404, "has no workunit 123456789",
         f"{CAMPAIGN}/workunits"),
        (f"{CAMPAIGN}/workunits/abc", 404, "workunits have numbers",
         f"{CAMPAIGN}/workunits"),
        ("/claims/published", 404, "There are no claims", "/claims"),
        ("/games/revresi", 404, "There is no game", "/games/reversi"),
        ("/study/chess", 404, "There is no game", "/games"),
        ("/games/reversi:99x99", 404, "99", "/games/reversi"),
        ("/live/campaigns/nothing", 404, "There is no campaign", "/campaigns/reversi:4x4"),
    ],
)  # fmt: skip
def test_what_is_not_there(
    solved_site: TestClient, path: str, status: int, says: str, offers: str
) -> None:
    page = solved_site.get(path)
    assert page.status_code == status
    assert says in page.text
    assert f'href="{offers}"' in page.text


def test_a_position_of_another_game_is_recognised(
    visitor: TestClient, connection: Connection
) -> None:
    for spec in ("reversi:4x4", "reversi:6x6"):
        create_campaign(connection, spec, replication="none")
    text = visitor.get("/campaigns/reversi:6x6/position.json").json()["position"]
    page = visitor.get("/campaigns/reversi:4x4/position", params={"p": text})
    assert page.status_code == 400
    assert "this position in reversi:6x6" in page.text


def test_the_certificate_can_be_downloaded_and_read(
    solved_site: TestClient, tmp_path_factory: pytest.TempPathFactory
) -> None:
    told = solved_site.get(f"{CAMPAIGN}/certificate.json").json()["certificate"]
    file = solved_site.get(f"{CAMPAIGN}/certificate/download")
    assert file.headers["content-disposition"] == 'attachment; filename="reversi-4x4.proof"'
    assert len(file.content) == told["size"]
    path = tmp_path_factory.mktemp("web") / "reversi-4x4.proof"
    path.write_bytes(file.content)
    assert read_certificate(path).header.lo == -8


def test_there_is_no_certificate_where_nothing_is_proved(
    visitor: TestClient, connection: Connection
) -> None:
    create_campaign(connection, "reversi:4x4", replication="none")
    page = visitor.get(f"{CAMPAIGN}/certificate")
    assert page.status_code == 200
    assert "nothing is proved about the root" in page.text
    assert visitor.get(f"{CAMPAIGN}/certificate/download").status_code == 404


def test_a_campaign_that_has_just_begun(visitor: TestClient, connection: Connection) -> None:
    create_campaign(connection, "go:2x2", replication="none")
    for below in ("", "/position", "/tree", "/workunits", "/results", "/line", "/progress"):
        assert visitor.get(f"/campaigns/go:2x2{below}").status_code == 200, below
    page = visitor.get("/campaigns/go:2x2").text
    assert 'sse-connect="/live/campaigns/go:2x2"' in page
    assert "Nobody searches at the moment" in page


def test_for_programs(solved_site: TestClient) -> None:
    assert solved_site.get("/healthz").text == "ok\n"
    status = solved_site.get("/status.json").json()
    assert status["overview"]["campaigns"][0]["value"] == -8
    metrics = solved_site.get("/metrics")
    assert metrics.headers["content-type"].startswith("application/openmetrics-text")
    assert metrics.text.endswith("# EOF\n")
    assert "zermelo_web_viewers" in metrics.text
    feed = solved_site.get("/feed.atom")
    assert feed.headers["content-type"] == "application/atom+xml; charset=utf-8"
    assert "reversi:4x4 finished: the score is -8" in feed.text


def test_a_page_of_the_explorer_takes_few_statements(solved_database: str) -> None:
    """One transaction: which campaign, its nodes, what they rest on, who else solved the game."""
    asked: list[str] = []

    class Counted(psycopg.Cursor[Any]):
        def execute(self, statement: Any, *given: Any, **named: Any) -> Any:
            asked.append(statement)
            return super().execute(statement, *given, **named)

    with connect_once(solved_database) as connection:
        connection.cursor_factory = Counted
        campaigns = TreeCampaigns(connection)
        with campaigns.one_state():
            queries = campaigns.campaign("reversi:4x4")
            start = queries.start
            report, worths = queries.explore([start, queries.find(moves=["b1"])])
            assert campaigns.finished_campaign(queries.game) == "reversi:4x4"
        assert len(asked) == 4
        assert worths == queries.worths([start, queries.find(moves=["b1"])])
        assert report == queries.position(moves=["b1"])


def test_a_proof_from_another_start_is_none_of_the_game(
    visitor: TestClient, connection: Connection
) -> None:
    game = open_game("reversi:4x4")
    after = game.play(game.initial(), game.moves(game.initial())[0])
    create_campaign(connection, "reversi:4x4", position=game.format(after))
    connection.execute("UPDATE campaigns SET state = 'finished', finished_at = now()")
    assert TreeCampaigns(connection).finished_campaign(game) == ""
    page = visitor.get("/play/reversi:4x4")
    assert page.status_code == 200
    assert 'value="proof"' not in page.text
