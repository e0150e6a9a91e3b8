-- Putting valid results into the tree.

-- name: valid_results
SELECT results.lease, results.workunit, workunits.node, results.answer, results.lo, results.hi,
       results.nodes, results.seconds,
       results.late OR workunits.state = 'withdrawn' AS wasted,
       CASE WHEN leases.counted THEN leases.nodes ELSE 0 END AS counted_nodes
FROM results
JOIN workunits ON workunits.id = results.workunit
JOIN leases ON leases.id = results.lease
WHERE results.campaign = %(campaign)s AND results.state = 'valid'
ORDER BY results.lease LIMIT %(most)s

-- name: mark_results
UPDATE results SET state = %(state)s WHERE lease = ANY(%(leases)s)

-- name: contradictions
-- How many answers to one workunit the tree excludes.
SELECT count(*) FROM results WHERE workunit = %s AND state = 'quarantined'

-- name: end_workunits
-- A yes or no answers a workunit in whatever state it is, unless it was withdrawn; that it
-- was too hard matters only while nobody else works on it.
WITH answered AS (
    SELECT id, answer FROM unnest(%(ids)s::bigint[], %(answers)s::answer[]) AS a (id, answer)
), locked AS (
    SELECT workunits.id, answered.answer FROM workunits JOIN answered USING (id)
    WHERE (answered.answer <> 'exhausted' AND state IN ('ready', 'leased', 'returned', 'exhausted'))
       OR (answered.answer = 'exhausted' AND state = 'returned')
    ORDER BY workunits.id FOR UPDATE OF workunits
)
UPDATE workunits SET state = CASE
    WHEN locked.answer = 'exhausted' THEN 'exhausted'::workunit_state ELSE 'answered' END
FROM locked WHERE workunits.id = locked.id

-- name: count_results
UPDATE totals SET answered = answered + %(answered)s, nodes = nodes + %(nodes)s,
                  wasted_nodes = wasted_nodes + %(wasted_nodes)s,
                  split_nodes = split_nodes + %(split_nodes)s, seconds = seconds + %(seconds)s
WHERE campaign = %(campaign)s

-- name: count_ended_leases
-- The work of leases that ended without a result is wasted.
WITH ended AS (
    UPDATE leases SET counted = true FROM workunits
    WHERE NOT leases.counted AND leases.state IN ('expired', 'abandoned', 'cancelled')
      AND workunits.id = leases.workunit AND workunits.campaign = %(campaign)s
      AND NOT EXISTS (SELECT FROM results WHERE results.lease = leases.id)
    RETURNING leases.nodes
)
UPDATE totals SET nodes = nodes + (SELECT coalesce(sum(ended.nodes), 0) FROM ended),
                  wasted_nodes = wasted_nodes + (SELECT coalesce(sum(ended.nodes), 0) FROM ended)
WHERE campaign = %(campaign)s
