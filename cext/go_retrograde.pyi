class Retrograde:
    boards: int
    legal: int
    sweeps: int
    def __init__(
        self, rows: int, cols: int, *, ko_rule: bool = True, bottom: int = 0
    ) -> None: ...
    def all_boards(self) -> list[tuple[int, int]]: ...
    def floor(
        self, black: int, white: int, black_to_move: bool, passes: int = 0, ko: int = -1
    ) -> int: ...
