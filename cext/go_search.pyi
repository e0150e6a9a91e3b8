from collections.abc import Sequence

RULES: dict[str, int]
OPTIONS: tuple[str, ...]
Past = tuple[int, int, int, int]

class Prover:
    def __init__(
        self, rows: int, cols: int, ko: str, cycle_passes: bool, suicide: bool, hash_mb: int
    ) -> None: ...
    def set_options(
        self,
        *,
        symmetry: bool = True,
        life: bool = True,
        killers: bool = True,
        history: bool = True,
        shape: bool = True,
        share: bool = True,
        naive: bool = False,
    ) -> None: ...
    def prove(
        self,
        black: int,
        white: int,
        black_to_move: bool,
        passes: int,
        ko: int,
        past: Sequence[Past],
        *,
        target: int,
        draw_value: int = 0,
        node_budget: int | None = None,
    ) -> tuple[int | None, int]: ...
    def known(
        self,
        black: int,
        white: int,
        black_to_move: bool,
        passes: int,
        ko: int,
        past: Sequence[Past],
    ) -> tuple[int, int]: ...
    def known_below(
        self,
        black: int,
        white: int,
        black_to_move: bool,
        passes: int,
        ko: int,
        past: Sequence[Past],
    ) -> list[tuple[tuple[int, ...], tuple[int, int]]]: ...
    def seed(
        self,
        black: int,
        white: int,
        black_to_move: bool,
        passes: int,
        ko: int,
        past: Sequence[Past],
        *,
        value: int,
        by_black: bool,
    ) -> None: ...
    def play_stone(self, own: int, other: int, point: int) -> tuple[int, int, int] | None: ...
    def secure(self, own: int) -> tuple[int, int]: ...
    def area(self, own: int, other: int) -> int: ...
    def new_question(self) -> None: ...
    @property
    def nodes(self) -> int: ...
    def stop(self) -> None: ...
    def allow(self) -> None: ...
    def dump(self) -> bytes: ...
    def load(self, records: bytes) -> None: ...
    def clear(self) -> None: ...
