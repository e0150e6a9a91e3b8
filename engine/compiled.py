"""What the engines have in common whose table and rules are compiled and keyed by position."""

from __future__ import annotations

from typing import Any, ClassVar

from zermelo.engine.checkpoints import load_records, seal, unseal
from zermelo.engine.interface import Expansion
from zermelo.engine.searching import SearchingEngine
from zermelo.games import KEY_BYTES, GameError

MOST_CHECKPOINT_BYTES = 64 << 20


class CompiledEngine(SearchingEngine):
    #: The compiled engine.
    core: Any
    #: Names the layout of a checkpoint.
    checkpoint_kind: ClassVar[bytes]
    #: Entries that took less, in the measure of the compiled engine, are quicker found again.
    checkpoint_effort: ClassVar[int]

    def checkpoint(self) -> bytes:
        effort = self.checkpoint_effort
        records: bytes = self.core.dump(effort)
        while len(records) > MOST_CHECKPOINT_BYTES:
            # A large table, or one that many workers share: keep what took most to find out.
            effort += 2
            records = self.core.dump(effort)
        return seal(self.checkpoint_kind, self.game, records)

    def restore(self, checkpoint: bytes) -> None:
        load_records(self._load, unseal(self.checkpoint_kind, self.game, checkpoint))

    def _load(self, records: bytes) -> None:
        """Put dumped records into the table; `ValueError` if one of them cannot be true."""
        self.core.load(records)

    def clear(self) -> None:
        self.core.clear()

    def expand(self, keys: bytes) -> Expansion:
        if len(keys) % KEY_BYTES:
            raise GameError(f"{len(keys)} bytes are no sequence of {KEY_BYTES}-byte keys")
        try:
            return Expansion(*self.core.expand(keys))
        except ValueError as error:
            raise GameError(f"{self.game.short_spec}: {error}") from None
