"""Every page in a real browser: readable by everybody, quiet, and from this site alone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tests.support.web import AXE

CAMPAIGN = "/campaigns/reversi:4x4"
#: Pages that have most of what the others have.
FIRST = ["/", CAMPAIGN, f"{CAMPAIGN}/position?moves=b1", f"{CAMPAIGN}/tree"]
#: The others, and failures.
OTHERS = [
    f"{CAMPAIGN}/workunits", f"{CAMPAIGN}/workunits/1", f"{CAMPAIGN}/results",
    f"{CAMPAIGN}/certificate", f"{CAMPAIGN}/progress", f"{CAMPAIGN}/line", "/solved", "/claims",
    "/study/reversi:4x4", "/campaigns/nothing", "/games", "/games/hex", "/games/go:3x3",
    "/games/nim", "/nothing",
    f"{CAMPAIGN}/position?moves=z9", "/volunteers", "/volunteers/tester", "/teams", "/login",
    "/play", "/play/hex", "/play/nim", "/play/go:3x3?first=A&second=B&moves=b2", "/played",
]  # fmt: skip
PAGES = [*FIRST, *(pytest.param(path, marks=pytest.mark.long) for path in OTHERS)]
FORMS = {
    "phone": {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark",
              "has_touch": True, "is_mobile": True},
    "desktop": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "light"},
}  # fmt: skip


class Watched:
    """A tab whose complaints and requests are remembered."""

    def __init__(self, page: Any, site: str) -> None:
        self.page, self.site = page, site
        self.complaints: list[str] = []
        self.strangers: list[str] = []
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._asked)

    def _said(self, message: Any) -> None:
        # A page that is not there is told by its status, which the browser complains about.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith(self.site):
            self.strangers.append(request.url)


@pytest.fixture(scope="module", params=FORMS)
def tab(request: pytest.FixtureRequest, browser: Any, site: str) -> Iterator[Watched]:
    context = browser.new_context(**FORMS[request.param])
    yield Watched(context.new_page(), site)
    context.close()


@cache
def axe() -> str:
    return AXE.read_text()


def faults(found: dict[str, Any]) -> dict[str, list[str]]:
    """What axe-core complains about, by rule."""
    return {
        rule["id"]: [node["html"][:150] for node in rule["nodes"]] for rule in found["violations"]
    }


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_accessible_quiet_and_ours(tab: Watched, path: str) -> None:
    check_page(tab, path)


def check_page(tab: Watched, path: str) -> None:
    """Fails the test where a page is not accessible, complains, asks strangers or is too wide."""
    tab.complaints.clear()
    tab.page.goto(tab.site + path)
    tab.page.wait_for_load_state("load")
    tab.page.evaluate(axe())  # here, because it is half a megabyte for every page that has it
    found = tab.page.evaluate("axe.run({resultTypes: ['violations']})")
    assert faults(found) == {}
    # Colours are all that the other theme changes.
    dark = tab.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    tab.page.emulate_media(color_scheme="light" if dark else "dark")
    found = tab.page.evaluate("axe.run({runOnly: ['color-contrast']})")
    tab.page.emulate_media(color_scheme="dark" if dark else "light")
    assert faults(found) == {}
    assert tab.complaints == []
    assert tab.strangers == []
    width = tab.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert width <= 0, "the page is wider than the screen"
