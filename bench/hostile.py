"""Definitions of strangers: what each costs until it is refused, or ready to be searched.

    python -m bench.hostile [--count 10000] [--seed 1]

Every text is read as an operator's, a volunteer's and a researcher's machine would: by the
reference rules and compiled for the kernel, and then by the checker as if a certificate claimed
the symmetries that were found. Each reads in a process of its own that tells its processor time
and how far its memory grew. The texts that come by hand are tried first. Exit code 1 if one takes
more than a second or 64 MB, or is refused in more than one line.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from itertools import chain, islice

from tests.support.definitions import play_text
from tests.support.hostile_definitions import HOSTILE, changed_copies
from zermelo.checker.definition.game import CheckedDefinition
from zermelo.engine.definition import DefinitionEngine
from zermelo.games import GameError
from zermelo.games.definition.sources import digest_of

MOST_SECONDS = 1.0
MOST_MB = 64.0
MOST_CHARACTERS = 1000


#: What a certificate says of a text that the engine refuses.
NO_SYMMETRY = ("same",)
_NAME = re.compile(r'^game *= *"([a-z][a-z0-9-]{0,31})"', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cost:
    seconds: float
    mb: float
    message: str  # of the refusal; empty if there was none
    symmetries: Sequence[str] = NO_SYMMETRY  # that the engine found


def engine_reads(text: str, _claimed: Sequence[str]) -> Sequence[str]:
    game = play_text(text)
    DefinitionEngine(game, hash_mb=1)
    return game.symmetry_names()


def checker_reads(text: str, claimed: Sequence[str]) -> Sequence[str]:
    name = _NAME.search(text)
    spec = f"{name[1] if name else 'g'}@{digest_of(text)}:"
    CheckedDefinition(text, spec, tuple(claimed))
    return claimed


READERS = {"engine": engine_reads, "checker": checker_reads}


def cost(reader: str, text: str, claimed: Sequence[str] = NO_SYMMETRY) -> Cost:
    """What reading the text takes, in a process of its own."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(write_end, "wb") as pipe:
            pipe.write(json.dumps(astuple(_measured(reader, text, claimed))).encode())
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        raw = pipe.read()
    os.waitpid(child, 0)
    return Cost(*json.loads(raw)) if raw else Cost(0.0, 0.0, "the process\nended")


def _measured(reader: str, text: str, claimed: Sequence[str]) -> Cost:
    before, started = _peak_mb(), time.process_time()
    symmetries, message = NO_SYMMETRY, ""
    try:
        symmetries = tuple(READERS[reader](text, claimed))
    except GameError as error:
        message = str(error)
    except BaseException as error:
        message = f"{type(error).__name__}\n{error}"
    return Cost(time.process_time() - started, _peak_mb() - before, message, symmetries)


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def texts(count: int, seed: int) -> Iterator[tuple[str, str]]:
    copies = changed_copies(random.Random(seed))
    return chain(
        HOSTILE.items(),
        ((f"changed {number}", text) for number, text in enumerate(
            islice(copies, max(0, count - len(HOSTILE)))
        )),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tried = bad = refused = 0
    worst = {reader: [0.0, 0.0] for reader in READERS}
    for name, text in texts(options.count, options.seed):
        tried += 1
        claimed: Sequence[str] = NO_SYMMETRY
        for reader, highest in worst.items():
            found = cost(reader, text, claimed)
            claimed = found.symmetries
            refused += reader == "engine" and bool(found.message)
            highest[:] = max(highest[0], found.seconds), max(highest[1], found.mb)
            clear = "\n" not in found.message and len(found.message) < MOST_CHARACTERS
            if found.seconds > MOST_SECONDS or found.mb > MOST_MB or not clear:
                bad += 1
                print(f"{name}, {reader}: {found}\n{text}\n", file=sys.stderr)
    print(f"{tried:,} definitions, {refused:,} refused in one line, {bad} too costly or unclear")
    for reader, (seconds, mb) in worst.items():
        print(f"{reader:8} at most {seconds:.2f} s, {mb:.1f} MB")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
