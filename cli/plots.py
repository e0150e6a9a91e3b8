"""Plot files: whatever can go wrong with one is told before the work begins."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from zermelo.cli.plain_errors import CommandError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg")
NEEDS_MATPLOTLIB = (
    "a plot file needs matplotlib; install it with: pip install 'zermelo[plot]'; a plot of"
    " characters will be drawn instead"
)


class Canvas:
    """A file that a figure will be drawn into."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def figure(self, width: float, height: float) -> Figure:
        from matplotlib.figure import Figure

        return Figure((width, height), layout="constrained")

    def save(self, figure: Figure) -> None:
        try:
            figure.savefig(self._path)
        except OSError as error:
            raise CommandError(f"plot {str(self._path)!r}: {error.strerror}") from None


def open_canvas(file: str) -> Canvas | None:
    """The canvas of a file. Without matplotlib the user is told so, and it is None:
    `print_text_plot` has to do.
    """
    path = Path(file)
    if path.suffix.lower() not in FORMATS:
        raise CommandError(f"plot {file!r}: the name must end in {' or '.join(FORMATS)}")
    if not path.parent.is_dir():
        raise CommandError(f"plot {file!r}: there is no folder {str(path.parent)!r}")
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        click.echo(NEEDS_MATPLOTLIB, err=True)
        return None
    return Canvas(path)


def print_text_plot(*charts: str) -> None:
    """Charts in place of a file. On standard error: standard output may be a program's."""
    click.echo("\n\n".join(["", *charts]) + "\n", err=True)
