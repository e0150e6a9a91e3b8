from typing_extensions import Buffer

ANSWERS: int
DEEPEST: int
POINTS: int
UNIT: int
WEIGHTS: int

#: Own stones, other stones, turn (0: the prover's), the move before, reach.
Sample = tuple[int, int, int, int, int]

class Conquest:
    def __init__(self, rows: int, cols: int, hash_mb: int) -> None: ...
    def learned(self, prover: Buffer, opponent: Buffer) -> None: ...
    def prove(
        self,
        own: int,
        other: int,
        own_to_move: bool,
        ko: int,
        fewest: int,
        plies: int,
        node_budget: int,
    ) -> tuple[bool | None, int]: ...
    def known(self, own: int, other: int, own_to_move: bool, fewest: int) -> bool | None: ...
    def move(self, own: int, other: int, fewest: int) -> int | None: ...
    def finishes(self, own: int, other: int, answers: int) -> bool: ...
    def sample(
        self,
        own: int,
        other: int,
        own_to_move: bool,
        plies: int,
        node_budget: int,
        room: int,
        every: int,
        nearest: int,
        farthest: int,
        seed: int,
    ) -> list[Sample]: ...
    def lesson(
        self, own: int, other: int, turn: int, last: int, reach: int, node_budget: int
    ) -> list[tuple[list[int], bool]]: ...
    @property
    def nodes(self) -> int: ...
    def stop(self) -> None: ...
    def allow(self) -> None: ...
    def clear(self) -> None: ...
