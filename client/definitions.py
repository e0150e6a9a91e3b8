"""Texts of games that the coordinator gave, one file for each digest.

A server may be hostile: a text is kept only if it has the digest that was asked for. What is in
it is read and compiled by the workers, within the limits of the language.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from zermelo.client.files import write_atomically
from zermelo.client.folder import why
from zermelo.games.definition.limits import MOST_TEXT_BYTES
from zermelo.games.definition.sources import library_text, text_with_digest
from zermelo.games.spec import definition_digest

log = logging.getLogger(__name__)

#: Files that are kept; the oldest go first.
MOST_KEPT = 64
_DIGEST = re.compile(r"[0-9a-f]{32}", re.ASCII)
_SUFFIX = ".toml"


class DefinitionFolder:
    def __init__(
        self, folder: Path, ask: Callable[[str], Awaitable[bytes]] | None = None
    ) -> None:
        self._folder, self._ask = folder, ask

    def text(self, digest: str) -> str | None:
        """The text with this digest, if it is here and whole."""
        if not _DIGEST.fullmatch(digest):
            return None
        try:
            with self._path(digest).open("rb") as file:
                return text_with_digest(file.read(MOST_TEXT_BYTES + 1), digest)
        except OSError:
            return None

    async def fetch(self, specs: Iterable[str]) -> None:
        """Make the definitions that specs name known here, as far as the coordinator has them.

        A worker refuses the workunits of one that stays unknown.
        """
        for spec in sorted(specs):
            digest = definition_digest(spec)
            if not _DIGEST.fullmatch(digest) or self._has(digest) or self._ask is None:
                continue
            data = await self._ask(digest)
            if not data:
                log.warning("the coordinator has no text of %s", spec)
            elif text_with_digest(data, digest) is None:
                log.warning("the coordinator gave another text than that of %s", spec)
            else:
                self._keep(digest, data)

    def _has(self, digest: str) -> bool:
        """Whether the workers can find the text: they look here and in the library."""
        return library_text(digest) is not None or self.text(digest) is not None

    def _keep(self, digest: str, data: bytes) -> None:
        try:
            files = sorted(self._folder.glob(f"*{_SUFFIX}"), key=lambda file: file.stat().st_mtime)
            for file in files[: max(0, len(files) + 1 - MOST_KEPT)]:
                file.unlink(missing_ok=True)
            write_atomically(self._path(digest), [data], durable=False)
        except OSError as error:
            log.warning("the text of a game cannot be kept: %s", why(error))

    def _path(self, digest: str) -> Path:
        return self._folder / f"{digest}{_SUFFIX}"
