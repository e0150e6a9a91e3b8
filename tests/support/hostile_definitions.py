"""Definitions that nobody should have to read: huge, deep, cyclic or none at all."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from importlib.resources import files

from tests.support.definitions import TIC_TAC_TOE

HEAD = 'zermelo = 1\ngame = "g"\n'
HOSTILE = {
    "nothing": "",
    "zeros": "\0" * 100,
    "long": "#" * (16 << 10) + "\n",
    "huge number": HEAD + "score = " + "9" * 5000,
    "huge board": TIC_TAC_TOE.replace("3 x 3", "999999 x 999999"),
    "huge product": TIC_TAC_TOE.replace("3 x 3", "999999 * 999999 x 1"),
    "brackets": HEAD + "board = " + "[" * 5000 + "]" * 5000,
    "tables": HEAD + "board = " + "{a=" * 3000 + "1" + "}" * 3000,
    "dotted": HEAD + ".".join("a" * 2000) + " = 1",
    "parentheses": TIC_TAC_TOE.replace("lines(enemy)", "(" * 190 + "1" + ")" * 190),
    "forfeits itself": TIC_TAC_TOE.replace(
        'place = "stone"', 'name = "go"\nstep = "stone"\nforfeit = "go"'
    ),
    "forfeits everything": TIC_TAC_TOE.replace('place = "stone"', "\n[[move]]\n".join(
        f'name = "go{at}"\nslide = "stone"\nto = "board"' + (
            f'\nforfeit = "go{at - 1}"\nif = "can(go{at - 1})"' if at else ""
        ) for at in range(32)
    )),
    "nots": TIC_TAC_TOE.replace("lines(enemy)", "not " * 95 + "1"),
    "minuses": TIC_TAC_TOE.replace("lines(enemy)", "-" * 300 + "1"),
    "long sum": TIC_TAC_TOE.replace("lines(enemy)", "+".join(["count(own)"] * 36)),
    "endless sum": TIC_TAC_TOE.replace("lines(enemy)", "+".join(["count(own)"] * 1000)),
    "look-alike": TIC_TAC_TOE.replace("lines", "lin\u0435s"),
    "wide digits": TIC_TAC_TOE.replace("3 x 3", "\uff13 x \uff13"),
    "many rules": TIC_TAC_TOE + '[[move]]\nplace = "stone"\n' * 600,
    "many ends": TIC_TAC_TOE.replace("3 x 3", "8 x 8") + (
        '[[end]]\nif = "lines(own) + lines(enemy) > 3"\nis = "win"\n' * 250
    ),
    "own rule": TIC_TAC_TOE.replace('place = "stone"', 'name = "a"\nskip = "a"\nif = "can(a)"'),
    "many shapes": TIC_TAC_TOE.replace("3 x 3", "11 x 11").replace(
        'place = "stone"', 'place = "stone"\nturn = true\nshape = ["##...", ".###"]'
    ),
    "many slides": TIC_TAC_TOE.replace("3 x 3", "8 x 8").replace(
        'place = "stone"', 'slide = "stone"\nalong = "all"'
    ),
    "costly conditions": TIC_TAC_TOE.replace("3 x 3", "8 x 8").replace(
        'place = "stone"',
        'slide = "stone"\nalong = "all"\nif = "'
        + " + ".join(["lines(own, to)"] * 20) + ' > 3"',
    ),
    "counters": HEAD + '[board]\ngrid = "2 x 2"\n[counters]\n'
    + "\n".join(f"c{i} = {{ max = 999999 }}" for i in range(200)),
    "a million": HEAD + '[board]\nheaps = "n"\n[params]\nn = {default=999999,min=1,max=999999}\n'
    '[[move]]\ntake = "1 to 999999"\n',
    "params": HEAD + "[params]\n" + "\n".join(
        f"p{i} = {{default=1,min=1,max=2}}" for i in range(300)
    ),
    "bare cr": TIC_TAC_TOE.replace("\n", "\r"),
    "surrogate": TIC_TAC_TOE.replace("stone", "\\ud800"),
}


def changed_copies(rng: random.Random) -> Iterator[str]:
    """Definitions of the library with lines, numbers and characters changed, without end."""
    folder = files("zermelo.games") / "library"
    texts = sorted(
        entry.read_text() for entry in folder.iterdir() if entry.name.endswith(".toml")
    )
    lines = [line for text in texts for line in text.splitlines()]
    while True:
        yield _changed(rng, rng.choice(texts), lines)


def _changed(rng: random.Random, text: str, lines: list[str]) -> str:
    for _ in range(rng.randint(1, 3)):
        rows = text.splitlines()
        at = rng.randrange(len(rows))
        numbers = list(re.finditer(r"\d+", text))
        kind = rng.randrange(5)
        if kind == 0:
            del rows[at]
        elif kind == 1:
            rows.insert(at, rng.choice(lines))
        elif kind == 2:
            rows[at] = rng.choice(lines)
        elif kind == 3 and numbers:
            found = rng.choice(numbers)
            number = rng.choice(["0", "1", "7", "99", "127", "999999", "99999999999999999999"])
            rows = (text[: found.start()] + number + text[found.end() :]).splitlines()
        else:
            place = rng.randrange(len(text))
            rows = (text[:place] + rng.choice('09"=[](){}.,+-*/%&|<>é ') + text[place + 1 :]
                    ).splitlines()
        text = "\n".join(rows) or "#"
    return text
