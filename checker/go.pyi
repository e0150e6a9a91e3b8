"""The checker's compiled Go."""

from collections.abc import Collection

class GoProver:
    def __init__(
        self, rows: int, cols: int, ko: str, cycle_passes: bool, suicide: bool, komi: int,
        table_bits: int,
    ) -> None: ...
    @property
    def nodes(self) -> int: ...
    @property
    def stopped(self) -> bool: ...
    def stop(self) -> None: ...
    def forces(
        self, black: int, white: int, black_to_move: bool, passes: int, ko: int,
        past: Collection[tuple[int, int, int, int]], prover_black: bool, target: int, plies: int,
        free_plies: int,
    ) -> bool: ...
