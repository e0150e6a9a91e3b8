"""Plot files: whatever can go wrong with one is told before the work begins."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from zermelo.cli.plain_errors import CommandError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg")


class Canvas:
    """A file that a figure will be drawn into."""

    def __init__(self, file: str) -> None:
        self._file, self._path = file, Path(file)
        if self._path.suffix.lower() not in FORMATS:
            raise CommandError(f"plot {file!r}: the name must end in {' or '.join(FORMATS)}")
        if not self._path.parent.is_dir():
            raise CommandError(f"plot {file!r}: there is no folder {str(self._path.parent)!r}")
        try:
            import matplotlib.figure  # noqa: F401
        except ImportError:
            raise CommandError(
                "a plot needs matplotlib; install it with: pip install 'zermelo[plot]'"
            ) from None

    def figure(self, width: float, height: float) -> Figure:
        from matplotlib.figure import Figure

        return Figure((width, height), layout="constrained")

    def save(self, figure: Figure) -> None:
        try:
            figure.savefig(self._path)
        except OSError as error:
            raise CommandError(f"plot {self._file!r}: {error.strerror}") from None
