-- Games that were played.

-- name: insert_game
-- Nothing for a game whose sitting has stored one.
INSERT INTO games_played (spec, position, first, second, moves, final, score, started_at, seconds,
                          person, opponent, device, depth, sitting)
VALUES (%(spec)s, %(position)s, %(first)s, %(second)s, %(moves)s, %(final)s, %(score)s,
        %(started_at)s, %(seconds)s, %(person)s, %(opponent)s, %(device)s, %(depth)s, %(sitting)s)
ON CONFLICT (sitting) DO NOTHING
RETURNING id

-- name: newest_games
SELECT id, spec, position, first, second, moves, final, score, started_at, seconds, person,
       opponent, device, depth, sitting
FROM games_played
WHERE (%(person)s = '' OR %(person)s IN (first, second)) AND %(device)s IN ('', device)
ORDER BY id DESC LIMIT %(most)s

-- name: find_game
SELECT id, spec, position, first, second, moves, final, score, started_at, seconds, person,
       opponent, device, depth, sitting
FROM games_played WHERE id = %s

-- name: game_of_sitting
SELECT id FROM games_played WHERE sitting = %s
