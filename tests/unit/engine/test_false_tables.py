"""A table that was told what is false: no engine can tell, but a contradiction is one line."""

from __future__ import annotations

import pytest

from zermelo.engine.interface import EngineError, narrowed
from zermelo.games import Bounds


@pytest.mark.parametrize("found", [Bounds(3, 5), Bounds(-5, -3)])
def test_contradictory_bounds_name_the_table(found: Bounds) -> None:
    assert narrowed(Bounds(-2, 2), Bounds(0, 5)) == Bounds(0, 2)
    with pytest.raises(EngineError, match="the table contradicts itself"):
        narrowed(Bounds(-2, 2), found)
