"""Print what a part of pyproject.toml needs, one package a line, without building Zermelo.

    python deploy/requirements.py server

pip can then download packages while the engines are being compiled.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_OURSELVES = re.compile(r"zermelo\[([\w,-]+)\]")


def requirements(project: dict[str, Any], part: str) -> Iterator[str]:
    """What the extra needs; extras that name other extras are followed."""
    for requirement in project["optional-dependencies"][part]:
        if ours := _OURSELVES.fullmatch(requirement):
            for other in ours[1].split(","):
                yield from requirements(project, other)
        else:
            yield requirement


if __name__ == "__main__":
    pyproject = Path(__file__).parents[1] / "pyproject.toml"
    project = tomllib.loads(pyproject.read_text())["project"]
    parts = [line for part in sys.argv[1:] for line in requirements(project, part)]
    sys.stdout.write("\n".join([*project["dependencies"], *parts]) + "\n")
