"""Draws docs/pictures/solve.svg: a real solve of reversi 6x6, a query and its proof.

Run it on a quiet machine, since the picture shows times: `python docs/pictures/terminal.py`. It
takes about a minute and needs `zermelo[server]`.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

PICTURE = Path(__file__).with_name("solve.svg")
WIDTH = 84
COMMANDS = (
    "zermelo solve reversi:6x6",
    'zermelo query position reversi:6x6 --moves "c2"',
    "zermelo proof export reversi:6x6 -o reversi-6x6.proof",
)
#: A picture loads nothing from elsewhere, so it uses a font that the reader has.
WEB_FONT = re.compile(r"@font-face \{.*?\}\s*|<!--.*?-->", re.DOTALL)
MONOSPACE = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def main() -> None:
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    with tempfile.TemporaryDirectory(prefix="zermelo-picture-") as folder:
        for command in COMMANDS:
            console.print(Text(f"$ {command}", style="bold green"))
            console.print(Text.from_ansi(output(command, folder)))
    svg = console.export_svg(title="zermelo", theme=DIMMED_MONOKAI, unique_id="zermelo")
    PICTURE.write_text(WEB_FONT.sub("", svg).replace("Fira Code, monospace", MONOSPACE))


def output(command: str, folder: str) -> str:
    """What a command prints on a terminal of this width."""
    environment = {
        **os.environ, "COLUMNS": str(WIDTH), "FORCE_COLOR": "1", "TERM": "xterm-256color",
        "ZERMELO_DATA_DIR": f"{folder}/data",
    }  # fmt: skip
    done = subprocess.run(  # noqa: S603
        shlex.split(command), cwd=folder, env=environment, check=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return done.stdout


if __name__ == "__main__":
    main()
