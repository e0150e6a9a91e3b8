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
        table: bool = True,
        symmetry: bool = True,
        cutoffs: bool = True,
        life: bool = True,
        killers: bool = True,
        history: bool = True,
        rely: bool = True,
        share: bool = True,
        exact_fails: bool = False,
        shuffle: int = 0,
        naive: bool = False,
    ) -> None: ...
    def prove(
        self,
        own: int,
        other: int,
        prover_to_move: bool,
        passes: int,
        ko: int,
        past: Sequence[Past],
        *,
        target: int,
        depth: int,
        draw_value: int = 0,
        salt: int = 0,
        node_limit: int | None = None,
    ) -> tuple[int | None, int]: ...
    def known(
        self,
        own: int,
        other: int,
        prover_to_move: bool,
        passes: int,
        ko: int,
        past: Sequence[Past],
        *,
        salt: int = 0,
    ) -> int | None: ...
    def seed(
        self,
        own: int,
        other: int,
        prover_to_move: bool,
        passes: int,
        ko: int,
        past: Sequence[Past],
        *,
        value: int,
        salt: int = 0,
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
    def forget_failures(self) -> None: ...
    def clear(self) -> None: ...
