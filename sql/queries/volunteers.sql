-- What volunteers see and do of their own: hosts, results, teams, consents, signing in, leaving.

-- name: my_account
SELECT users.name, users.role, coalesce(teams.name, '') AS team, users.created_at,
       coalesce(teams.founder = users.id, false) AS founder,
       coalesce(consents.show_hosts, false) AS show_hosts,
       coalesce(consents.export_statistics, false) AS export_statistics,
       users.recovery_digest IS NOT NULL AS recovery_code,
       (SELECT count(*) FROM hosts WHERE user_id = users.id) AS hosts
FROM users LEFT JOIN teams ON teams.id = users.team
LEFT JOIN consents ON consents.user_id = users.id
WHERE users.id = %(user)s

-- name: my_tokens
SELECT purpose, created_at, expires_at FROM tokens
WHERE user_id = %(user)s AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
ORDER BY created_at DESC LIMIT 100

-- name: my_hosts
-- The hosts of a user, those seen last first, or one of them. When a host that gave a bad answer
-- gets work again, and the latest reason of a ban.
SELECT hosts.id, hosts.name, hosts.version, hosts.platform, hosts.cores, hosts.memory_mb,
       hosts.workers, hosts.speed::float8 AS speed, hosts.created_at, hosts.seen_at, hosts.streak,
       hosts.confirmed, hosts.errors, hosts.quota, hosts.banned_at, (
           SELECT reason FROM bans WHERE bans.user_id = hosts.user_id AND bans.lifted_at IS NULL
             AND (bans.host = hosts.id OR bans.host IS NULL) ORDER BY bans.id DESC LIMIT 1
       ) AS ban_reason,
       CASE WHEN error_at + {rest_after_errors} > now()
            THEN error_at + {rest_after_errors} END AS rests_until,
       (SELECT count(*) FROM leases WHERE leases.host = hosts.id AND leases.state = 'open')
           AS in_progress,
       (SELECT coalesce(sum(nodes), 0) FROM credits WHERE credits.host = hosts.id) / 1e6 AS credit,
       (SELECT coalesce(sum(decayed_credit(nodes, day)), 0)
        FROM daily_credits WHERE daily_credits.host = hosts.id
          AND day > (now() AT TIME ZONE 'UTC')::date - 70) / 1e6 AS average_credit
FROM hosts
WHERE hosts.user_id = %(user)s AND (%(host)s::integer IS NULL OR hosts.id = %(host)s)
ORDER BY hosts.seen_at DESC, hosts.id LIMIT %(most)s

-- name: my_results
-- Results of a user's hosts, or of one of them, in certain states; the newest first.
SELECT results.lease, results.host, campaigns.name AS campaign, workunits.threshold,
       results.answer, results.state, results.nodes, results.seconds::float8 AS seconds,
       results.credit / 1e6 AS credit, results.received_at
FROM hosts
CROSS JOIN LATERAL (
    SELECT * FROM (
        -- Each part has an index of its own; only the first has one by host.
        (SELECT * FROM results
         WHERE host = hosts.id AND state NOT IN ('pending', 'valid')
           AND state = ANY(%(states)s::result_state[])
           AND lease > 0 AND (%(before)s = 0 OR lease < %(before)s)
         ORDER BY lease DESC LIMIT %(most)s)
        UNION ALL
        SELECT * FROM results WHERE host = hosts.id AND state = 'pending'
        UNION ALL
        SELECT * FROM results WHERE host = hosts.id AND state = 'valid'
    ) AS found
    WHERE state = ANY(%(states)s::result_state[])
      AND lease > 0 AND (%(before)s = 0 OR lease < %(before)s)
    ORDER BY lease DESC LIMIT %(most)s
) AS results
JOIN workunits ON workunits.id = results.workunit
JOIN campaigns ON campaigns.id = results.campaign
WHERE hosts.user_id = %(user)s AND (%(host)s::integer IS NULL OR hosts.id = %(host)s)
ORDER BY results.lease DESC LIMIT %(most)s

-- name: my_leases
-- Leases of a user's hosts, or of one of them, in certain states; the newest first.
SELECT leases.id AS lease, leases.host, campaigns.name AS campaign, workunits.threshold,
       leases.state, leases.nodes, leases.node_budget, leases.leased_at, leases.deadline
FROM hosts
CROSS JOIN LATERAL (
    SELECT * FROM leases
    WHERE leases.host = hosts.id AND leases.state = 'open' AND %(open)s
      AND (%(before)s = 0 OR leases.id < %(before)s)
    UNION ALL
    SELECT * FROM leases
    WHERE leases.host = hosts.id AND leases.state IN ('expired', 'abandoned') AND NOT %(open)s
      AND (%(before)s = 0 OR leases.id < %(before)s)
      AND NOT EXISTS (SELECT FROM results WHERE results.lease = leases.id)
) AS leases
JOIN workunits ON workunits.id = leases.workunit
JOIN campaigns ON campaigns.id = workunits.campaign
WHERE hosts.user_id = %(user)s AND (%(host)s::integer IS NULL OR hosts.id = %(host)s)
ORDER BY leases.id DESC LIMIT %(most)s

-- name: work_is_ready
SELECT EXISTS (SELECT FROM workunits WHERE state = 'ready' AND quorum = 1)

-- name: set_consents
INSERT INTO consents (user_id, show_hosts, export_statistics)
VALUES (%(user)s, coalesce(%(show_hosts)s, false), coalesce(%(export_statistics)s, false))
ON CONFLICT (user_id) DO UPDATE
SET show_hosts = coalesce(%(show_hosts)s, consents.show_hosts),
    export_statistics = coalesce(%(export_statistics)s, consents.export_statistics),
    changed_at = now()
RETURNING show_hosts, export_statistics

-- name: list_volunteers
-- Those with credit and those of a team, the most credit (or this month's) first, or one of them;
-- credit in millions of nodes, and the average by day, whose half-life is a week.
SELECT users.name, teams.name AS team, users.created_at, coalesce(sums.nodes, 0) / 1e6 AS credit,
       coalesce(sums.this_month, 0) / 1e6 AS month_credit, (
           SELECT coalesce(sum(decayed_credit(nodes, day)), 0)
           FROM daily_credits WHERE daily_credits.user_id = users.id
             AND day > (now() AT TIME ZONE 'UTC')::date - 70
       ) / 1e6 AS average_credit,
       coalesce(sums.results, 0)::bigint AS results,
       (SELECT count(*) FROM hosts WHERE hosts.user_id = users.id) AS hosts
FROM users LEFT JOIN teams ON teams.id = users.team
LEFT JOIN (
    SELECT user_id, sum(nodes) AS nodes, sum(results) AS results, sum(nodes) FILTER (
               WHERE month = date_trunc('month', now() AT TIME ZONE 'UTC')
           ) AS this_month
    FROM credits GROUP BY user_id
) AS sums ON sums.user_id = users.id
WHERE users.deleted_at IS NULL
  AND (%(name)s::text IS NULL AND (sums.nodes > 0 OR %(team)s::text IS NOT NULL)
       OR users.name = %(name)s)
  AND (%(team)s::text IS NULL OR teams.name = %(team)s)
  AND (NOT %(month)s OR sums.this_month > 0)
ORDER BY CASE WHEN %(month)s THEN sums.this_month ELSE sums.nodes END DESC NULLS LAST, users.id
LIMIT %(most)s

-- name: list_teams
-- The teams, those with the most credit first; credit in millions of nodes, this month's, and the
-- average of its members by day, whose half-life is a week.
SELECT teams.name, teams.description, founders.name AS founder, teams.created_at,
       coalesce(sums.nodes, 0) / 1e6 AS credit, coalesce(sums.this_month, 0) / 1e6 AS month_credit,
       (SELECT count(*) FROM users WHERE users.team = teams.id) AS members, (
           SELECT coalesce(sum(decayed_credit(daily_credits.nodes, day)), 0)
           FROM users JOIN daily_credits ON daily_credits.user_id = users.id
           WHERE users.team = teams.id AND day > (now() AT TIME ZONE 'UTC')::date - 70
       ) / 1e6 AS average_credit
FROM teams LEFT JOIN users AS founders ON founders.id = teams.founder
LEFT JOIN (
    SELECT team, sum(nodes) AS nodes, sum(nodes) FILTER (
               WHERE month = date_trunc('month', now() AT TIME ZONE 'UTC')
           ) AS this_month
    FROM credits WHERE team IS NOT NULL GROUP BY team
) AS sums ON sums.team = teams.id
WHERE %(name)s::text IS NULL OR teams.name = %(name)s
ORDER BY credit DESC, teams.id LIMIT %(most)s

-- name: found_team
-- A new team. Nothing comes back when the name is taken, or looks like another one's.
INSERT INTO teams (name, look, description, founder)
SELECT %(name)s, %(look)s, %(description)s, %(user)s
WHERE NOT EXISTS (SELECT FROM teams WHERE look = %(look)s)
ON CONFLICT (name) DO NOTHING
RETURNING id

-- name: find_team
SELECT id, founder FROM teams WHERE name = %(name)s

-- name: team_of
SELECT users.team, teams.name, teams.founder FROM users JOIN teams ON teams.id = users.team
WHERE users.id = %(user)s

-- name: set_founder
UPDATE teams SET founder = %(user)s WHERE id = %(team)s

-- name: enter_team
-- Credit that is granted from now on counts for this team; NULL for none.
UPDATE users SET team = %(team)s, team_since = CASE WHEN %(team)s::integer IS NOT NULL THEN now() END
WHERE id = %(user)s

-- name: pass_on_team
-- Who left is the founder no more: whoever has been in the team longest is, or nobody.
UPDATE teams SET founder = (
    SELECT id FROM users WHERE users.team = teams.id AND users.id <> %(user)s
    ORDER BY team_since NULLS FIRST, id LIMIT 1
)
WHERE founder = %(user)s AND id = %(team)s

-- name: describe_team
UPDATE teams SET description = %(description)s WHERE id = %(team)s AND founder = %(user)s
RETURNING id

-- name: open_sign_in
-- A link to sign in by; those out of date are forgotten.
WITH forgotten AS (DELETE FROM sign_ins WHERE expires_at < now())
INSERT INTO sign_ins (digest, user_id, expires_at)
VALUES (%(digest)s, %(user)s, now() + %(seconds)s * interval '1 second')

-- name: use_sign_in
-- Whose link this is. It works once.
DELETE FROM sign_ins USING users
WHERE sign_ins.digest = %(digest)s AND sign_ins.expires_at > now()
  AND users.id = sign_ins.user_id AND users.deleted_at IS NULL AND users.banned_at IS NULL
RETURNING users.id, users.name, users.role

-- name: add_session
-- A token for a web session. Those of the user that are out of date are forgotten.
WITH forgotten AS (DELETE FROM tokens WHERE user_id = %(user)s AND expires_at < now())
INSERT INTO tokens (digest, user_id, purpose, expires_at)
VALUES (%(digest)s, %(user)s, %(purpose)s, now() + %(seconds)s * interval '1 second')

-- name: end_session
UPDATE tokens SET revoked_at = now()
WHERE digest = %(digest)s AND user_id = %(user)s AND purpose = %(purpose)s AND revoked_at IS NULL
RETURNING purpose

-- name: set_recovery_code
UPDATE users SET recovery_digest = %(digest)s WHERE id = %(user)s

-- name: find_recovery
SELECT id, name, recovery_digest FROM users
WHERE name = %(name)s AND deleted_at IS NULL AND recovery_digest IS NOT NULL

-- name: delete_tokens
DELETE FROM tokens WHERE user_id = %(user)s

-- name: delete_sign_ins
DELETE FROM sign_ins WHERE user_id = %(user)s

-- name: delete_consents
DELETE FROM consents WHERE user_id = %(user)s

-- name: forget_hosts
-- Nothing that people called a host by is left, and no key opens it any more.
UPDATE hosts SET name = '', platform = '', version = '', host_key_digest = gen_random_uuid()
WHERE user_id = %(user)s

-- name: forget_user
-- The row stays, because results and credit refer to it. Its name is free again.
UPDATE users SET name = %(name)s, look = %(look)s, team = NULL, team_since = NULL,
                 recovery_digest = NULL, deleted_at = now()
WHERE id = %(user)s

-- name: credit_of_days
-- The credit of a volunteer by day (UTC), in millions of nodes, days without any left out.
SELECT day, sum(nodes) / 1e6 AS credit, sum(results)::bigint AS results
FROM daily_credits JOIN users ON users.id = daily_credits.user_id
WHERE users.name = %(name)s AND day > (now() AT TIME ZONE 'UTC')::date - %(days)s::integer
GROUP BY day ORDER BY day

-- name: place_of_volunteer
-- How many volunteers have more credit, and how many have some.
WITH sums AS (
    SELECT user_id, sum(nodes) AS nodes FROM credits GROUP BY user_id HAVING sum(nodes) > 0
)
SELECT count(*) FILTER (WHERE nodes > (
           SELECT coalesce(sum(nodes), 0) FROM credits JOIN users ON users.id = credits.user_id
           WHERE users.name = %(name)s
       )), count(*)
FROM sums

-- name: proofs_of_volunteer
-- The campaigns whose value is proved, and how many answers of a volunteer were accepted there.
SELECT campaigns.name AS campaign, sum(contributions.accepted)::bigint AS results,
       campaigns.revision, totals.tree_nodes
FROM users JOIN hosts ON hosts.user_id = users.id
JOIN contributions ON contributions.host = hosts.id AND contributions.accepted > 0
JOIN campaigns ON campaigns.id = contributions.campaign AND campaigns.state = 'finished'
JOIN totals ON totals.campaign = campaigns.id
WHERE users.name = %(name)s
GROUP BY campaigns.id, totals.campaign ORDER BY results DESC, campaigns.id LIMIT %(most)s

-- name: shown_hosts
-- The hosts of a volunteer who lets everybody see them.
SELECT hosts.id, hosts.name, hosts.platform, hosts.cores, hosts.memory_mb, hosts.workers,
       hosts.speed::float8 AS speed, hosts.seen_at,
       (SELECT coalesce(sum(nodes), 0) FROM credits WHERE credits.host = hosts.id) / 1e6 AS credit
FROM users JOIN consents ON consents.user_id = users.id AND consents.show_hosts
JOIN hosts ON hosts.user_id = users.id
WHERE users.name = %(name)s ORDER BY credit DESC, hosts.id LIMIT %(most)s

-- name: exported_users
-- Users who agreed to be in the statistics for other sites.
SELECT users.id, users.name, users.created_at, users.team, (
           SELECT coalesce(sum(nodes), 0) FROM credits WHERE credits.user_id = users.id
       ) / 1e6 AS credit, (
           SELECT coalesce(sum(decayed_credit(nodes, day)), 0)
           FROM daily_credits WHERE daily_credits.user_id = users.id
             AND day > (now() AT TIME ZONE 'UTC')::date - 70
       ) / 1e6 AS average_credit, consents.show_hosts
FROM users JOIN consents ON consents.user_id = users.id AND consents.export_statistics
WHERE users.deleted_at IS NULL ORDER BY users.id

-- name: exported_hosts
-- The hosts of these users; whose they are only where everybody may see that.
SELECT hosts.id, CASE WHEN consents.show_hosts THEN hosts.user_id END AS user_id, hosts.platform,
       hosts.cores, hosts.memory_mb, hosts.created_at, hosts.seen_at, (
           SELECT coalesce(sum(nodes), 0) FROM credits WHERE credits.host = hosts.id
       ) / 1e6 AS credit, (
           SELECT coalesce(sum(decayed_credit(nodes, day)), 0)
           FROM daily_credits WHERE daily_credits.host = hosts.id
             AND day > (now() AT TIME ZONE 'UTC')::date - 70
       ) / 1e6 AS average_credit
FROM consents JOIN users ON users.id = consents.user_id AND users.deleted_at IS NULL
JOIN hosts ON hosts.user_id = users.id
WHERE consents.export_statistics ORDER BY hosts.id

-- name: exported_teams
SELECT teams.id, teams.name, teams.description, teams.created_at,
       CASE WHEN consents.export_statistics THEN teams.founder END AS founder, (
           SELECT coalesce(sum(nodes), 0) FROM credits WHERE credits.team = teams.id
       ) / 1e6 AS credit, (
           SELECT coalesce(sum(decayed_credit(daily_credits.nodes, day)), 0)
           FROM users JOIN daily_credits ON daily_credits.user_id = users.id
           WHERE users.team = teams.id AND day > (now() AT TIME ZONE 'UTC')::date - 70
       ) / 1e6 AS average_credit,
       (SELECT count(*) FROM users WHERE users.team = teams.id) AS members
FROM teams LEFT JOIN consents ON consents.user_id = teams.founder ORDER BY teams.id

-- name: exported_totals
SELECT (SELECT count(*) FROM users WHERE deleted_at IS NULL) AS users,
       (SELECT count(*) FROM teams) AS teams,
       (SELECT count(*) FROM hosts WHERE NOT referee) AS hosts,
       (SELECT coalesce(sum(nodes), 0) FROM credits) / 1e6 AS credit
