"""Where the repository and the tests' data are."""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
DATA = REPOSITORY / "tests" / "data"
