"""The texts of definitions by their digest, without reading what is in them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache

#: Texts that a process keeps at most.
MOST_REMEMBERED = 256
_DIGEST_BYTES = 16

_remembered: dict[str, str] = {}
#: Each gives the text with a digest, if it has one.
_sources: list[Callable[[str], str | None]] = [_remembered.get]


def digest_of(text: str) -> str:
    """What names this very text: 32 hexadecimal digits."""
    return hashlib.blake2b(text.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def text_with_digest(data: bytes, digest: str) -> str | None:
    """The text in these bytes, if it is the one with this digest."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if digest_of(text) == digest else None


@cache
def library_texts() -> dict[str, str]:
    """The definitions that come with Zermelo, by name."""
    from importlib.resources import files  # slow, and mostly not needed

    folder = files("zermelo.games") / "library"
    return {
        entry.name.removesuffix(".toml"): entry.read_text(encoding="utf-8")
        for entry in folder.iterdir() if entry.name.endswith(".toml")
    }


@cache
def _library_by_digest() -> dict[str, str]:
    return {digest_of(text): text for text in library_texts().values()}


def library_text(digest: str) -> str | None:
    """The text of the library's definition with this digest, if there is one."""
    return _library_by_digest().get(digest)


def add_source(text_of: Callable[[str], str | None]) -> None:
    """Let this process look for texts by their digest in one more place."""
    _sources.append(text_of)


def remember_text(text: str) -> None:
    """Let this process find a text by its digest."""
    _remembered[digest_of(text)] = text
    while len(_remembered) > MOST_REMEMBERED:
        del _remembered[next(iter(_remembered))]


def find_text(digest: str) -> str | None:
    """The text with this digest, from the library or wherever else this process may look."""
    if (text := library_text(digest)) is not None:
        return text
    for text_of in _sources:
        text = text_of(digest)
        if text is not None and digest_of(text) == digest:
            return text
    return None
