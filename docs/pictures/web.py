"""Takes docs/pictures/web-*.png: seven pages in a real browser, most of a real solve of 6x6.

    python docs/pictures/web.py

It needs `zermelo[test]` and Chromium and takes about a minute on a quiet machine.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from zermelo.server.ports import LOOPBACK, free_port

FOLDER = Path(__file__).parent
ZERMELO = [sys.executable, "-c", "from zermelo.cli import main; main()"]
DESKTOP = {"viewport": {"width": 1100, "height": 860}}
PHONE = {"viewport": {"width": 360, "height": 700}, "device_scale_factor": 2}
CAMPAIGN = "campaigns/reversi:6x6"
#: A game of reversi 8x8 in which the last move captures in several directions.
LINE = "d3,c5,c6,c7,b7,c3,f5,g5,c8,a8,d6,e6,b6,b4,f4,e3"
#: Name, address, form and theme of those that show the finished solve.
FINISHED = [
    ("home", "", DESKTOP, "light"),
    ("explorer", f"{CAMPAIGN}/position?moves=c2,b4", DESKTOP, "light"),
    ("explorer-phone", f"{CAMPAIGN}/position?moves=c2,b4", PHONE, "dark"),
    ("tree", f"{CAMPAIGN}/tree", DESKTOP, "dark"),
    ("play-phone", f"play/reversi:8x8?first=Anna&second=minimax:4,trained&lines=on&moves={LINE}",
     PHONE, "light"),
    ("theatre", "theatre/grundy:9?beside=minimax&step=130", DESKTOP, "light"),
]
ADDRESS = re.compile(r"(http://127\.0\.0\.1:\d+/)")
#: Answers that the running campaign has when its picture is taken, at least.
ANSWERED = 5


def main() -> None:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    with (
        tempfile.TemporaryDirectory(prefix="zermelo-picture-") as folder,
        sync_playwright() as playwright,
    ):
        Path(folder).chmod(0o755)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        data = ["--data-dir", f"{folder}/data"]
        with _started("solve", "reversi:6x6", "--web", _free(), *data) as solve:
            _running(browser, _address(solve.stderr))
            solve.wait()
        with _started("web", "--listen", _free(), *data) as pages:
            address = _address(pages.stdout)
            for name, path, form, theme in FINISHED:
                _take(browser, address + path, f"web-{name}.png", form, theme)
        browser.close()


@contextmanager
def _started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(  # noqa: S603
        [*ZERMELO, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate()


def _free() -> str:
    return f"{LOOPBACK}:{free_port()}"


def _address(stream: Any) -> str:
    for line in stream:
        if found := ADDRESS.search(line):
            return found[1]
    raise SystemExit("the pages were not served")


def _running(browser: Any, address: str) -> None:
    """The campaign while it is being solved, once there is something to see."""
    context = browser.new_context(viewport={"width": 1100, "height": 900}, color_scheme="dark")
    page = context.new_page()
    for _ in range(50):
        with suppress(Exception):
            page.goto(f"{address}{CAMPAIGN}")
            break
        page.wait_for_timeout(200)
    page.wait_for_function(
        "n => document.querySelectorAll('.searches svg').length"
        " && +document.querySelectorAll('.figures dd')[2].innerText.replace(',', '') >= n",
        arg=ANSWERED, timeout=120_000,
    )  # fmt: skip
    page.screenshot(path=FOLDER / "web-campaign.png")
    context.close()


def _take(browser: Any, address: str, name: str, form: dict[str, Any], theme: str) -> None:
    context = browser.new_context(**form, color_scheme=theme)
    page = context.new_page()
    page.goto(address)
    page.wait_for_timeout(800)
    if name == "web-tree.png":
        for _ in range(2):
            page.locator("[role=button][aria-expanded=false]").first.click()
            page.wait_for_timeout(400)
    page.screenshot(path=FOLDER / name)
    context.close()


if __name__ == "__main__":
    main()
