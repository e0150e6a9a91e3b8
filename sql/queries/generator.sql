-- What the generator reads and writes, a batch at a time.

-- name: take_changes
-- Nodes whose bounds changed since the last time, with their bounds as they are now.
WITH taken AS (DELETE FROM node_changes WHERE campaign = %s RETURNING node)
SELECT id, lo, hi FROM nodes WHERE id IN (SELECT node FROM taken)

-- name: open_workunits
-- For a generator that starts: the questions that are being worked on.
SELECT node, threshold, state FROM workunits
WHERE campaign = %s AND state IN {open_states}

-- name: above_open_workunits
-- The expanded nodes from which open workunits can be reached, those of split questions included.
WITH RECURSIVE above AS (
    SELECT node FROM workunits WHERE campaign = %s AND state IN {open_states}
    UNION
    SELECT edge.parent FROM above JOIN nodes ON nodes.id = above.node
    CROSS JOIN LATERAL unnest(nodes.parents || nodes.parent) AS edge (parent)
)
SELECT nodes.id FROM above JOIN nodes ON nodes.id = above.node
WHERE nodes.children IS NOT NULL

-- name: exhausted_workunits
-- Workunits to be split, and the nodes spent on them in vain.
SELECT id, node, threshold, (
    SELECT coalesce(max(nodes), 0) FROM results
    WHERE results.workunit = workunits.id AND results.answer = 'exhausted'
)
FROM workunits
WHERE campaign = %s AND state = 'exhausted' ORDER BY id FOR UPDATE

-- name: end_exhausted
WITH ended AS (
    UPDATE workunits SET state = ended.state
    FROM unnest(%(ids)s::bigint[], %(states)s::workunit_state[]) AS ended (id, state)
    WHERE workunits.id = ended.id
    RETURNING workunits.state
)
UPDATE totals
SET splits = splits + (SELECT count(*) FROM ended WHERE state = 'split'),
    withdrawn = withdrawn + (SELECT count(*) FROM ended WHERE state = 'withdrawn')
WHERE campaign = %(campaign)s

-- name: proved_below
-- What exhausted searches of these nodes had settled below them. Each half has an index of its own;
-- those that were answered after all are in neither, because all the others would be, too.
SELECT asked.node, asked.threshold, results.lease, results.proved
FROM (
    SELECT id, node, threshold FROM workunits
    WHERE node = ANY(%(nodes)s::bigint[]) AND state IN {open_states}
    UNION ALL
    SELECT id, node, threshold FROM workunits
    WHERE node = ANY(%(nodes)s::bigint[]) AND state IN {given_up_states}
) AS asked
JOIN results ON results.workunit = asked.id
WHERE results.state = 'assimilated' AND results.answer = 'exhausted' AND results.proved IS NOT NULL
ORDER BY results.lease

-- name: withdraw_workunits
-- Nobody needs these questions any more. Those that have a result already are left to it.
WITH unneeded AS (
    SELECT workunits.id FROM workunits
    JOIN unnest(%(nodes)s::bigint[], %(thresholds)s::smallint[]) AS question (node, threshold)
      ON workunits.node = question.node AND workunits.threshold = question.threshold
    WHERE workunits.state IN ('ready', 'leased') AND NOT workunits.disputed
    ORDER BY workunits.id FOR UPDATE OF workunits
), withdrawn AS (
    UPDATE workunits SET state = 'withdrawn' FROM unneeded WHERE workunits.id = unneeded.id
    RETURNING workunits.id
)
UPDATE totals SET withdrawn = withdrawn + (SELECT count(*) FROM withdrawn)
WHERE campaign = %(campaign)s

-- name: insert_workunits
-- A question that is being asked already, because its answers are disputed, is left at that. The
-- totals are locked before the trigger notes the blocks, as in `ask_restated`.
WITH asked AS (
    INSERT INTO workunits (campaign, node, threshold, node_budget, priority, expected, guess,
                           plies_left, ply, effort_yes, effort_no, stakes, known, known_from)
    SELECT %(campaign)s, node, threshold, %(node_budget)s, priority, expected, guess, plies_left,
           ply, effort_yes, effort_no, stakes, known,
           CASE WHEN known_from IS NOT NULL THEN ARRAY[known_from] END
    FROM unnest(
        %(nodes)s::bigint[], %(thresholds)s::smallint[], %(priorities)s::real[],
        %(expected)s::real[], %(guesses)s::smallint[], %(plies_left)s::smallint[],
        %(plies)s::smallint[], %(efforts_yes)s::real[], %(efforts_no)s::real[],
        %(stakes)s::real[], %(known)s::bytea[], %(known_from)s::bigint[]
    ) AS question (node, threshold, priority, expected, guess, plies_left, ply, effort_yes,
                   effort_no, stakes, known, known_from)
    ON CONFLICT (node, threshold) WHERE state IN {open_states} DO NOTHING
    RETURNING least(expected, node_budget)::float8 AS expected
)
UPDATE totals SET workunits = workunits + counted.asked,
                  expected_nodes = expected_nodes + counted.expected
FROM (SELECT count(*) AS asked, coalesce(sum(expected), 0) AS expected FROM asked) AS counted
WHERE campaign = %(campaign)s

-- name: live_hosts
-- How many workunits can be worked on at once, and how fast a worker is on average. Where answers
-- are compared a host counts with no more workers than its user's quota: what it says of itself
-- would cut workunits to dust.
SELECT coalesce(sum(workers), 0), coalesce(sum(speed * workers) / nullif(sum(workers), 0), 0)
FROM (
    SELECT h.speed, CASE WHEN r.compared THEN least(h.workers, u.quota) ELSE h.workers END
           AS workers
    FROM hosts h
    JOIN users u ON u.id = h.user_id
    CROSS JOIN (
        SELECT bool_or(replication <> 'none') IS TRUE AS compared
        FROM campaigns WHERE state = 'running'
    ) AS r
    WHERE h.seen_at > now() - %s * interval '1 second' AND NOT h.referee
) AS live

-- name: cost_samples
-- The latest results, for the cost model.
SELECT workunits.plies_left, workunits.guess - workunits.threshold, workunits.effort_yes,
       workunits.effort_no, results.nodes, results.answer
FROM results JOIN workunits ON workunits.id = results.workunit
WHERE results.campaign = %(campaign)s AND results.state = 'assimilated'
  AND workunits.effort_yes IS NOT NULL
ORDER BY results.lease DESC LIMIT %(most)s

-- name: store_cost_model
INSERT INTO cost_models (campaign, samples, parameters)
VALUES (%(campaign)s, %(samples)s, %(parameters)s)
ON CONFLICT (campaign, fitted_at) DO NOTHING

-- name: latest_cost_model
-- Models of former versions had other parameters; they are fitted anew.
SELECT parameters, samples FROM cost_models
WHERE campaign = %(campaign)s AND cardinality(parameters) = %(parameters)s
ORDER BY fitted_at DESC LIMIT 1

-- name: forget_proved
-- What exhausted searches brought along contradicts the tree: split without it.
UPDATE results SET proved = NULL FROM workunits
WHERE workunits.campaign = %s AND workunits.state = 'exhausted'
  AND results.workunit = workunits.id AND results.proved IS NOT NULL
