-- Credit: granting it, taking it back, summing it.

-- name: grant_credit
-- Credit in nodes, to the hosts, in the team their user is in now.
INSERT INTO credits AS c (host, user_id, team, month, nodes, results)
SELECT hosts.id, hosts.user_id, users.team, date_trunc('month', now() AT TIME ZONE 'UTC')::date,
       granted.nodes, granted.results
FROM unnest(%(hosts)s::integer[], %(nodes)s::float8[], %(results)s::bigint[])
     AS granted (host, nodes, results)
JOIN hosts ON hosts.id = granted.host
JOIN users ON users.id = hosts.user_id
ORDER BY hosts.id
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
)
INSERT INTO credits AS c (host, user_id, team, month, nodes, partial)
SELECT room.host, room.user_id, room.team, %(month)s, sum(granted.nodes), sum(granted.nodes)
FROM granted JOIN worked ON worked.id = granted.lease JOIN room ON room.host = worked.host
GROUP BY room.host, room.user_id, room.team ORDER BY room.host
ON CONFLICT (host, month, team) DO UPDATE
SET nodes = c.nodes + excluded.nodes, partial = c.partial + excluded.partial

-- name: revoke_partial_credit
-- What hosts were granted on their word goes when their word does.
UPDATE credits SET nodes = greatest(0, nodes - partial), partial = 0
WHERE host = ANY(%(hosts)s) AND partial > 0

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
