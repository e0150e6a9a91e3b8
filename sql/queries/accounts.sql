-- Accounts: users, their tokens and teams.

-- name: lock_looks
-- Until the transaction ends nobody else makes users or teams of these looks. A statement of its
-- own: one that waited itself would not see what was committed meanwhile. In one order, so that
-- no two wait for each other.
SELECT pg_advisory_xact_lock(hashtextextended(look, 0))
FROM (SELECT unnest(%(looks)s::text[]) AS look ORDER BY look) AS sorted

-- name: open_account
-- A new user. Nothing comes back when the name is taken, or looks like another one's.
INSERT INTO users (name, look, team, role, team_since)
SELECT %(name)s, %(look)s, %(team)s, %(role)s,
       CASE WHEN %(team)s::integer IS NOT NULL THEN now() END
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
-- The team of this name, made if there is none, and whether it is new. Nothing comes back when its
-- name looks like that of another team.
WITH made AS (
    INSERT INTO teams (name, look) SELECT %(name)s, %(look)s
    WHERE NOT EXISTS (SELECT FROM teams WHERE look = %(look)s OR name = %(name)s)
    RETURNING id
)
SELECT id, true FROM made UNION ALL SELECT id, false FROM teams WHERE name = %(name)s

-- name: add_token
INSERT INTO tokens (digest, user_id) VALUES (%(digest)s, %(user)s)

-- name: find_accounts
-- Whose tokens these are; nothing for those that are unknown, revoked or out of date.
SELECT tokens.digest, users.id, users.role, users.name, users.banned_at IS NOT NULL,
       CASE WHEN users.banned_at IS NULL THEN '' ELSE coalesce((
           SELECT reason FROM bans
           WHERE user_id = users.id AND host IS NULL AND lifted_at IS NULL
           ORDER BY id DESC LIMIT 1
       ), '') END
FROM tokens JOIN users ON users.id = tokens.user_id
WHERE tokens.digest = ANY (%(digests)s::bytea[]) AND tokens.revoked_at IS NULL
  AND (tokens.expires_at IS NULL OR tokens.expires_at > now())

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
-- What a user has contributed, in millions of nodes, and what the project tells volunteers.
SELECT users.name, coalesce(teams.name, ''), coalesce(mine.nodes, 0) / 1e6,
       coalesce(mine.this_month, 0) / 1e6, coalesce(mine.of_host, 0) / 1e6,
       (SELECT coalesce(sum(nodes), 0) FROM credits WHERE team = users.team) / 1e6, project.notice
FROM users LEFT JOIN teams ON teams.id = users.team CROSS JOIN project
CROSS JOIN LATERAL (
    SELECT sum(nodes) AS nodes,
           sum(nodes) FILTER (
               WHERE month = date_trunc('month', now() AT TIME ZONE 'UTC')
           ) AS this_month,
           sum(nodes) FILTER (WHERE host = %(host)s) AS of_host
    FROM credits WHERE user_id = users.id
) AS mine
WHERE users.id = %(user)s

-- name: credit_of_users
-- The sums of all users with credit, in millions of nodes: what places are given by.
SELECT sum(nodes) / 1e6 AS credit FROM credits
GROUP BY user_id HAVING sum(nodes) > 0 ORDER BY credit

-- name: record_action
INSERT INTO audit (actor, action, subject, detail)
VALUES (%(actor)s, %(action)s, %(subject)s, %(detail)s)

-- name: list_audit
SELECT id, at, actor, action, subject, detail FROM audit
WHERE (%(subject)s::text IS NULL OR subject = %(subject)s) ORDER BY id DESC LIMIT %(most)s
