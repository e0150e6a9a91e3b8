from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from tests.support.machine import INSTRUCTIONS, MakeCore, MakeEngine
from zermelo.engine.reversi import ReversiEngine
from zermelo.games.reversi import Reversi


@pytest.fixture(scope="module", params=INSTRUCTIONS)
def make_core(request: pytest.FixtureRequest) -> MakeCore:
    """Opens the bare compiled engine of each instruction set this machine has."""
    module = import_module(f"zermelo.cext.reversi_{request.param}")
    assert request.param == module.INSTRUCTIONS

    def make(game: Reversi, threads: int = 1, megabytes: int = 1) -> Any:
        wof = game.scoring == "wof"
        return module.Core(game.rows, game.cols, wof, threads, megabytes << 20)

    return make


@pytest.fixture(scope="module", params=INSTRUCTIONS)
def make_engine(request: pytest.FixtureRequest) -> Iterator[MakeEngine]:
    """Opens the compiled engine of each instruction set this machine has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZERMELO_INSTRUCTIONS", request.param)

        def make(game: Reversi, **options: Any) -> ReversiEngine:
            return ReversiEngine(game, **{"hash_mb": 1, **options})

        yield make
