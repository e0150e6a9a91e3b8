"""The theatre without scripts: every step is a page, and mistakes have a way out."""

from __future__ import annotations

import html
import re
from urllib.parse import quote

from starlette.testclient import TestClient

from zermelo.games import open_game
from zermelo.theatre import Direction, GameTree, Order, perform
from zermelo.theatre.messages import messages
from zermelo.theatre.performance import as_data
from zermelo.theatre.tour import TOURS
from zermelo.web.pages.theatre import LATE, SHOWN


def test_the_programme_names_games_that_can_be_shown(visitor: TestClient) -> None:
    page = visitor.get("/theatre").text
    for spec in SHOWN:
        assert f'href="/theatre/{quote(spec, safe=":,")}"' in page or spec in page
        assert len(GameTree(open_game(spec))) > 10
    for spec, position in LATE.items():
        assert messages("en")["late"][spec] in page
        assert visitor.get(f"/theatre/{spec}", params={"p": position}).status_code == 200


def test_steps_are_links(visitor: TestClient) -> None:
    page = visitor.get("/theatre/grundy:7?step=5&table=on").text
    assert "step=4" in page
    assert "step=6" in page
    assert "step 5 of" in page
    assert 'class="current"' in page
    assert "<style" not in page


def test_the_twin_has_the_events_of_the_search(visitor: TestClient) -> None:
    told = visitor.get("/theatre/grundy:9.json?algorithm=mtdf&table=on&order=reversed").json()
    tree = GameTree(open_game("grundy:9"))
    direction = Direction("mtdf", table=True, order=Order.REVERSED)
    assert told == as_data(perform(tree, direction))
    rows = visitor.get("/theatre/grundy:9.csv").text.splitlines()
    assert rows[0] == "algorithm,value,entered,visited,cut,hits,passes"
    assert rows[2] == "alphabeta,1,74,74,71,0,0"


def test_the_visitor_plays_and_the_tree_follows(visitor: TestClient) -> None:
    page = visitor.get("/theatre/subtraction:9,k=3").text
    assert "9&gt;8" in page
    played = visitor.get("/theatre/subtraction:9,k=3.json", params={"moves": "9>8,8>5"}).json()
    assert [played["nodes"][played["start"]][name] for name in ("ply", "move")] == [2, "8>5"]
    # Eight are lost for the side to move, so one more is won.
    assert played["value"] == 1
    assert "take back" in visitor.get(
        "/theatre/subtraction:9,k=3", params={"moves": "9>8,8>5"}
    ).text.lower()


def test_mistakes_have_a_way_out(visitor: TestClient) -> None:
    for path, status, said in [
        ("/theatre/reversi:4x4", 400, "20,000 nodes"),
        ("/theatre/chess", 404, "No such game"),
        ("/theatre/grundy:9?moves=5>1%2B4", 400, "Illegal move"),
        ("/theatre/reversi:4x4?p=" + quote(LATE["reversi:4x4"]) + "&evaluation=heaps", 400,
         "no heaps"),
        ("/theatre/grundy:9?p=nonsense", 400, "Not on this stage"),
    ]:  # fmt: skip
        answer = visitor.get(path)
        assert answer.status_code == status, path
        assert said in answer.text
    assert visitor.get("/theatre/grundy:7?step=99999&order=x&horizon=-1&algorithm=y").is_success


def test_tours_have_five_steps_in_both_languages(visitor: TestClient) -> None:
    for tour in TOURS:
        for language in ("en", "de"):
            texts = messages(language)["tour"][tour]
            assert len(texts) == 5
            for stop, text in enumerate(texts, 1):
                page = visitor.get(
                    f"/theatre/grundy:8?tour={tour}&stop={stop}&language={language}"
                ).text
                assert html.escape(text.partition("{")[0].strip()) in page
                assert (f"stop={stop + 1}" in page) == (stop < 5)
    cut = visitor.get("/theatre/grundy:8?tour=alphabeta&stop=3").text
    assert "need not be searched" in cut  # the moment of the first cut


def test_two_searches_side_by_side(visitor: TestClient) -> None:
    page = visitor.get("/theatre/grundy:7?beside=minimax&step=9").text
    assert page.count('<svg xmlns') == 2
    [sources] = re.findall(r'data-sources="([^"]*)"', page)
    told = [visitor.get(html.unescape(source)).json() for source in sources.split()]
    assert [each["algorithm"] for each in told] == ["alphabeta", "minimax"]
    german = visitor.get("/theatre/grundy:7?language=de").text
    assert "Aufführen" in german
    assert "Perform" not in german
