-- Games that were played.

-- name: insert_game
INSERT INTO games_played (spec, position, first, second, moves, final, score, started_at, seconds)
VALUES (%(spec)s, %(position)s, %(first)s, %(second)s, %(moves)s, %(final)s, %(score)s,
        %(started_at)s, %(seconds)s)
RETURNING id

-- name: newest_games
SELECT id, spec, position, first, second, moves, final, score, started_at, seconds
FROM games_played ORDER BY id DESC LIMIT %s

-- name: find_game
SELECT id, spec, position, first, second, moves, final, score, started_at, seconds
FROM games_played WHERE id = %s
