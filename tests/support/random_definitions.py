"""Definitions made at random: every kind of board, rule and expression, most of them odd games.

Many make no sense and are refused; `random_game` tries until one is accepted.
"""

from __future__ import annotations

from random import Random

from tests.support.definitions import play_text
from zermelo.games import GameError
from zermelo.games.definition.game import DefinedGame

MOST_TRIES = 200
_WAYS = ("n", "s", "w", "e", "nw se", "ne", "orthogonal", "diagonal", "all", "hexagonal")
_MOVING = ("step", "slide", "hop")


def random_game(seed: int) -> DefinedGame:
    """The first of the definitions of a seed that the language accepts."""
    rng = Random(seed)
    for _ in range(MOST_TRIES):
        text = _Maker(rng).text()
        try:
            return play_text(text)
        except GameError:
            continue
    raise AssertionError(f"seed {seed}: no definition of {MOST_TRIES} was accepted")


class _Maker:
    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._counters: list[tuple[str, bool]] = []
        self._rules: list[str] = []
        self._moving: list[str] = []
        self._regions: list[str] = []
        self._pieces: list[str] = []
        self._lines = False

    def _maybe(self, chance: float) -> bool:
        return self._rng.random() < chance

    def text(self) -> str:
        kind = self._rng.choice(
            ["grid"] * 5 + ["hex", "path", "edges", "rings", "points", "heaps", "pits"]
        )
        board = self._board(kind)
        cells = kind not in ("heaps", "pits")
        parts = ['zermelo = 1\ngame = "odd"\n', *(self._players() if cells else ())]
        parts.append(f"[board]\n{board}")
        if cells:
            parts += [self._piece_tables(), self._region_table()]
        parts.append(self._counter_table())
        if cells:
            parts.append(self._start())
        rules = [self._rule(kind, at) for at in range(self._rng.randint(1, 4))]
        parts += rules
        for _ in range(self._rng.randint(0, 2)):
            result = self._rng.choice(["win", "loss", "draw", "first", "second", "score"])
            parts.append(f'[[end]]\nif = "{self._truth(cells, 2)}"\nis = "{result}"')
        if self._maybe(0.6):
            parts.append(self._limit())
        parts.insert(1, f'score = "{self._number(cells, 2)} - {self._number(cells, 1)}"')
        return "\n".join(parts) + "\n"

    # -- what there is --------------------------------------------------------------------

    def _board(self, kind: str) -> str:
        rng = self._rng
        rows, cols = rng.randint(1, 4), rng.randint(1, 4)
        match kind:
            case "path":
                return f'path = "{rng.randint(2, 11)}"'
            case "edges":
                self._lines = True
                return f'edges = "{rng.randint(1, 2)} x {rng.randint(1, 2)}"'
            case "rings":
                self._lines = True
                return f'rings = "{rng.randint(1, 3)}"'
            case "points":
                self._lines = True
                places = rng.sample([(r, c) for r in range(3) for c in range(3)], 6)
                points = ", ".join(f"{'abcdef'[at]} = [{r}, {c}]"
                                   for at, (r, c) in enumerate(places))
                lines = [" ".join(rng.sample("abcdef", rng.randint(2, 4))) for _ in range(4)]
                return f"points = {{ {points} }}\nlines = {lines!r}".replace("'", '"')
            case "heaps":
                return f'heaps = "{rng.randint(2, 7)}"'
            case "pits":
                return f'pits = "{rng.randint(1, 3)}"\nseeds = "{rng.randint(1, 3)}"'
        text = f'{kind} = "{rows} x {cols}"'
        if self._maybe(0.5):
            where = rng.choice(["", " where (row + col) % 2 == 0", " where row != 2"])
            text += f'\nlinks = "orthogonal; {rng.choice(_WAYS)}{where}"'
        if self._maybe(0.6):
            self._lines = True
            text += f'\nlines = {{ length = {rng.randint(1, 3)}, along = "{rng.choice(_WAYS)}" }}'
        return text

    def _players(self) -> list[str]:
        rng = self._rng
        second = rng.choice(["same"] * 3 + ["rotate", "flip", "mirror", "transpose", "quarter"])
        stuck = rng.choice(["loss", "win", "draw", "score", "pass"])
        solo = "solo = true\n" if self._maybe(0.1) else ""
        return [f'[players]\nsecond = "{second}"\nstuck = "{stuck}"\n{solo}']

    def _piece_tables(self) -> str:
        rng, signs = self._rng, iter("AaBbCc")
        found = ["[pieces]"]
        for name in ("man", "king", "rock")[: rng.randint(1, 3)]:
            of = rng.choice(["each", "each", "neutral", "first"])
            two = next(signs) + next(signs)
            found.append(f'{name} = {{ of = "{of}", signs = "{two if of == "each" else two[0]}" }}')
            self._pieces.append(name)
        return "\n".join(found)

    def _region_table(self) -> str:
        self._regions = ["edge", "spot"][: self._rng.randint(0, 2)]
        texts = {"edge": '"row == 1 or col == 1"', "spot": '"cell % 3 == 1"'}
        return "\n".join(["[regions]", *(f"{name} = {texts[name]}" for name in self._regions)])

    def _counter_table(self) -> str:
        for name in ("hand", "phase")[: self._rng.randint(0, 2)]:
            self._counters.append((name, self._maybe(0.5)))
        return "\n".join(["[counters]", *(
            f'{name} = {{ of = "{"each" if each else "shared"}", start = {self._rng.randint(0, 2)},'
            f" max = {self._rng.randint(2, 4)} }}" for name, each in self._counters
        )])

    def _start(self) -> str:
        found = ["[start]"]
        for at, name in enumerate(self._pieces):
            if self._maybe(0.7):
                found.append(f'{name} = "cell == {at + 1} or cell == {at + 4} and row == 1"')
        return "\n".join(found)

    def _limit(self) -> str:
        text = f"[limit]\nplies = {self._rng.randint(2, 9)}"
        if self._rules and self._maybe(0.4):
            text += f'\nsince = "{self._rng.choice(self._rules)}"'
        return text + f'\nis = "{self._rng.choice(["draw", "win", "loss"])}"'

    # -- rules ---------------------------------------------------------------------------

    def _rule(self, board: str, number: int) -> str:
        rng, name = self._rng, f"rule{number}"
        lines = ["[[move]]", f'name = "{name}"']
        kinds = {"heaps": ["take", "split"], "pits": ["sow"]}.get(
            board, ["place", "place", "drop", "remove", "step", "slide", "hop", "hop", "skip"]
        )
        kind = rng.choice(kinds)
        cells = board not in ("heaps", "pits")
        match kind:
            case "take":
                lines.append(f'take = "1 to {rng.randint(1, 5)}"')
            case "split":
                lines.append(f'split = "{rng.choice(["any", "unequal"])}"')
            case "sow":
                lines.append(f'sow = "own"\ncapture = "{rng.choice(["no", "opposite"])}"')
            case "skip":
                lines.append(f'skip = "{rng.choice(["stay", "wait"])}"')
            case "remove":
                lines.append(f'remove = "{self._set(1)}"')
            case _:
                lines += self._piece_rule(kind)
        if kind in _MOVING:
            if self._moving and self._maybe(0.4):
                lines.append(f'forfeit = "{rng.choice(self._moving)}"')
            self._moving.append(name)
        bound = ["to"] if kind in ("place", "drop", "remove", "step", "slide", "hop") else []
        if self._maybe(0.3):
            lines.append(f'if = "{self._truth(cells, 2, bound)}"')
        if self._maybe(0.2):
            lines.append(f'unless = "{self._truth(cells, 1, bound)}"')
        if self._counters and self._maybe(0.6):
            lines.append(f"then = {[self._effect(cells, bound) for _ in range(rng.randint(1, 2))]}"
                         .replace("'", '"'))
        if self._maybe(0.25):
            lines.append(f'again = "{self._truth(cells, 1, bound)}"')
        if self._maybe(0.15):
            lines.append(f'by = "{rng.choice(["first", "second"])}"')
        self._rules.append(name)
        return "\n".join(lines)

    def _piece_rule(self, kind: str) -> list[str]:
        rng = self._rng
        lines = [f'{kind} = "{rng.choice(self._pieces)}"']
        if kind == "drop":
            lines.append(f'along = "{rng.choice(["s", "n", "e", "se"])}"')
        elif kind != "place" and self._maybe(0.5):
            lines.append(f'along = "{rng.choice(_WAYS)}"')
        if self._maybe(0.3):
            lines.append(f'to = "{self._set(1)}"')
        if kind == "place":
            if self._maybe(0.4):
                shape = rng.choice(['["##"]', '["#.", "##"]', '["#", "#"]', '[".#", "#."]'])
                lines.append(f"shape = {shape}\nturn = {str(self._maybe(0.5)).lower()}")
            if self._maybe(0.2):
                lines.append("lift = true")
            elif self._maybe(0.3):
                lines.append("outflank = true")
        if kind == "hop":
            if self._maybe(0.4):
                lines.append(f'over = "{self._set(1)}"')
            lines.append(f"capture = {str(self._maybe(0.7)).lower()}")
            lines.append(rng.choice([
                "repeat = true", 'chain = "must"', 'chain = "may"', "repeat = false"
            ]))
        return lines

    def _effect(self, cells: bool, bound: list[str]) -> str:
        name, each = self._rng.choice(self._counters)
        owner = self._rng.choice(["own ", "enemy "]) if each else ""
        operator = self._rng.choice(["=", "+=", "-="])
        guard = f" if {self._truth(cells, 1, bound)}" if self._maybe(0.3) else ""
        return f"{owner}{name} {operator} {self._number(cells, 1, bound)}{guard}"

    # -- expressions ---------------------------------------------------------------------

    def _truth(self, cells: bool, depth: int, bound: list[str] = []) -> str:  # noqa: B006
        rng = self._rng
        if depth and self._maybe(0.4):
            one, other = (self._truth(cells, depth - 1, bound) for _ in range(2))
            return rng.choice([f"({one}) and ({other})", f"{one} or {other}", f"not ({one})"])
        choices = [lambda: f"{self._number(cells, depth, bound)}"
                           f" {rng.choice(['==', '!=', '<', '<=', '>', '>='])} {rng.randint(0, 3)}"]
        if self._rules:
            choices.append(lambda: f"can({rng.choice(self._rules)})")
        if cells:
            choices.append(lambda: f"{rng.choice(['any', 'none'])}({self._set(depth, bound)})")
            if len(self._regions) == 2:
                choices.append(lambda: f"connected({self._set(depth)}, edge, spot)")
        return rng.choice(choices)()

    def _number(self, cells: bool, depth: int, bound: list[str] = []) -> str:  # noqa: B006
        rng = self._rng
        if depth and self._maybe(0.3):
            one = self._number(cells, depth - 1, bound)
            return f"({one} {rng.choice(['+ 1', '- 2', '* 2', '/ 2', '% 3', '* -1'])})"
        choices = [lambda: str(rng.randint(0, 3))]
        if cells:
            choices += [lambda: f"count({self._set(depth, bound)})"] * 3
            if self._lines:
                choices.append(lambda: f"lines({self._set(depth, bound)})")
                if bound:
                    choices.append(lambda: f"lines({self._set(depth, bound)}, to)")
        for name, each in self._counters:
            owner = rng.choice(["own ", "enemy ", "first "]) if each else ""
            choices.append(lambda named=owner + name: named)
        return rng.choice(choices)()

    def _set(self, depth: int, bound: list[str] = []) -> str:  # noqa: B006
        rng = self._rng
        if depth and self._maybe(0.4):
            one, other = (self._set(depth - 1, bound) for _ in range(2))
            choices = [f"({one} {sign} {other})" for sign in "&|-"] + [f"beside({one})"]
            return rng.choice([*choices, *([f"in_lines({one})"] if self._lines else ())])
        return rng.choice([
            "own", "enemy", "empty", "filled", "board", "first", "pending", *self._pieces,
            f"own {rng.choice(self._pieces)}", *self._regions, *bound,
        ])
