-- Queries of researchers. Nothing here changes anything.

-- name: progress_over_time
-- At most `most` points, evenly chosen; the newest is always among them.
SELECT at, lo, hi, threshold, open_questions, ready, leased, tree_nodes, nodes, wasted_nodes,
       split_nodes, remaining, remaining_factor
FROM (
    SELECT *, row_number() OVER (ORDER BY at DESC) - 1 AS age, count(*) OVER () AS points
    FROM progress WHERE campaign = %(campaign)s
) AS numbered
WHERE age %% greatest(1, (points + %(most)s - 1) / %(most)s) = 0
ORDER BY at

-- name: open_by_ply
-- Questions that somebody works on or could work on, by how far from the root they are.
SELECT ply, count(*) FILTER (WHERE state = 'ready') AS ready,
       count(*) FILTER (WHERE state <> 'ready') AS leased, sum(expected)::float8 AS expected
FROM workunits
WHERE campaign = %(campaign)s AND state IN {open_states}
GROUP BY ply ORDER BY ply

-- name: provenance
-- The results that a node's bounds rest on, the newest first.
SELECT evidence.result, results.workunit, evidence.lo, evidence.hi, results.answer, results.nodes,
       results.seconds, results.received_at, hosts.id AS host, hosts.name AS host_name,
       users.name AS user_name
FROM evidence
JOIN results ON results.lease = evidence.result
JOIN hosts ON hosts.id = results.host
JOIN users ON users.id = hosts.user_id
WHERE evidence.node = %s
ORDER BY evidence.result DESC

-- name: contributors
-- Users of a campaign by the work that was accepted of them.
SELECT users.name, count(DISTINCT told.host) AS hosts, sum(told.results)::bigint AS results,
       sum(told.accepted)::bigint AS accepted, sum(told.refused)::bigint AS refused,
       sum(told.nodes)::bigint AS nodes, sum(told.seconds)::float8 AS seconds,
       max(told.last_at) AS last_at
FROM {contributions_with_those_on_their_way} AS told
JOIN hosts ON hosts.id = told.host
JOIN users ON users.id = hosts.user_id
GROUP BY users.id ORDER BY nodes DESC, users.name LIMIT %(most)s

-- name: contributing_hosts
SELECT hosts.id, hosts.name, users.name AS user_name, hosts.version, hosts.workers,
       sum(told.results)::bigint AS results, sum(told.accepted)::bigint AS accepted,
       sum(told.refused)::bigint AS refused, sum(told.nodes)::bigint AS nodes,
       sum(told.seconds)::float8 AS seconds, hosts.seen_at
FROM {contributions_with_those_on_their_way} AS told
JOIN hosts ON hosts.id = told.host
JOIN users ON users.id = hosts.user_id
GROUP BY hosts.id, users.id ORDER BY nodes DESC, hosts.id LIMIT %(most)s

-- name: find_workunit
SELECT workunits.id, workunits.node, workunits.threshold, workunits.state, workunits.ply,
       workunits.plies_left, workunits.guess, workunits.expected::float8, workunits.node_budget,
       workunits.created_at, nodes.position, histories.history
FROM workunits
JOIN nodes ON nodes.id = workunits.node
LEFT JOIN histories ON histories.node = workunits.node
WHERE workunits.id = %(workunit)s AND workunits.campaign = %(campaign)s

-- name: results_of_workunit
SELECT results.lease, results.workunit, results.answer, results.lo, results.hi, results.state,
       results.nodes, results.seconds, results.late, results.received_at, hosts.id AS host,
       hosts.name AS host_name, users.name AS user_name
FROM results
JOIN hosts ON hosts.id = results.host
JOIN users ON users.id = hosts.user_id
WHERE results.workunit = %(workunit)s ORDER BY results.lease

-- name: newest_results
-- Those that arrived are found by their index, the others are few.
SELECT results.lease, results.workunit, results.answer, results.lo, results.hi, results.state,
       results.nodes, results.seconds, results.late, results.received_at, hosts.id AS host,
       hosts.name AS host_name, users.name AS user_name
FROM (
    (SELECT lease FROM results
     WHERE campaign = %(campaign)s AND (lease < %(before)s OR %(before)s = 0)
       AND state IN ('assimilated', 'retracted', 'invalid', 'quarantined')
     ORDER BY lease DESC LIMIT %(most)s)
    UNION ALL
    SELECT lease FROM results_on_their_way
    WHERE campaign = %(campaign)s AND (lease < %(before)s OR %(before)s = 0)
) AS newest
JOIN results ON results.lease = newest.lease
JOIN hosts ON hosts.id = results.host
JOIN users ON users.id = hosts.user_id
ORDER BY results.lease DESC LIMIT %(most)s

-- name: tree_by_ply
-- The tree by the distance of its nodes from the root. A node may be met at several
-- distances; the least counts. What the rules alone tell is not known. Level by level and not
-- by UNION, which keeps all that it has met in memory, however much that is.
WITH RECURSIVE met (id, ply) AS (
    SELECT %(root)s::bigint, 0
    UNION ALL
    SELECT DISTINCT child, met.ply + 1
    FROM met
    JOIN nodes ON nodes.id = met.id
    CROSS JOIN unnest(nodes.children) AS child
    WHERE met.ply < %(depth)s
), first_met AS (
    SELECT id, min(ply) AS ply FROM met GROUP BY id
)
SELECT first_met.ply, count(*) AS nodes, count(*) FILTER (WHERE children IS NULL) AS frontier,
       count(*) FILTER (WHERE lo = hi) AS proved,
       count(*) FILTER (WHERE lo < hi AND (lo, hi) <> (%(lo)s, %(hi)s)) AS bounded,
       count(*) FILTER (WHERE lo < hi AND (lo, hi) = (%(lo)s, %(hi)s)) AS unknown
FROM first_met JOIN nodes ON nodes.id = first_met.id
GROUP BY first_met.ply ORDER BY first_met.ply

-- name: newest_workunits
-- Looked for only among those numbers where the campaign has some, the newest first.
SELECT found.*, (SELECT count(*) FROM results WHERE results.workunit = found.id) AS results
FROM (
    SELECT each.* FROM workunit_blocks AS block CROSS JOIN LATERAL (
        SELECT id, threshold, state, ply, plies_left, expected::float8, created_at
        FROM workunits
        WHERE id BETWEEN block.last - 255 AND block.last AND campaign = %(campaign)s
          AND (id < %(before)s OR %(before)s = 0)
        ORDER BY id DESC LIMIT %(most)s
    ) AS each
    WHERE block.campaign = %(campaign)s AND (block.last - 255 < %(before)s OR %(before)s = 0)
    ORDER BY block.last DESC, each.id DESC LIMIT %(most)s
) AS found
ORDER BY found.id DESC

-- name: number_of_workunits
SELECT workunits FROM totals WHERE campaign = %(campaign)s

-- name: imported_claims
-- The claims that were imported under a name, what is proved about each, and what it took.
SELECT campaigns.name AS campaign, spec, position_text AS position, claim_lo AS lower,
       claim_hi AS upper, nodes.lo, nodes.hi, totals.nodes, latest.remaining
FROM (
    SELECT id, name, spec, position AS position_text, root, claim_lo, claim_hi FROM campaigns
    WHERE starts_with(name, %(name)s || '/') AND claim_lo IS NOT NULL
    ORDER BY id LIMIT %(most)s OFFSET %(skip)s
) AS campaigns
JOIN nodes ON nodes.id = campaigns.root
JOIN totals ON totals.campaign = campaigns.id
LEFT JOIN LATERAL (
    SELECT remaining FROM progress WHERE campaign = campaigns.id ORDER BY at DESC LIMIT 1
) AS latest ON true
ORDER BY campaigns.id

-- name: size_of_nodes
SELECT count(*), pg_total_relation_size('nodes') FROM nodes
