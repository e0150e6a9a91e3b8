"""Let two players meet: one looks two plies ahead, one proves its moves with few nodes.

Both get the same random openings, with either side. Needs zermelo[server].
"""

from zermelo.games import open_game
from zermelo.players import open_player

OPENINGS, OPENING_PLIES = 3, 4

game = open_game("reversi:4x6")
opener = open_player("random", game, seed=1)
looking, proving = open_player("depth:2", game), open_player("engine:5000", game)
total = 0

for number in range(1, OPENINGS + 1):
    start = game.initial()
    for _ in range(OPENING_PLIES):
        start = game.play(start, opener.choose(start))
    for first, second in ((looking, proving), (proving, looking)):
        position, to_move, waiting = start, first, second
        while not game.is_final(position):
            position = game.play(position, to_move.choose(position))
            to_move, waiting = waiting, to_move
        # A score is from the view of the side to move.
        score = game.score(position) if to_move is proving else -game.score(position)
        print(f"opening {number}, {first.name} begins: {proving.name} {score:+d}")
        total += score

print(f"total: {proving.name} {total:+d}")
