"""A study for a page, in a process of its own: ``python -m zermelo.web.study_process SPEC``."""

from __future__ import annotations

import json
import os
import sys
import time

from zermelo.games import open_game
from zermelo.research.plain import plain
from zermelo.research.study import study

#: Positions are counted to this ply, and this many random games are played at most.
EXACT, GAMES = 4, 300
NICENESS = 15


def main(spec: str) -> None:
    os.nice(NICENESS)
    game = open_game(spec)
    began = time.process_time()
    study(game, exact=0, games=3, seed=0)
    each = (time.process_time() - began) / 3
    # About ten seconds of the processor, whatever the game.
    games = max(20, min(GAMES, int(10.0 / max(each, 1e-6))))
    made = study(game, exact=EXACT, games=games, seed=1)
    sys.stdout.write(json.dumps(plain(made)))


if __name__ == "__main__":
    main(sys.argv[1])
