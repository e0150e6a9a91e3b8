"""Definitions of strangers: whatever they hold, one clear line, quickly and in little memory."""

from __future__ import annotations

import random
import time
import tracemalloc
from itertools import islice

import pytest

from tests.support.definitions import play_text
from tests.support.effort import REPEATED, long
from tests.support.hostile_definitions import HOSTILE, changed_copies
from zermelo.engine.definition_program import Program
from zermelo.games import GameError

MOST_SECONDS = 1.0
MOST_BYTES = 64 << 20
FUZZED = 50  # for each seed
#: Of the short, of a bounded and of the whole long run.
SEEDS, BOUNDED_SEEDS, MANY_SEEDS = 4, 40, 200
MEASURED = 40  # one of this number is measured for its memory, too


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_definition_ends_in_one_line(name: str) -> None:
    started = time.process_time()
    message = _refusal(HOSTILE[name])
    seconds = time.process_time() - started
    tracemalloc.start()  # for itself: it makes everything several times slower
    _refusal(HOSTILE[name] + " ")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert bool(message) == (name not in HARMLESS)
    assert "\n" not in message
    assert len(message) < 1000
    assert seconds < 3 * MOST_SECONDS  # a busy machine may need longer
    assert peak < MOST_BYTES


def _refusal(text: str) -> str:
    try:
        play_text(text)
    except GameError as error:
        return str(error)
    return ""


#: Legal, if odd; they are here for their time and memory.
HARMLESS = {"long sum"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(SEEDS), *(
    pytest.param(seed, marks=long if seed < BOUNDED_SEEDS else REPEATED)
    for seed in range(SEEDS, MANY_SEEDS)
)])
def test_changed_copies_of_the_library_play_or_are_refused(seed: int) -> None:
    rng = random.Random(seed)
    for number, text in enumerate(islice(changed_copies(rng), FUZZED)):
        started = time.process_time()
        message = _play(text, rng)
        assert "\n" not in message, text
        assert len(message) < 1000, text
        assert time.process_time() - started < 3 * MOST_SECONDS, text
        if number % MEASURED == 0:
            assert _peak(text + "\n#") < MOST_BYTES, text


def _peak(text: str) -> int:
    """The most memory that a definition takes until it can be searched, or is refused."""
    tracemalloc.start()
    try:
        Program(play_text(text).compiled)
    except GameError:
        pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return peak


def _play(text: str, rng: random.Random) -> str:
    """Some moves of the game, and its program; what is wrong with it, if it is refused."""
    try:
        game = play_text(text)
    except GameError as error:
        return str(error)
    assert Program(game.compiled).parts["masks"], text
    position = game.initial()
    for _ in range(6):
        moves = game.moves(position)
        if not moves:
            assert abs(game.score(position)) <= game.max_score, text
            break
        position = game.play(position, rng.choice(moves))
    return ""
