"""Playing in a real browser: by touch on a phone and by keys, to the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.acceptance.web.test_every_page import FORMS, Watched, check_page
from tests.support.coordinator import wait_until
from tests.support.databases import new_database
from tests.support.web import serving
from zermelo.games.catalogue import listed_games
from zermelo.research.games_played import list_games
from zermelo.server.database import connect_once

MOVES = "#play svg a.move"


@pytest.fixture(scope="module")
def play_database(postgres: str) -> Iterator[str]:
    with new_database(postgres) as url:
        yield url


@pytest.fixture(scope="module")
def play_site(play_database: str) -> Iterator[str]:
    with serving(play_database) as url:
        yield url


def opened(browser: Any, site: str, form: str, **options: Any) -> Watched:
    context = browser.new_context(**{**FORMS[form], **options})
    return Watched(context.new_page(), site)


def plies(page: Any) -> int:
    return int(page.get_attribute("#play", "data-plies"))


def wait_for_more(page: Any, before: int) -> None:
    """In the page itself: to ask it a hundred times a second takes more than to draw it."""
    other = "".join(f":not([data-plies='{ply}'])" for ply in range(before + 1))
    page.wait_for_selector(f"#play{other}", state="attached")


def begin(tab: Watched, spec: str, **chosen: str) -> None:
    page = tab.page
    page.goto(f"{tab.site}/play/{spec}")
    page.fill("#name", "Thumb")
    for name, value in chosen.items():
        page.select_option(f"#{name}", value)
    page.get_by_role("button", name="Begin").click()
    page.wait_for_selector("#play[data-ready]")


def test_a_whole_game_by_touch(browser: Any, play_site: str, play_database: str) -> None:
    agent = "Mozilla/5.0 (Linux; Android 14) Mobile"
    tab = opened(browser, play_site, "phone", user_agent=agent)
    page = tab.page
    begin(tab, "reversi:4x4", depth="2")
    # A square that is no legal move does nothing: the first corner.
    box = page.locator("#play svg.board").bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 8, box["y"] + box["height"] / 8)
    assert plies(page) == 0
    page.evaluate("""() => { window.turned = 0;
        document.addEventListener('animationstart', (event) => {
            window.turned += event.animationName === 'turn'; }); }""")
    size = page.locator(f"{MOVES} .touch").first.bounding_box()
    assert min(size["width"], size["height"]) >= 44
    page.locator(MOVES).first.tap()
    wait_for_more(page, 1)
    wait_until(lambda: page.evaluate("window.turned") >= 2, 30)
    page.wait_for_selector("#play svg.board:not(.moving)")
    assert page.locator(".turner, .turned-away").count() == 0
    assert "plays" in page.inner_text("#news")
    assert page.get_attribute("#news", "aria-live") == "polite"
    # Back is undo.
    page.go_back()
    page.wait_for_selector("#play[data-plies='0']")
    while page.locator(MOVES).count():
        before = plies(page)
        page.locator(MOVES).first.tap()
        wait_for_more(page, before)
    told = page.inner_text("#news")
    assert "Neither side can move." in told or "The board is full." in told
    check_page(tab, page.url.removeprefix(play_site))
    with connect_once(play_database) as connection:
        [stored] = list_games(connection)
    assert (stored.person, stored.device, stored.depth) == ("Thumb", "phone", 2)
    page.get_by_role("link", name="View the finished game").click()
    told = page.inner_text("main")
    for fact in (stored.final, "Thumb", "minimax:2", "2 plies", "phone", f"{stored.score:+d}"):
        assert fact in told, fact
    for path in (f"/played/{stored.id}?ply=3", "/played", "/play/reversi:4x4"):
        check_page(tab, path)
    assert "Thumb" in page.goto(f"{play_site}/played").text()
    page.context.close()


def test_keys_choose_moves_without_motion(browser: Any, play_site: str) -> None:
    tab = opened(browser, play_site, "desktop", reduced_motion="reduce")
    page = tab.page
    begin(tab, "reversi:4x4", opponent="person")
    page.locator(MOVES).first.focus()
    for key, label in [("ArrowDown", "a2"), ("ArrowDown", "c4"), ("ArrowRight", "d3"),
                       ("ArrowRight", "d3"), ("ArrowLeft", "c4")]:  # fmt: skip
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == label
    page.keyboard.press("Enter")
    wait_for_more(page, 0)
    assert page.evaluate("document.querySelectorAll('.turning').length") == 0
    assert page.evaluate("document.activeElement.matches('svg a.move')")
    page.get_by_role("link", name="Take back").click()
    page.wait_for_selector("#play[data-plies='0']")
    assert tab.complaints == []
    assert tab.strangers == []
    page.context.close()


def test_a_whole_game_by_keys(browser: Any, play_site: str) -> None:
    tab = opened(browser, play_site, "desktop", reduced_motion="reduce")
    page = tab.page
    begin(tab, "reversi:4x4", opponent="greedy")
    page.locator(MOVES).first.focus()
    while page.locator(MOVES).count():
        before = plies(page)
        page.keyboard.press("Enter")
        wait_for_more(page, before)
    assert "wins by" in page.inner_text("#news") or "A draw" in page.inner_text("#news")
    assert page.evaluate("document.activeElement.matches('a.button, button')")
    assert tab.complaints == []
    page.context.close()


def test_a_pass_and_captures_with_their_direction(browser: Any, play_site: str) -> None:
    tab = opened(browser, play_site, "phone")
    page = tab.page
    page.goto(f"{play_site}/play/reversi:4x4?first=A&second=B&lines=on&moves=b1,c1,d3")
    page.wait_for_selector("#play[data-ready]")
    page.locator(f'{MOVES}[aria-label="a1"]').tap()
    wait_for_more(page, 4)
    assert "A cannot move and passes." in page.inner_text("#news")
    page.wait_for_selector(".captures", state="attached")
    page.wait_for_selector("#play svg.board:not(.moving)")
    page.get_by_role("link", name="Hide captures").tap()
    page.wait_for_selector(".captures", state="detached")
    page.get_by_role("link", name="Hint").tap()
    page.wait_for_selector("#play a.best")
    assert "Hint:" in page.inner_text("#news")
    assert tab.complaints == []
    page.context.close()


def test_pieces_and_cells_are_chosen_by_touch(browser: Any, play_site: str) -> None:
    tab = opened(browser, play_site, "phone")
    page = tab.page
    check_page(tab, "/play/breakthrough:8x8?first=A&second=B")
    page.wait_for_selector("#play[data-ready]")
    assert page.locator("a.move:visible").count() == 0
    pick = page.locator(".pick").first
    assert min(pick.bounding_box()[side] for side in ("width", "height")) >= 44
    pick.tap()
    page.locator("a.move.picked").first.tap()
    wait_for_more(page, 0)
    page.goto(f"{play_site}/play/l-game:?first=A&second=B")
    page.wait_for_selector("#play[data-ready]")
    page.locator('.pick[data-cell="60.0,0.0"]').tap()  # only one L covers it
    wait_for_more(page, 0)
    assert "b1-c1-d1-d2" in page.inner_text("#news")
    assert tab.complaints == []
    page.context.close()


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_every_game_by_touch_and_by_keys(browser: Any, play_site: str, form: str) -> None:
    tab = opened(browser, play_site, form, reduced_motion="reduce")
    page = tab.page
    for game in listed_games():
        page.goto(f"{play_site}/play/{game.example}?first=A&second=B")
        page.wait_for_selector("#play[data-ready]")
        for _ in range(2):
            before = plies(page)
            while plies(page) == before:
                # A piece is chosen before its target, cells until one move is left.
                picked = page.locator("#play svg:not(.covering) a.move.picked")
                free = page.locator(
                    "#play svg .pick:not(.chosen, [hidden]), #play .board-frame .buttons a,"
                    " #play svg:not(.covering) a.move:visible"
                )
                choice = (picked if picked.count() else free).first
                if form == "phone":
                    choice.tap()
                else:
                    choice.focus()
                    page.keyboard.press("Enter")
                page.wait_for_selector("#play:not([aria-busy])")
    assert tab.complaints == []
    page.context.close()


@pytest.mark.long
@pytest.mark.parametrize("opponent", [
    "minimax:3,trained", "minimax:2,discs=1+corners=10,perfect=16", "uct:100", "engine:1000",
    "random", "greedy", "proof", "another person",
])  # fmt: skip
@pytest.mark.parametrize("form", FORMS)
def test_a_whole_game_against_every_opponent(
    browser: Any, site: str, opponent: str, form: str
) -> None:
    spec = "reversi:6x6" if "trained" in opponent else "reversi:4x4"
    tab = opened(browser, site, form, reduced_motion="reduce")
    page = tab.page
    page.goto(f"{site}/play/{spec}?first=A&second={quote(opponent)}")
    page.wait_for_selector("#play[data-ready]")
    while page.locator(MOVES).count():
        before = plies(page)
        if form == "phone":
            page.locator(MOVES).first.tap()
        else:
            page.locator(MOVES).first.focus()
            page.keyboard.press("Enter")
        wait_for_more(page, before)
    told = page.inner_text("#news")
    assert "Neither side can move." in told or "The board is full." in told
    if opponent == "proof":
        assert "wins by" in told  # the second player has won before the first move
    assert tab.complaints == []
    page.context.close()
