-- Accounts: users, their tokens and teams.

-- name: lock_looks
-- Until the transaction ends nobody else makes users or teams of these looks. A statement of its
-- own: one that waited itself would not see what was committed meanwhile. In one order, so that
-- no two wait for each other.
SELECT pg_advisory_xact_lock(hashtextextended(look, 0))
FROM (SELECT unnest(%(looks)s::text[]) AS look ORDER BY look) AS sorted

-- name: open_account
-- A new user. Nothing comes back when the name is taken, or looks like another one's.
INSERT INTO users (name, look, team, role)
SELECT %(name)s, %(look)s, %(team)s, %(role)s
WHERE NOT EXISTS (SELECT FROM users WHERE look = %(look)s)
ON CONFLICT (name) DO NOTHING
RETURNING id

-- name: ensure_user
-- The user of this name, made if there is none. The empty update makes the row visible
-- here also when somebody else inserts it at the same moment.
INSERT INTO users (name) VALUES (%(name)s)
ON CONFLICT (name) DO UPDATE SET name = excluded.name
RETURNING id

-- name: ensure_team
-- The team of this name, made if there is none. Nothing comes back when its name looks like that
-- of another team.
WITH made AS (
    INSERT INTO teams (name, look) SELECT %(name)s, %(look)s
    WHERE NOT EXISTS (SELECT FROM teams WHERE look = %(look)s OR name = %(name)s)
    RETURNING id
)
SELECT id FROM made UNION ALL SELECT id FROM teams WHERE name = %(name)s

-- name: add_token
INSERT INTO tokens (digest, user_id) VALUES (%(digest)s, %(user)s)

-- name: find_accounts
-- Whose tokens these are; nothing for those that are unknown or revoked.
SELECT tokens.digest, users.id, users.role, users.name, users.banned_at IS NOT NULL
FROM tokens JOIN users ON users.id = tokens.user_id
WHERE tokens.digest = ANY (%(digests)s::bytea[]) AND tokens.revoked_at IS NULL

-- name: revoke_tokens
UPDATE tokens SET revoked_at = now() WHERE user_id = %(user)s AND revoked_at IS NULL

-- name: set_role
UPDATE users SET role = %(role)s WHERE id = %(user)s

-- name: find_user
SELECT users.id, users.name, users.role, teams.name AS team, users.created_at, users.banned_at,
       (SELECT count(*) FROM tokens WHERE user_id = users.id AND revoked_at IS NULL) AS tokens,
       (SELECT count(*) FROM hosts WHERE user_id = users.id) AS hosts,
       (SELECT coalesce(sum(nodes), 0) FROM credits WHERE user_id = users.id) / 1e6 AS credit
FROM users LEFT JOIN teams ON teams.id = users.team WHERE users.name = %(name)s

-- name: list_users
SELECT users.id, users.name, users.role, teams.name AS team, users.created_at, users.banned_at,
       (SELECT count(*) FROM tokens WHERE user_id = users.id AND revoked_at IS NULL) AS tokens,
       (SELECT count(*) FROM hosts WHERE user_id = users.id) AS hosts,
       (SELECT coalesce(sum(nodes), 0) FROM credits WHERE user_id = users.id) / 1e6 AS credit
FROM users LEFT JOIN teams ON teams.id = users.team
ORDER BY credit DESC, users.id LIMIT %(most)s

-- name: standing
-- What a user has contributed, in millions of nodes, and the place that gives.
WITH sums AS (
    SELECT user_id, sum(nodes) AS nodes FROM credits GROUP BY user_id HAVING sum(nodes) > 0
), mine AS (
    SELECT coalesce((SELECT nodes FROM sums WHERE user_id = %(user)s), 0) AS nodes
)
SELECT users.name, coalesce(teams.name, ''), mine.nodes / 1e6,
       (SELECT coalesce(sum(nodes), 0) FROM credits
        WHERE user_id = %(user)s AND month = date_trunc('month', now() AT TIME ZONE 'UTC')) / 1e6,
       (SELECT coalesce(sum(nodes), 0) FROM credits
        WHERE user_id = %(user)s AND host = %(host)s) / 1e6,
       (SELECT coalesce(sum(nodes), 0) FROM credits WHERE team = users.team) / 1e6,
       CASE WHEN mine.nodes > 0
            THEN (SELECT count(*) + 1 FROM sums WHERE sums.nodes > mine.nodes) ELSE 0 END,
       (SELECT count(*) FROM sums)
FROM users LEFT JOIN teams ON teams.id = users.team CROSS JOIN mine
WHERE users.id = %(user)s

-- name: record_action
INSERT INTO audit (actor, action, subject, detail)
VALUES (%(actor)s, %(action)s, %(subject)s, %(detail)s)

-- name: list_audit
SELECT id, at, actor, action, subject, detail FROM audit
WHERE (%(subject)s::text IS NULL OR subject = %(subject)s) ORDER BY id DESC LIMIT %(most)s
