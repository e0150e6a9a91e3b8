"""What a certificate says: a header, and statements about positions.

An entry states a bound of one canonical position for the side to move and why it holds:
a move, all replies, or (a *leaf*) somebody's search. `certificate_file.py` writes and reads
them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from zermelo import ZermeloError
from zermelo.games import KEY_BYTES, Bounds, Key

# What an entry says, in one byte.
AT_MOST = 1
LEAF = 2

#: No move, as certificates are kept in memory.
NO_MOVE = 65_535

#: What entries are sorted by: key, history, and "at least" before "at most".
Order = tuple[Key, bytes, bool]


class CertificateError(ZermeloError, ValueError):
    """A certificate cannot be read or written; the message says what is wrong."""

    exit_code = 2


class DamagedError(CertificateError):
    """A file is no certificate, or a damaged one."""

    exit_code = 3
    #: The last position that could be read, drawn, if there is one.
    board = ""


class LimitError(CertificateError):
    """A check would take more memory or time than it may: nothing is known about the file."""

    exit_code = 5


@dataclass(frozen=True, slots=True)
class Header:
    """What is proved, about which game, and what made the file."""

    #: The complete spec: the rules with every option written out.
    game: str
    goal: str
    campaign: str
    #: Where the proof begins, as the game writes it.
    position: str
    #: What is proved about that position, for the side to move.
    lo: int
    hi: int
    entries: int
    leaves: int
    #: The version of Zermelo that wrote the file, and when.
    version: str
    created: str
    #: Format 2: the text of the definition that `game` names by its digest, and the symmetries
    #: that positions are canonical by, with spaces between their names.
    definition: str = ""
    symmetries: str = ""

    @property
    def format(self) -> int:
        """The format of the file: only definitions need the second."""
        return 2 if self.definition else 1

    @property
    def bounds(self) -> Bounds:
        return Bounds(self.lo, self.hi)


class Leaf(NamedTuple):
    """Where the bound of a leaf comes from. No results: searched while exporting."""

    nodes: int
    results: int
    hosts: int


class Entry(NamedTuple):
    """The score of a canonical position is at least, or at most, the bound."""

    key: Key
    history: bytes
    at_least: bool
    bound: int
    #: At least: the move that secures it. None where all replies count, and in a leaf.
    move: int | None
    leaf: Leaf | None

    @property
    def order(self) -> Order:
        """Entries are sorted by this; no two are equal in it."""
        return self.key, self.history, not self.at_least


@dataclass(slots=True)
class Certificate:
    """A certificate in columns of equal length; the leaves have columns of their own."""

    header: Header
    keys: bytearray = field(default_factory=bytearray)
    #: Empty, or the history of every entry.
    histories: list[bytes] = field(default_factory=list)
    flags: bytearray = field(default_factory=bytearray)
    bounds: array[int] = field(default_factory=lambda: array("h"))
    moves: array[int] = field(default_factory=lambda: array("H"))
    leaf_nodes: array[int] = field(default_factory=lambda: array("Q"))
    leaf_results: array[int] = field(default_factory=lambda: array("I"))
    leaf_hosts: array[int] = field(default_factory=lambda: array("I"))
    #: Names this very file.
    digest: str = ""

    def __len__(self) -> int:
        return len(self.flags)

    def key(self, at: int) -> Key:
        return bytes(self.keys[KEY_BYTES * at : KEY_BYTES * (at + 1)])

    def history(self, at: int) -> bytes:
        return self.histories[at] if self.histories else b""

    def at_least(self, at: int) -> bool:
        return not self.flags[at] & AT_MOST

    def is_leaf(self, at: int) -> bool:
        return bool(self.flags[at] & LEAF)

    def leaves(self) -> array[int]:
        """The entries that are leaves, in the order of the leaf columns."""
        return array("I", (at for at, flags in enumerate(self.flags) if flags & LEAF))

    def order(self, at: int) -> Order:
        """What the entries of a file are sorted by."""
        return self.key(at), self.history(at), not self.at_least(at)

    def find(self, key: Key, history: bytes, at_least: bool) -> int | None:
        """The entry that states such a bound of this position, if the entries are in order."""
        wanted = key, history, not at_least
        at = bisect_left(range(len(self)), wanted, key=self.order)
        return at if at < len(self) and self.order(at) == wanted else None

    def entries(self) -> Iterator[Entry]:
        """The entries as objects, for readers in no hurry."""
        leaves = zip(self.leaf_nodes, self.leaf_results, self.leaf_hosts, strict=True)
        for at in range(len(self)):
            leaf = Leaf(*next(leaves)) if self.is_leaf(at) else None
            move = None if self.moves[at] == NO_MOVE else self.moves[at]
            yield Entry(
                self.key(at), self.history(at), self.at_least(at), self.bounds[at], move, leaf
            )

    def append(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self.keys += entry.key
            if entry.history and not self.histories:
                self.histories = [b""] * len(self)
            if entry.history or self.histories:
                self.histories.append(entry.history)
            self.flags.append((0 if entry.at_least else AT_MOST) | (LEAF if entry.leaf else 0))
            self.bounds.append(entry.bound)
            self.moves.append(NO_MOVE if entry.move is None else entry.move)
            if entry.leaf:
                self.leaf_nodes.append(entry.leaf.nodes)
                self.leaf_results.append(entry.leaf.results)
                self.leaf_hosts.append(entry.leaf.hosts)

    def columns(self) -> dict[str, Any]:
        """All columns by their names."""
        return {
            "keys": self.keys,
            "histories": self.histories,
            "flags": self.flags,
            "bounds": self.bounds,
            "moves": self.moves,
            "leaf_nodes": self.leaf_nodes,
            "leaf_results": self.leaf_results,
            "leaf_hosts": self.leaf_hosts,
        }

    def join(self, columns: dict[str, Any]) -> None:
        """Put the entries of further columns after these."""
        if columns["histories"] and not self.histories:
            self.histories = [b""] * len(self)
        elif self.histories and not columns["histories"]:
            columns["histories"] = [b""] * len(columns["flags"])
        for name, column in columns.items():
            getattr(self, name).extend(column)
