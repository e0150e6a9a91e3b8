"""How fast playing and the theatre feel: the numbers of the pages where people do something.

    python -m bench.play_pages crowd [--players 50] [--think 1] [--seconds 30]
        what players wait after a touch, against depth 4 on 8x8
    python -m bench.play_pages frames     frames a second while discs turn
    python -m bench.play_pages theatre    drawing greedy nim 6-6-6 unfolded, and a step in it

A real server over loopback; for `frames` and `theatre` a real Chromium, `frames` with a processor
that is made four times slower. Run it on a quiet machine.
"""

from __future__ import annotations

import argparse
import html
import json
import random
import re
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any

from bench.web import database, site
from tests.support.web import chromium
from zermelo.games.reversi import Reversi
from zermelo.web.settings import WebSettings

GAME = Reversi(8, 8)
OPPONENT = "minimax:4,matrix"
MOVE = re.compile(r'<a class="move legal[^"]*" href="([^"]*)"')
#: How much slower the processor is while frames are counted.
SLOWER = 4
#: Moves whose turning discs are looked at, each the one that turns most.
SHOWN_MOVES = 8
TREE = "/theatre/greedy-nim:6-6-6,k=2?algorithm=minimax"
STEPS = 60


# -- players -------------------------------------------------------------------------------------


class Visitor:
    """Plays games by touching a random legal move, a while after the reply has come."""

    def __init__(self, chosen: WebSettings, number: int, think: float) -> None:
        self._chosen, self._think = chosen, think
        self._chance = random.Random(number)
        self._connection = HTTPConnection(*chosen.address, timeout=60)
        #: When each touch was made, and what it took until the reply was there.
        self.answers: list[tuple[float, float]] = []

    def play_until(self, end: float) -> None:
        start = f"/play/reversi:8x8?first=visitor&second={OPPONENT}"
        page = self._load(start)
        time.sleep(self._chance.uniform(0, self._think))
        while time.monotonic() < end:
            moves = MOVE.findall(page)
            if not moves:
                page = self._load(start)
                continue
            began = time.monotonic()
            page = self._load(html.unescape(self._chance.choice(moves)))
            self.answers.append((began, time.monotonic() - began))
            time.sleep(self._chance.uniform(0.5, 1.5) * self._think)

    def _load(self, path: str) -> str:
        """A page as browsers load it: they follow where it sends them."""
        while True:
            self._connection.request("GET", path)
            answer = self._connection.getresponse()
            body = answer.read()
            if answer.status == 303:
                path = answer.headers["location"]
                continue
            if answer.status != 200:
                raise SystemExit(f"{path}: {answer.status}")
            return body.decode()


def measure_crowd(players: int, think: float, seconds: float) -> dict[str, Any]:
    with database() as url, site(url) as chosen:
        began = time.monotonic()
        visitors = [Visitor(chosen, number, think) for number in range(players)]
        threads = [
            threading.Thread(target=visitor.play_until, args=(began + seconds,))
            for visitor in visitors
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    warm = began + seconds / 5  # processes have started
    times = sorted(took for each in visitors for at, took in each.answers if at >= warm)
    return {
        "players": players, "think_s": think, "answers": len(times),
        "answers_per_second": round(len(times) / (0.8 * seconds), 1),
        "p50_ms": round(1000 * statistics.median(times)),
        "p99_ms": round(1000 * times[int(0.99 * len(times))]),
        "worst_ms": round(1000 * times[-1]),
    }  # fmt: skip


# -- a browser -----------------------------------------------------------------------------------


@contextmanager
def page_of(site_settings: WebSettings) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        context = browser.new_context(
            viewport={"width": 360, "height": 740}, base_url=site_settings.url, has_touch=True
        )
        yield context.new_page()
        browser.close()


COUNT_FRAMES = """async (move) => {
  const board = document.querySelector('#play svg.board');
  const gaps = [];
  let began = 0, last = 0, moving = false;
  const done = new Promise((finish) => {
    const frame = (now) => {
      const turning = document.querySelector('.turner') !== null;
      if (turning && last) gaps.push(now - last);
      last = turning ? now : 0;
      moving = moving || turning;
      if (moving && !turning && !document.querySelector('.moving')) finish();
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  document.querySelector(`#play svg a.move[aria-label="${move}"]`).dispatchEvent(
    new MouseEvent('click', { bubbles: true, cancelable: true }));
  await done;
  return gaps;
}"""


def measure_frames() -> dict[str, Any]:
    gaps: list[float] = []
    with database() as url, site(url) as chosen, page_of(chosen) as page:
        at = GAME.initial()
        line: list[str] = []
        chance = random.Random(1)
        for _ in range(24):
            move = chance.choice(GAME.moves(at))
            line.append(GAME.move_name(move))
            at = GAME.play(at, move)
        page.goto(f"/play/reversi:8x8?first=A&second=B&lines=on&moves={','.join(line)}")
        page.wait_for_selector("#play[data-ready]")
        session = page.context.new_cdp_session(page)
        session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        turned = 0
        for _ in range(SHOWN_MOVES):
            position = at
            best = max(
                GAME.moves(at), key=lambda square: GAME.flips(position, square).bit_count()
            )
            turned += GAME.flips(at, best).bit_count()
            gaps += page.evaluate(COUNT_FRAMES, GAME.move_name(best))
            at = GAME.play(at, best)
    return {
        "discs_turned": turned, "frames": len(gaps),
        "frames_per_second": round(1000 * len(gaps) / sum(gaps), 1),
        "worst_gap_ms": round(max(gaps), 1),
        "gaps_over_34_ms": sum(gap > 34 for gap in gaps),
    }  # fmt: skip


STEP_TIMES = """async (steps) => {
  const canvas = document.querySelector('#stage canvas');
  const frame = () => new Promise(requestAnimationFrame);
  const press = (key) => canvas.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  const slider = document.querySelector('#stage input[type=range]');
  slider.value = String(Math.floor(Number(slider.max) / 2));
  slider.dispatchEvent(new Event('input'));
  await frame();
  const found = {};
  for (const key of ['ArrowRight', 'ArrowLeft']) {
    const alone = [], shown = [];
    for (let at = 0; at < steps; at++) {
      await frame();
      const began = performance.now();
      press(key);
      alone.push(performance.now() - began);
      await frame();
      await frame();
      shown.push((performance.now() - began) / 2);
    }
    found[key] = [alone, shown];
  }
  return found;
}"""


def measure_theatre() -> dict[str, Any]:
    with database() as url, site(url) as chosen, page_of(chosen) as page:
        loads = []
        for path in (TREE, TREE.replace("minimax", "alphabeta")):
            page.goto(path)
            page.wait_for_selector("#stage[data-ready]")
            loads.append(page.evaluate("Number(document.querySelector('#stage').dataset.ready)"))
        page.goto(TREE)
        page.wait_for_selector("#stage[data-ready]")
        steps = page.evaluate(STEP_TIMES, STEPS)
    told = {"first_drawn_ms": round(loads[0]), "other_algorithm_drawn_ms": round(loads[1])}
    for key, name in (("ArrowRight", "forward"), ("ArrowLeft", "back")):
        alone, shown = (sorted(times) for times in steps[key])
        told |= {
            f"{name}_p50_ms": round(statistics.median(alone), 1),
            f"{name}_worst_ms": round(alone[-1], 1),
            f"{name}_frame_p50_ms": round(statistics.median(shown), 1),
        }
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=["crowd", "frames", "theatre"])
    parser.add_argument("--players", type=int, default=50)
    parser.add_argument("--think", type=float, default=1, help="seconds from a reply to a touch")
    parser.add_argument("--seconds", type=float, default=30)
    options = parser.parse_args()
    if options.what == "crowd":
        found = measure_crowd(options.players, options.think, options.seconds)
    else:
        found = measure_frames() if options.what == "frames" else measure_theatre()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
