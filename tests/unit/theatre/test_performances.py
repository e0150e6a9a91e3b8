"""Algorithms on the theatre's stage: right values, real cuts, published sizes of trees."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import product
from typing import Any

import pytest

from tests.support.minimax import minimax
from zermelo.games import Game, Move, open_game
from zermelo.games.interface import Key
from zermelo.games.picture import Picture
from zermelo.theatre import (
    ALGORITHMS,
    Direction,
    GameTree,
    Kind,
    Order,
    State,
    TheatreError,
    perform,
)
from zermelo.theatre.drawing import draw, layout
from zermelo.theatre.evaluation import Evaluation
from zermelo.theatre.messages import languages, messages
from zermelo.theatre.story import tell

#: Nodes, distinct positions (None: not published) and the value for MAX.
TREES = {
    "grundy:7": (24, 14, -1), "grundy:8": (52, 19, 1), "grundy:9": (145, 28, 1),
    "grundy:10": (364, 39, -1),
    "subtraction:9,k=3": (326, None, 1), "subtraction:10,k=3": (600, None, 1),
    "subtraction:11,k=3": (1104, None, 1), "subtraction:12,k=3": (2031, None, -1),
    "greedy-nim:4-3-3,k=2": (176, None, 1), "greedy-nim:4-4-3,k=2": (289, None, -1),
    "greedy-nim:6-5-4,k=2": (1996, None, 1), "greedy-nim:6-6-6,k=2": (8449, 34, 1),
}  # fmt: skip
SMALL = (
    "grundy:8", "grundy:9,misere=yes", "subtraction:7,k=3", "greedy-nim:3-3-2,k=2", "nim:1-2-3"
)  # fmt: skip


@pytest.mark.parametrize("spec", TREES)
def test_published_trees(spec: str) -> None:
    nodes, distinct, value = TREES[spec]
    tree = GameTree(open_game(spec))
    assert len(tree) == nodes
    if distinct is not None:
        assert len(set(tree.representatives)) == distinct
    assert perform(tree, Direction("mtdf", table=True)).value == value


@pytest.mark.parametrize("spec", SMALL)
def test_every_direction_finds_the_value(spec: str) -> None:
    game = open_game(spec)
    tree = GameTree(game)
    value = minimax(game, game.initial())
    for name, table, killer, history, order in product(
        ALGORITHMS, (False, True), (False, True), (False, True), Order
    ):
        performance = perform(tree, Direction(name, table, killer, history, order))
        assert performance.value == value, (name, table, killer, history, order)


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("evaluation", Evaluation)
@pytest.mark.parametrize("horizon", [1, 3, 4])
def test_a_horizon_gives_all_algorithms_the_same_value(
    name: str, evaluation: Evaluation, horizon: int
) -> None:
    tree = GameTree(open_game("greedy-nim:4-3-3,k=2"), horizon=horizon)
    plain = perform(tree, Direction("minimax", evaluation=evaluation))
    for table in (False, True):
        assert perform(tree, Direction(name, table, evaluation=evaluation)).value == plain.value


class Given(Game[str]):
    """A tree that is written down: a position is its path, leaves have values for MAX."""

    name = spec = short_spec = "given"
    max_score = 100

    def __init__(self, tree: Any) -> None:
        self._tree = tree

    def _at(self, position: str) -> Any:
        found = self._tree
        for step in position:
            found = found[int(step)]
        return found

    def initial(self) -> str:
        return ""

    def moves(self, position: str) -> list[Move]:
        here = self._at(position)
        return list(range(len(here))) if isinstance(here, list) else []

    def play(self, position: str, move: Move) -> str:
        return f"{position}{move}"

    def score(self, position: str) -> int:
        value = int(self._at(position))
        return -value if len(position) % 2 else value

    def evaluate(self, position: str) -> int:
        return 0

    def plies_left(self, position: str) -> int:
        return 0

    def encode(self, position: str) -> Key:
        return position.encode().rjust(16)

    def decode(self, key: Key, history: bytes = b"") -> str:
        return key.decode().strip()

    def symmetries(self, position: str) -> list[str]:
        return [position]

    def parse(self, text: str) -> str:
        return text

    def format(self, position: str) -> str:
        return position or "root"

    def picture(self, position: str) -> Picture:
        raise NotImplementedError

    def side_to_move(self, position: str) -> str:
        return "MIN" if len(position) % 2 else "MAX"

    def move_name(self, move: Move) -> str:
        return "abcdef"[move]


def test_alpha_beta_visits_six_of_ten_leaves() -> None:
    tree = GameTree(Given([[3, 12, 8], [2, 4, 6, 9], [5, 1, 2]]))
    performance = perform(tree, Direction("alphabeta"))
    assert performance.value == 3
    leaves = [e.node for e in performance.events if e.kind is Kind.VALUE and e.node != 0]
    ends = [number for number in leaves if tree.is_end(number)]
    assert [tree.label(number) for number in ends] == ["00", "01", "02", "10", "20", "21"]
    assert performance.counters.cut == 4
    assert tree.move_name(performance.best or 0) == "a"


def test_the_third_child_is_cut() -> None:
    # MIN at the root's children: A = -8, B = 3; below C the first leaf refutes it.
    tree = GameTree(Given([[-8, 5], [3, 7], [-1, 9]]))
    performance = perform(tree, Direction("alphabeta"))
    values = performance.values(len(performance.events))
    assert performance.value == 3
    assert [values[child] for child in tree[0].children] == [-8, 3, -1]
    (cut,) = [event for event in performance.events if event.kind is Kind.CUT and len(event.cut)]
    assert [tree.label(child) for child in cut.cut] == ["21"]


def test_states_at_the_start_in_between_and_at_the_end() -> None:
    tree = GameTree(open_game("grundy:9"))
    performance = perform(tree, Direction("alphabeta"))
    assert set(performance.states(0)) == {State.REACHABLE}
    assert performance.values(0) == {}
    for step in range(1, len(performance.events) + 1):
        states = performance.states(step)
        assert states.count(State.CURRENT) == 1
        assert states[performance.events[step - 1].node] is State.CURRENT
    end = performance.states(len(performance.events))
    counters = performance.counters
    assert State.REACHABLE not in end
    assert end.count(State.CUT) == counters.cut > 0
    assert end.count(State.VISITED) + 1 == counters.visited
    assert counters.visited + counters.cut == len(tree)


def test_where_a_table_knows_the_rest_is_not_needed() -> None:
    performance = perform(GameTree(open_game("grundy:9")), Direction("minimax", table=True))
    end = performance.states(len(performance.events))
    assert end.count(State.UNREACHABLE) == 145 - performance.counters.visited > 0
    assert performance.counters.hits == 19


def test_moves_lead_through_the_tree() -> None:
    tree = GameTree(open_game("subtraction:9,k=3"))
    path = tree.walk(["9>8", "8>5"])
    assert [tree.label(number).split()[0] for number in path] == ["9", "8", "5"]
    assert path[2] in tree.subtree(path[1])
    assert path[2] not in tree.subtree(tree[0].children[-1])
    with pytest.raises(TheatreError, match="horizon"):
        GameTree(tree.game, horizon=1).walk(["9>8", "8>5"])


def test_a_search_in_the_middle_of_a_game() -> None:
    tree = GameTree(open_game("grundy:9"))
    start = tree.walk(["9>1+8"])[-1]
    below = GameTree(tree.game, tree[start].position)
    for name in ALGORITHMS:
        performance = perform(tree, Direction(name, horizon=2), start)
        plies = {tree[event.node].ply for event in performance.events}
        assert plies == {1, 2, 3}
        assert performance.states(0).count(State.REACHED) == 1  # the root
        assert performance.states(0).count(State.REACHABLE) == len(below)
        whole = perform(tree, Direction(name), start)
        assert whole.value == -perform(below, Direction(name)).value
        assert whole.best in tree[start].children


def test_large_trees_are_refused_with_a_way_out() -> None:
    with pytest.raises(TheatreError, match="horizon"):
        GameTree(open_game("reversi:4x4"))
    assert len(GameTree(open_game("reversi:4x4"), horizon=3)) > 10


def test_only_games_with_heaps_are_judged_by_heaps() -> None:
    tree = GameTree(open_game("reversi:4x4"), horizon=1)
    with pytest.raises(TheatreError, match="no heaps"):
        perform(tree, Direction("minimax", evaluation=Evaluation.HEAPS))


def test_the_story_names_windows_and_cuts() -> None:
    performance = perform(GameTree(open_game("grundy:7")), Direction("alphabeta"))
    lines = list(tell(performance))
    assert lines[0].text.endswith("(-∞, ∞)")
    assert sum(line.kind is Kind.CUT for line in lines) == 2
    assert len(list(tell(performance, 5))) == 5
    passes = tell(perform(performance.tree, Direction("mtdf")))
    assert next(passes).text == "a new pass: is the value at least 0?"


def test_a_picture_has_every_node_once() -> None:
    performance = perform(GameTree(open_game("grundy:9")), Direction("alphabeta"))
    places = layout(performance)
    assert len(set(places)) == len(performance.tree)
    picture = ElementTree.fromstring(draw(performance, 60))  # noqa: S314 - our own text
    names = [element.get("class") for element in picture.iter() if element.get("class")]
    assert sum(name in set(State) for name in names) == len(performance.tree)
    assert names.count("current") == 1


def test_all_languages_have_all_texts() -> None:
    english = messages("en")
    assert {"en", "de"} <= set(languages())
    for language in languages():
        for section, texts in english.items():
            translated = messages(language)[section]
            assert translated.keys() == texts.keys()
            for key, text in texts.items():
                assert type(translated[key]) is type(text)
                assert len(translated[key]) == len(text) or isinstance(text, str)
    assert all(len(english["tour"][name]) == 5 for name in ("minimax", "alphabeta"))
    with pytest.raises(TheatreError, match="de, en"):
        messages("tlh")
