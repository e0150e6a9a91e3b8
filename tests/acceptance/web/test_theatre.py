"""The theatre in a real browser: what is shown is what happened."""

from __future__ import annotations

from typing import Any

from tests.acceptance.web.test_every_page import axe
from zermelo.games import open_game
from zermelo.theatre import Direction, GameTree, State, perform
from zermelo.theatre.story import tell


def test_steps_back_and_forth(browser: Any, site: str) -> None:
    performance = perform(GameTree(open_game("grundy:8")), Direction("alphabeta"))
    lines = [line.text for line in tell(performance)]
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{site}/theatre/grundy:8?step=0")
    stage = page.wait_for_selector("#stage[data-ready]")

    def shown() -> tuple[int, int, str]:
        cut = int(stage.get_attribute("data-cut"))
        return int(stage.get_attribute("data-step")), cut, page.inner_text("#told")

    assert shown() == (0, 0, "Nothing has happened yet.")
    for step in range(1, 13):
        page.tap("[data-go=forward]")
        assert shown() == (step, performance.states(step).count(State.CUT), lines[step - 1])
    page.tap("[data-go=last]")
    assert shown() == (len(lines), performance.counters.cut, lines[-1])
    page.focus("#stage canvas")
    page.keyboard.press("ArrowLeft")
    step = len(lines) - 1
    assert shown() == (step, performance.states(step).count(State.CUT), lines[step - 1])
    page.keyboard.press("Home")
    page.select_option("select[aria-label=speed]", "16")
    page.get_by_role("button", name="Play").click()
    page.wait_for_selector(f"#stage[data-step='{len(lines)}']")
    assert shown() == (len(lines), performance.counters.cut, lines[-1])
    page.get_by_role("button", name="Fold").click()
    assert page.get_attribute("button[aria-pressed=true]", "aria-pressed") == "true"
    page.get_by_role("button", name="zoom in").click()
    page.evaluate(axe())
    found = page.evaluate("axe.run({resultTypes: ['violations']})")
    assert [rule["id"] for rule in found["violations"]] == []
    assert complaints == []
    page.get_by_role("link", name="8>1+7").click()
    page.wait_for_selector("#stage[data-ready]")
    assert "Played: 8>1+7" in page.inner_text("main")
    context.close()


def test_two_searches_take_their_steps_together(browser: Any, site: str) -> None:
    tree = GameTree(open_game("grundy:8"))
    both = [perform(tree, Direction(name)) for name in ("alphabeta", "minimax")]
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{site}/theatre/grundy:8?beside=minimax&step=0&language=de")
    stage = page.wait_for_selector("#stage[data-ready]")
    assert page.locator("#stage canvas").count() == 2
    steps = len(both[1].events)
    for step in (1, len(both[0].events) // 2, steps):
        page.locator("#stage input[type=range]").fill(str(step))
        cuts = [each.states(min(step, len(each.events))).count(State.CUT) for each in both]
        assert stage.get_attribute("data-cut") == " ".join(map(str, cuts))
    told = page.locator(".counted").all_inner_texts()
    assert told == [
        f"{each.algorithm}: {each.counters.entered} betreten, {each.counters.visited} besucht,"
        f" {each.counters.cut} abgeschnitten, {each.counters.hits} Tabellentreffer"
        for each in both
    ]
    box = page.locator("#stage canvas").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 24)
    assert complaints == []
    context.close()
