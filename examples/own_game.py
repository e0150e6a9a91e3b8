"""A game of one's own: the subtraction game, solved by the portable engine.

A heap of counters; a move takes 1 to 3 of them; whoever cannot move has lost. To make a game known
to the command line and to campaigns it is registered: docs/adding-a-game.md.
"""

from zermelo.engine import open_engine
from zermelo.games import KEY_BYTES, Game, GameError, Key, Move, Score
from zermelo.games.picture import Picture, Point, Surface

Heap = int


class Subtraction(Game[Heap]):
    name = "subtraction"
    max_score = 1

    def __init__(self, counters: int, most: int) -> None:
        self.counters, self.most = counters, most
        self.spec = self.short_spec = f"subtraction:{counters},most={most}"

    def initial(self) -> Heap:
        return self.counters

    def moves(self, position: Heap) -> list[Move]:
        return list(range(1, min(position, self.most) + 1))

    def play(self, position: Heap, move: Move) -> Heap:
        if move not in self.moves(position):
            raise GameError(f"{move} cannot be taken from {position}")
        return position - move

    def score(self, position: Heap) -> Score:
        return -1  # the side to move has no counter to take

    def evaluate(self, position: Heap) -> Score:
        return 0

    def plies_left(self, position: Heap) -> int:
        return position

    def encode(self, position: Heap) -> Key:
        return position.to_bytes(KEY_BYTES, "big")

    def decode(self, key: Key, history: bytes = b"") -> Heap:
        return int.from_bytes(key, "big")

    def symmetries(self, position: Heap) -> list[Heap]:
        return [position]

    def parse(self, text: str) -> Heap:
        return int(text)

    def format(self, position: Heap) -> str:
        return str(position)

    def picture(self, position: Heap) -> Picture:
        return Picture(Surface.HEAPS, (Point("the heap", 0, 0, count=position),))

    def side_to_move(self, position: Heap) -> str:
        return "the side to move"

    def move_name(self, move: Move) -> str:
        return f"take {move}"


for counters in range(1, 13):
    game = Subtraction(counters, most=3)
    report = open_engine(game).solve(game.initial())
    wins = report.bounds.lo > 0
    if wins != (counters % 4 != 0):
        raise SystemExit(f"{counters}: theory says otherwise")
    plan = f"wins: {game.move_name(report.move)}" if wins and report.move else "loses"
    print(f"{game.draw(counters):9} {plan}")
