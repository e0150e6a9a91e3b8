-- Credit: granting it, taking it back, summing it.

-- name: grant_credit
-- Credit in nodes, to the hosts, in the team their user is in now.
WITH granted AS MATERIALIZED (
    SELECT hosts.id, hosts.user_id, users.team, (now() AT TIME ZONE 'UTC')::date AS day,
           told.nodes, told.results
    FROM unnest(%(hosts)s::integer[], %(nodes)s::float8[], %(results)s::bigint[])
         AS told (host, nodes, results)
    JOIN hosts ON hosts.id = told.host
    JOIN users ON users.id = hosts.user_id
), by_day AS (
    INSERT INTO daily_credits AS d (host, day, user_id, nodes, results)
    SELECT id, day, user_id, nodes, results FROM granted ORDER BY id
    ON CONFLICT (host, day, user_id) DO UPDATE
    SET nodes = d.nodes + excluded.nodes, results = d.results + excluded.results
)
INSERT INTO credits AS c (host, user_id, team, month, nodes, results)
SELECT id, user_id, team, date_trunc('month', day)::date, nodes, results FROM granted ORDER BY id
ON CONFLICT (host, month, team) DO UPDATE
SET nodes = c.nodes + excluded.nodes, results = c.results + excluded.results

-- name: grant_partial_credit
-- Credit for leases that ended without a result although their host worked on them: at most
-- the nodes it reported, the budget, and what the host's shown speed makes of the time until
-- its last progress by this clock. Only hosts that are trusted get any, and never more in a
-- month than a share of what they were granted for results.
WITH worked AS (
    SELECT leases.id, leases.host, least(
               leases.nodes, leases.node_budget,
               extract(epoch FROM leases.progress_at - leases.leased_at)
               * hosts.validated_nodes / hosts.validated_seconds
           ) AS nodes
    FROM leases JOIN hosts ON hosts.id = leases.host
    WHERE leases.id = ANY(%(leases)s) AND leases.state IN ('abandoned', 'cancelled')
      AND hosts.streak >= %(trusted_after)s AND hosts.validated_seconds > 0
      AND hosts.banned_at IS NULL
), deserved AS (
    SELECT host, sum(nodes) AS nodes FROM worked GROUP BY host
), room AS MATERIALIZED (
    SELECT deserved.host, hosts.user_id, users.team, deserved.nodes AS deserved, (
               SELECT coalesce(sum(%(share)s * (credits.nodes - credits.partial)
                                   - credits.partial), 0)
               FROM credits WHERE credits.host = deserved.host AND credits.month = %(month)s
           ) AS nodes
    FROM deserved JOIN hosts ON hosts.id = deserved.host JOIN users ON users.id = hosts.user_id
), granted AS (
    INSERT INTO partial_credits (lease, nodes)
    SELECT worked.id, worked.nodes * least(1, room.nodes / room.deserved)
    FROM worked JOIN room ON room.host = worked.host
    WHERE worked.nodes >= 1 AND room.nodes >= 1
    ON CONFLICT (lease) DO NOTHING
    RETURNING lease, nodes
), summed AS MATERIALIZED (
    SELECT room.host, room.user_id, room.team, sum(granted.nodes) AS nodes
    FROM granted JOIN worked ON worked.id = granted.lease JOIN room ON room.host = worked.host
    GROUP BY room.host, room.user_id, room.team
), by_day AS (
    INSERT INTO daily_credits AS d (host, day, user_id, nodes, partial)
    SELECT host, (now() AT TIME ZONE 'UTC')::date, user_id, nodes, nodes FROM summed ORDER BY host
    ON CONFLICT (host, day, user_id) DO UPDATE
    SET nodes = d.nodes + excluded.nodes, partial = d.partial + excluded.partial
)
INSERT INTO credits AS c (host, user_id, team, month, nodes, partial)
SELECT host, user_id, team, %(month)s, nodes, nodes FROM summed ORDER BY host
ON CONFLICT (host, month, team) DO UPDATE
SET nodes = c.nodes + excluded.nodes, partial = c.partial + excluded.partial

-- name: revoke_partial_credit
-- What hosts were granted on their word goes when their word does.
WITH by_day AS (
    UPDATE daily_credits SET nodes = greatest(0, nodes - partial), partial = 0
    WHERE host = ANY(%(hosts)s) AND partial > 0
)
UPDATE credits SET nodes = greatest(0, nodes - partial), partial = 0
WHERE host = ANY(%(hosts)s) AND partial > 0

-- name: revoke_credit
-- Take credit for results back: out of the newest days and months, because a result does not say
-- when it was paid.
WITH sums AS (
    SELECT 'day' AS span, host, day AS began, user_id AS whose, nodes, results FROM daily_credits
    WHERE host = ANY(%(hosts)s)
    UNION ALL
    SELECT 'month', host, month, team, nodes, results FROM credits WHERE host = ANY(%(hosts)s)
), revoked AS MATERIALIZED (
    SELECT span, host, began, whose, greatest(0, credit - newer_nodes) AS nodes,
           greatest(0, count - newer_results)::bigint AS results
    FROM (
        SELECT sums.*, told.credit, told.count, sum(nodes) OVER newest - nodes AS newer_nodes,
               sum(results) OVER newest - results AS newer_results
        FROM sums
        JOIN unnest(%(hosts)s::integer[], %(credits)s::float8[], %(results)s::bigint[])
             AS told (host, credit, count) USING (host)
        WINDOW newest AS (PARTITION BY span, host ORDER BY began DESC, whose)
    ) AS granted
    WHERE credit > newer_nodes OR count > newer_results
), by_day AS (
    UPDATE daily_credits AS d SET nodes = greatest(0, d.nodes - revoked.nodes),
                                  results = greatest(0, d.results - revoked.results)
    FROM revoked
    WHERE span = 'day' AND (d.host, d.day, d.user_id) = (revoked.host, began, whose)
)
UPDATE credits AS c SET nodes = greatest(0, c.nodes - revoked.nodes),
                        results = greatest(0, c.results - revoked.results)
FROM revoked
WHERE span = 'month' AND (c.host, c.month) = (revoked.host, began)
  AND c.team IS NOT DISTINCT FROM whose

-- name: list_credit
-- The sums, in millions of nodes.
SELECT CASE %(by)s
           WHEN 'user' THEN users.name
           WHEN 'host' THEN credits.host::text
           WHEN 'team' THEN coalesce(teams.name, '')
           WHEN 'month' THEN to_char(credits.month, 'YYYY-MM')
       END AS name,
       sum(credits.nodes) / 1e6 AS credit, sum(credits.partial) / 1e6 AS partial,
       sum(credits.results)::bigint AS results
FROM credits JOIN users ON users.id = credits.user_id LEFT JOIN teams ON teams.id = credits.team
GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT %(most)s

-- name: return_partial_credit
-- What hosts were granted on their word before a ban that is lifted, in the present month.
WITH returned AS MATERIALIZED (
    SELECT ban_records.host, hosts.user_id, users.team, (now() AT TIME ZONE 'UTC')::date AS day,
           ban_records.partial AS nodes
    FROM ban_records JOIN hosts ON hosts.id = ban_records.host
    JOIN users ON users.id = hosts.user_id
    WHERE ban_records.ban = %(ban)s AND ban_records.partial > 0
), by_day AS (
    INSERT INTO daily_credits AS d (host, day, user_id, nodes, partial)
    SELECT host, day, user_id, nodes, nodes FROM returned ORDER BY host
    ON CONFLICT (host, day, user_id) DO UPDATE
    SET nodes = d.nodes + excluded.nodes, partial = d.partial + excluded.partial
)
INSERT INTO credits AS c (host, user_id, team, month, nodes, partial)
SELECT host, user_id, team, date_trunc('month', day)::date, nodes, nodes
FROM returned ORDER BY host
ON CONFLICT (host, month, team) DO UPDATE
SET nodes = c.nodes + excluded.nodes, partial = c.partial + excluded.partial
