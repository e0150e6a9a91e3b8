"""How the kernel makes keys: what each byte of a plane, counter and cell adds to them."""

from __future__ import annotations

from typing import Any

from zermelo.engine.definition_code import ints, words
from zermelo.games.definition.definition import Compiled
from zermelo.games.definition.symmetry import Symmetry

_BYTE = 8
_NUMBER_BYTES = 16
_WORD_BITS = 64
#: Empty, and two kinds of pieces.
_TWO_PLANES = 3


class Keys:
    def __init__(self, compiled: Compiled, mask_bytes: int) -> None:
        model = compiled.tables.model
        self._model, self._symmetries, self._mask_bytes = model, compiled.symmetries, mask_bytes
        self._bytes = max(1, -(-model.board.cells // _BYTE))
        weight = model.board.cells + 1 if model.chains else 1
        self._counters = [0] * len(model.counters)
        for at in reversed(range(len(model.counters))):
            self._counters[at] = weight
            weight *= model.counters[at].most + 1
        self._below_cells = weight
        self._cells = [0] * model.board.cells
        for cell in reversed(range(model.board.cells)):
            self._cells[cell] = weight
            weight *= len(model.values)

    def parts(self) -> dict[str, Any]:
        symmetries, plane_keys = self._symmetries, self._planes_fit()
        return {
            "bytes": self._bytes,
            "key_bytes": b"".join(self._plane_table(each) for each in symmetries),
            "counter_weights": words(
                (self._counters[image] for each in symmetries for image in each.counters),
                _NUMBER_BYTES,
            ),
            "pending_weights": words(
                (image + 1 for each in symmetries for image in each.cells), _NUMBER_BYTES
            ),
            "exchanges": [int(each.exchange) for each in symmetries],
            "plane_keys": int(plane_keys),
            "images": b"".join(self._images(each) for each in symmetries) if plane_keys else b"",
            "plain_images": [
                int(list(each.cells) == list(range(len(self._cells)))) for each in symmetries
            ],
            "cell_images": ints(image for each in symmetries for image in each.cells),
            "swaps": [int(tuple(each.values) == (0, 2, 1)) for each in symmetries],
        }

    def _planes_fit(self) -> bool:
        """Whether two planes can be the key, with all else above the first of them."""
        model = self._model
        if len(model.values) > _TWO_PLANES or model.board.cells > _WORD_BITS:
            return False
        same = tuple(range(len(model.values)))
        if any(tuple(each.values) not in (same, (0, 2, 1)) for each in self._symmetries):
            return False
        exchanged = any(each.exchange for each in self._symmetries)
        digits = 1 if exchanged and self._below_cells == 1 else 2 * self._below_cells
        return digits <= 1 << (_WORD_BITS - model.board.cells)

    def _plane_table(self, symmetry: Symmetry) -> bytes:
        found: list[int] = []
        for value in range(len(self._model.values)):
            image = symmetry.values[value]
            found += self._by_byte(symmetry, lambda cell, image=image: image * self._cells[cell])
        return words(found, _NUMBER_BYTES)

    def _images(self, symmetry: Symmetry) -> bytes:
        return words(self._by_byte(symmetry, lambda cell: 1 << cell), self._mask_bytes)

    def _by_byte(self, symmetry: Symmetry, worth: Any) -> list[int]:
        """For each byte of a plane and each of its values the sum of what its cells are worth."""
        found: list[int] = []
        for byte in range(self._bytes):
            row = [0]
            for cell in range(byte * _BYTE, (byte + 1) * _BYTE):
                adds = worth(symmetry.cells[cell]) if cell < len(self._cells) else 0
                row += [number + adds for number in row]
            found += row
        return found
