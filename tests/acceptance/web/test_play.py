"""Playing in a real browser: by touch on a phone and by keys, to the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.acceptance.web.test_every_page import FORMS, Watched, check_page
from tests.support.coordinator import wait_until
from tests.support.databases import new_database
from tests.support.web import AXE, serving
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
    context.add_init_script(path=AXE)
    return Watched(context.new_page(), site)


def plies(page: Any) -> int:
    return int(page.get_attribute("#play", "data-plies"))


def wait_for_more(page: Any, before: int) -> None:
    wait_until(lambda: plies(page) > before, 30)


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
        document.addEventListener('animationstart', () => { window.turned += 1; }); }""")
    size = page.locator(f"{MOVES} .touch").first.bounding_box()
    assert min(size["width"], size["height"]) >= 44
    page.locator(MOVES).first.tap()
    wait_for_more(page, 1)
    wait_until(lambda: page.evaluate("window.turned") >= 2, 30)
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
    page.get_by_role("link", name="Look at the game").click()
    assert stored.final in page.inner_text("main")
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
