-- What must never be: each query returns campaign and name of whatever breaks one rule, one of them
-- for several rules.

-- name: check_contradictory_nodes
SELECT nodes.campaign, format('node %s has %s..%s', nodes.id, lo, hi)
FROM nodes JOIN campaigns ON campaigns.id = nodes.campaign
WHERE lo > hi OR lo < -max_score OR hi > max_score

-- name: check_children
-- Which check each expanded node fails: its bounds must be backed up, never looser than the children
-- give; bounds = rules, intersected with the evidence and with what the children give; and the
-- children must be there and know their parent. All in one look at every child, which is what a
-- check of a large tree takes; all children are joined at once, because a look at the index for each
-- of them costs several times as much as soon as the tree is larger than PostgreSQL's memory.
WITH below AS (
    SELECT edge.node, max(-child.hi) AS lo, max(-child.lo) AS hi,
           bool_or(child.campaign IS DISTINCT FROM edge.campaign) AS missing,
           bool_or(child.parent <> edge.node AND edge.node <> ALL(coalesce(child.parents, '{}')))
               AS unknown_to
    FROM (
        SELECT id AS node, campaign, unnest(children) AS child FROM nodes WHERE children <> '{}'
    ) AS edge LEFT JOIN nodes AS child ON child.id = edge.child
    GROUP BY edge.node
), proved AS (
    SELECT node, max(lo) AS lo, min(hi) AS hi FROM evidence GROUP BY node
)
SELECT failed.name, node.campaign, format('node %s has %s..%s', node.id, node.lo, node.hi)
FROM nodes AS node
JOIN below ON below.node = node.id
LEFT JOIN campaigns ON campaigns.id = node.campaign
LEFT JOIN proved ON proved.node = node.id
CROSS JOIN LATERAL (VALUES
    ('check_loose_bounds', node.lo < below.lo OR node.hi > below.hi),
    ('check_unjustified_bounds',
     node.lo <> greatest(-max_score, below.lo, proved.lo)
     OR node.hi <> least(max_score, below.hi, proved.hi)),
    ('check_missing_children', below.missing),
    ('check_unknown_parents', below.unknown_to)
) AS failed (name, failed)
WHERE failed.failed

-- name: check_unjustified_bounds
-- On the frontier: bounds = rules, intersected with the evidence.
WITH proved AS (
    SELECT node, max(lo) AS lo, min(hi) AS hi FROM evidence GROUP BY node
)
SELECT node.campaign, format('node %s has %s..%s', node.id, node.lo, node.hi)
FROM nodes AS node
JOIN campaigns ON campaigns.id = node.campaign
LEFT JOIN proved ON proved.node = node.id
WHERE node.children IS NULL
  AND (node.lo <> greatest(-max_score, proved.lo) OR node.hi <> least(max_score, proved.hi))

-- name: check_evidence
-- Evidence about the workunit's own node says exactly what its result says; that about a node
-- below comes from the bounds that an exhausted result brought along. What is doubted is on its
-- way out of the tree.
SELECT coalesce(results.campaign, 0), format('evidence of result %s on node %s',
                                             evidence.result, evidence.node)
FROM evidence
LEFT JOIN results ON results.lease = evidence.result
LEFT JOIN workunits ON workunits.id = results.workunit
WHERE results.state IS NULL OR results.state NOT IN ('assimilated', 'doubted')
   OR results.agreed_lo > results.lo OR results.agreed_hi < results.hi
   OR CASE WHEN workunits.node = evidence.node
           THEN (evidence.lo, evidence.hi) <> (coalesce(results.agreed_lo, results.lo),
                                               coalesce(results.agreed_hi, results.hi))
           ELSE results.answer <> 'exhausted' OR results.proved IS NULL END

-- name: check_lease_ends
SELECT workunits.campaign, format('lease %s is %s', leases.id, leases.state)
FROM leases LEFT JOIN workunits ON workunits.id = leases.workunit
WHERE workunits.id IS NULL OR (leases.state = 'open') <> (leases.ended_at IS NULL)

-- name: check_returned_leases
SELECT workunits.campaign, format('lease %s', leases.id)
FROM leases JOIN workunits ON workunits.id = leases.workunit
WHERE leases.state = 'returned'
  AND NOT EXISTS (SELECT FROM results WHERE results.lease = leases.id)

-- name: check_results
SELECT results.campaign, format('result %s', results.lease)
FROM results LEFT JOIN leases ON leases.id = results.lease
WHERE leases.id IS NULL OR leases.workunit <> results.workunit OR leases.host <> results.host
   OR leases.state = 'open'

-- name: check_idle_leased
SELECT campaign, format('workunit %s', id) FROM workunits
WHERE state = 'leased'
  AND NOT EXISTS (
      SELECT FROM leases WHERE leases.workunit = workunits.id AND leases.state = 'open'
  )
  AND NOT EXISTS (SELECT FROM holds WHERE workunits.id = ANY (holds.workunits))

-- name: check_lost_returned
-- What is doubted is on its way out of the tree, and its question back to the queue.
SELECT campaign, format('workunit %s', id) FROM workunits
WHERE state = 'returned'
  AND NOT EXISTS (
      SELECT FROM results
      WHERE results.workunit = workunits.id AND results.state IN ('pending', 'valid', 'doubted')
  )

-- name: check_opposed_answers
-- Of two answers that contradict each other at most one is believed.
SELECT one.campaign, format('results %s and %s', one.lease, other.lease)
FROM results AS one JOIN results AS other
  ON other.workunit = one.workunit AND one.answer = 'yes' AND other.answer = 'no'
WHERE one.state = 'assimilated' AND other.state = 'assimilated'

-- name: check_disputes
SELECT campaign, format('workunit %s is %s', id, state) FROM workunits
WHERE disputed AND (state NOT IN {open_states} OR quorum < 2)

-- name: check_wrong_answers
SELECT workunits.campaign, format('workunit %s', workunits.id)
FROM workunits JOIN nodes ON nodes.id = workunits.node
WHERE workunits.state = 'answered'
  AND nodes.lo < workunits.threshold AND nodes.hi >= workunits.threshold

-- name: check_split_frontier
SELECT workunits.campaign, format('workunit %s', workunits.id)
FROM workunits JOIN nodes ON nodes.id = workunits.node
WHERE workunits.state = 'split' AND nodes.children IS NULL

-- name: check_finished_campaigns
SELECT campaigns.id, format('root %s has %s..%s', root, lo, hi)
FROM campaigns JOIN nodes ON nodes.id = campaigns.root
WHERE campaigns.state = 'finished'
  AND CASE WHEN claim_lo IS NOT NULL
           THEN NOT ((lo >= claim_lo AND hi <= claim_hi) OR hi < claim_lo OR lo > claim_hi)
           WHEN goal = 'score' THEN lo <> hi
           ELSE NOT (lo > 0 OR hi < 0 OR (lo = 0 AND hi = 0)) END

-- name: check_open_after_the_end
SELECT campaigns.id, format('workunit %s is %s', workunits.id, workunits.state)
FROM campaigns JOIN workunits ON workunits.campaign = campaigns.id
WHERE campaigns.state IN ('finished', 'cancelled')
  AND workunits.state IN {open_states}

-- name: check_tests
SELECT tests.campaign, format('test %s', tests.threshold)
FROM tests JOIN campaigns ON campaigns.id = tests.campaign
JOIN nodes ON nodes.id = campaigns.root
WHERE answer AND lo < tests.threshold OR NOT answer AND hi >= tests.threshold

-- name: check_totals
SELECT campaign, format('%s tree nodes, counted %s', tree_nodes, counted) FROM (
    SELECT totals.campaign, tree_nodes,
           (SELECT count(*) FROM nodes WHERE nodes.campaign = totals.campaign) AS counted
    FROM totals
) AS trees WHERE tree_nodes <> counted
UNION ALL
SELECT campaign, format('%s workunits, counted %s', workunits, counted) FROM (
    SELECT totals.campaign, workunits,
           (SELECT count(*) FROM workunits WHERE workunits.campaign = totals.campaign) AS counted
    FROM totals
) AS work WHERE workunits <> counted
UNION ALL
SELECT campaign, format('%s withdrawn, counted %s', withdrawn, counted) FROM (
    SELECT totals.campaign, withdrawn, (
        SELECT count(*) FROM workunits
        WHERE workunits.campaign = totals.campaign AND state = 'withdrawn'
    ) AS counted
    FROM totals
) AS ended WHERE withdrawn <> counted
UNION ALL
SELECT campaign, format('%s split, counted %s', splits, counted) FROM (
    SELECT totals.campaign, splits, (
        SELECT count(*) FROM workunits
        WHERE workunits.campaign = totals.campaign AND state = 'split'
    ) AS counted
    FROM totals
) AS split WHERE splits <> counted

-- name: check_contributions
SELECT campaign, format('host %s: %s results, counted %s', host, told.results, counted.results)
FROM (SELECT * FROM contributions WHERE results > 0) AS told
FULL JOIN (
    SELECT campaign, host, count(*) AS results,
           count(*) FILTER (WHERE state = 'assimilated') AS accepted,
           count(*) FILTER (WHERE state IN ('invalid', 'quarantined')) AS refused,
           coalesce(sum(nodes) FILTER (WHERE state = 'assimilated'), 0) AS nodes
    FROM results WHERE state IN ('assimilated', 'retracted', 'invalid', 'quarantined')
    GROUP BY campaign, host
) AS counted USING (campaign, host)
WHERE (told.results, told.accepted, told.refused, told.nodes)
      IS DISTINCT FROM (counted.results, counted.accepted, counted.refused, counted.nodes)

-- name: check_workunit_blocks
SELECT there.campaign, format('workunits %s to %s', there.last - 255, there.last)
FROM (SELECT DISTINCT campaign, id | 255 AS last FROM workunits) AS there
LEFT JOIN workunit_blocks AS block USING (campaign, last)
WHERE block.last IS NULL

-- name: check_paid_again
SELECT campaign, format('result %s', lease) FROM results WHERE credit > former_credit

-- name: check_credit
-- What was granted for the results that there are is in the sums, which also have what was granted
-- in dropped campaigns. Results tell it with the precision of a real.
SELECT 0, format('host %s: %s M nodes, granted %s', host, round((sums.nodes / 1e6)::numeric, 3),
                 round((granted.nodes / 1e6)::numeric, 3))
FROM (SELECT host, sum(credit::float8) AS nodes FROM results GROUP BY host) AS granted
LEFT JOIN (SELECT host, sum(nodes - partial) AS nodes FROM credits GROUP BY host) AS sums USING (host)
WHERE granted.nodes > coalesce(sums.nodes, 0) * 1.0001 + 1

-- name: check_expanded_ids
SELECT id FROM nodes WHERE campaign = %s AND children IS NOT NULL
