-- Campaigns: creating, steering and describing them.

-- name: insert_campaign
-- Nothing comes back when the name is taken, and no id is used up. After the last id those of
-- campaigns of which nothing is left are given again.
INSERT INTO campaigns (id, name, spec, position, goal, root, max_score, target_seconds,
                       node_budget, replication, quorum, probe_rate, claim_lo, claim_hi,
                       list, share)
OVERRIDING SYSTEM VALUE
SELECT CASE
           WHEN (SELECT coalesce(last_value, 0) < max_value FROM pg_sequences
                 WHERE schemaname = 'public' AND sequencename = 'campaigns_id_seq')
           THEN nextval('public.campaigns_id_seq')
           ELSE (SELECT id FROM generate_series(1, %(last_id)s) AS free (id)
                 WHERE NOT EXISTS (SELECT FROM campaigns WHERE campaigns.id = free.id)
                   AND NOT EXISTS (SELECT FROM dropped_campaigns WHERE campaign = free.id)
                 LIMIT 1)
       END,
       %(name)s, %(spec)s, %(position)s, %(goal)s, 0, %(max_score)s,
       %(target_seconds)s, %(node_budget)s, %(replication)s, %(quorum)s, %(probe_rate)s,
       %(claim_lo)s, %(claim_hi)s, %(list)s, %(share)s
WHERE NOT EXISTS (SELECT FROM campaigns WHERE name = %(name)s)
ON CONFLICT (name) DO NOTHING
RETURNING id

-- name: store_definition
-- The same digest is the same text.
INSERT INTO definitions (digest, text) VALUES (%(digest)s, %(text)s) ON CONFLICT DO NOTHING

-- name: find_definition
SELECT text FROM definitions WHERE digest = %(digest)s

-- name: set_root
UPDATE campaigns SET root = %(root)s WHERE id = %(campaign)s

-- name: insert_totals
INSERT INTO totals (campaign, tree_nodes) VALUES (%(campaign)s, 1)

-- name: find_campaign
SELECT id, name, spec, position, goal, state, root, max_score, threshold, target_seconds,
       node_budget, replication, quorum, created_at, finished_at, claim_lo, claim_hi, list, share
FROM campaigns WHERE name = %s

-- name: finished_campaign
-- The first campaign that solved a game from its start; those that only check a claim do not.
SELECT name FROM campaigns
WHERE spec = %s AND state = 'finished' AND position IS NULL AND claim_lo IS NULL
ORDER BY id LIMIT 1

-- name: list_campaigns
SELECT id, name, spec, position, goal, state, root, max_score, threshold, target_seconds,
       node_budget, replication, quorum, created_at, finished_at, claim_lo, claim_hi, list, share
FROM campaigns ORDER BY id

-- name: running_campaigns
SELECT id, name, spec, position, goal, state, root, max_score, threshold, target_seconds,
       node_budget, replication, quorum, created_at, finished_at, claim_lo, claim_hi, list, share
FROM campaigns WHERE state = 'running' ORDER BY id

-- name: waiting_campaigns
-- Those with valid or doubted results, with refused ones that are not counted, or with leases that
-- ended without a result and are not counted. What waits is looked for, not every campaign.
SELECT id, name, spec, position, goal, state, root, max_score, threshold, target_seconds,
       node_budget, replication, quorum, created_at, finished_at, claim_lo, claim_hi, list, share
FROM campaigns
WHERE id IN (
    SELECT campaign FROM results WHERE state IN ('valid', 'doubted')
    UNION
    SELECT campaign FROM results WHERE NOT counted AND state IN ('invalid', 'retracted')
    UNION
    SELECT workunits.campaign FROM leases JOIN workunits ON workunits.id = leases.workunit
    WHERE NOT leases.counted AND leases.state IN ('expired', 'abandoned', 'cancelled')
      AND NOT EXISTS (SELECT FROM results WHERE results.lease = leases.id)
)
ORDER BY id

-- name: running_shares
-- How clients are to be shared between the running campaigns, what was searched for each, and
-- whether bounds of it changed or workunits of it wait to be split.
SELECT campaigns.id, coalesce(nullif(campaigns.list, ''), campaigns.name), campaigns.share,
       totals.nodes, campaigns.target_seconds,
       EXISTS (SELECT FROM node_changes WHERE node_changes.campaign = campaigns.id) OR EXISTS (
           SELECT FROM workunits
           WHERE workunits.campaign = campaigns.id AND workunits.state = 'exhausted'
       )
FROM campaigns JOIN totals ON totals.campaign = campaigns.id
WHERE campaigns.state = 'running'

-- name: load_campaigns
SELECT id, name, spec, position, goal, state, root, max_score, threshold, target_seconds,
       node_budget, replication, quorum, created_at, finished_at, claim_lo, claim_hi, list, share
FROM campaigns WHERE id = ANY(%s) AND state = 'running' ORDER BY id

-- name: set_share
-- Of a campaign, or of all of a list.
UPDATE campaigns SET share = %(share)s WHERE name = %(name)s OR list = %(name)s RETURNING id

-- name: steer_campaign
-- Pause, resume or cancel, unless the campaign has ended already.
UPDATE campaigns SET state = %(state)s
WHERE id = %(campaign)s AND state IN ('running', 'paused')
RETURNING id

-- name: hold_campaign
-- From here on nobody reopens a question of it.
SELECT FROM campaigns WHERE id = %s FOR NO KEY UPDATE

-- name: withdraw_campaign
-- A campaign that ends needs no answer any more.
WITH unneeded AS (
    SELECT id FROM workunits
    WHERE campaign = %(campaign)s AND state IN {open_states}
    ORDER BY id FOR UPDATE
), withdrawn AS (
    UPDATE workunits SET state = 'withdrawn', disputed = false
    FROM unneeded WHERE workunits.id = unneeded.id
    RETURNING workunits.id
)
UPDATE totals SET withdrawn = withdrawn + (SELECT count(*) FROM withdrawn)
WHERE campaign = %(campaign)s

-- name: finish_campaign
UPDATE campaigns SET state = 'finished', finished_at = now(), threshold = NULL
WHERE id = %s AND state = 'running'

-- name: start_test
WITH started AS (
    INSERT INTO tests (campaign, threshold) VALUES (%(campaign)s, %(threshold)s)
    ON CONFLICT (campaign, threshold) DO NOTHING
)
UPDATE campaigns SET threshold = %(threshold)s WHERE id = %(campaign)s

-- name: end_tests
-- The tests that the bounds of the root answer.
UPDATE tests SET ended_at = now(), answer = %(lo)s >= threshold
WHERE campaign = %(campaign)s AND answer IS NULL AND (%(lo)s >= threshold OR %(hi)s < threshold)

-- name: count_tree_nodes
UPDATE totals SET tree_nodes = tree_nodes + %s WHERE campaign = %s

-- name: campaign_totals
SELECT tree_nodes, workunits, answered, splits, withdrawn, nodes, wasted_nodes, split_nodes,
       seconds
FROM totals WHERE campaign = %s

-- name: queue_counts
-- How many open workunits a campaign has in each state.
SELECT count(*) FILTER (WHERE state = 'ready') AS ready,
       count(*) FILTER (WHERE state = 'leased') AS leased,
       count(*) FILTER (WHERE state = 'returned') AS returned
FROM workunits
WHERE campaign = %s AND state IN {open_states}

-- name: campaign_standings
-- Where campaigns stand, or one of them. Open workunits are counted in one pass: they have no
-- index by campaign. Every workunit is in one of the counts: what is neither open nor split nor
-- withdrawn is answered; what waits to be split counts as returned.
SELECT chosen.name, chosen.spec, chosen.goal, chosen.state, chosen.threshold, nodes.lo, nodes.hi,
       totals.tree_nodes, totals.workunits,
       greatest(0, totals.workunits - totals.splits - totals.withdrawn - coalesce(queue.open, 0)),
       totals.splits, totals.withdrawn,
       coalesce(queue.ready, 0), coalesce(queue.leased, 0), coalesce(queue.returned, 0),
       totals.nodes, totals.wasted_nodes, totals.split_nodes, totals.seconds,
       coalesce(latest.open_questions, 0), latest.remaining, latest.remaining_factor,
       coalesce(raised.alarms, 0),
       extract(epoch FROM coalesce(chosen.finished_at, clock_timestamp()) - chosen.created_at)::float8
FROM (
    SELECT * FROM campaigns WHERE %(campaign)s::smallint IS NULL OR id = %(campaign)s
    ORDER BY id LIMIT %(most)s OFFSET %(skip)s
) AS chosen
JOIN totals ON totals.campaign = chosen.id
JOIN nodes ON nodes.id = chosen.root
LEFT JOIN (
    SELECT campaign, count(*) AS open, count(*) FILTER (WHERE state = 'ready') AS ready,
           count(*) FILTER (WHERE state = 'leased') AS leased,
           count(*) FILTER (WHERE state IN ('returned', 'exhausted')) AS returned
    FROM workunits
    WHERE state IN {open_states}
      AND (%(campaign)s::smallint IS NULL OR campaign = %(campaign)s)
    GROUP BY campaign
) AS queue ON queue.campaign = chosen.id
LEFT JOIN LATERAL (
    SELECT open_questions, remaining, remaining_factor
    FROM progress WHERE campaign = chosen.id ORDER BY at DESC LIMIT 1
) AS latest ON true
LEFT JOIN (
    SELECT campaign, count(*) AS alarms FROM alarms WHERE settled_at IS NULL GROUP BY campaign
) AS raised ON raised.campaign = chosen.id
ORDER BY chosen.id

-- name: record_progress
INSERT INTO progress (campaign, lo, hi, threshold, open_questions, ready, leased, tree_nodes,
                      nodes, wasted_nodes, split_nodes, remaining, remaining_factor)
SELECT %(campaign)s, %(lo)s, %(hi)s, %(threshold)s, %(open_questions)s, %(ready)s, %(leased)s,
       tree_nodes, nodes, wasted_nodes, split_nodes, %(remaining)s, %(remaining_factor)s
FROM totals WHERE campaign = %(campaign)s
ON CONFLICT (campaign, at) DO NOTHING

-- name: raise_alarm
INSERT INTO alarms (campaign, kind, node, result, detail)
VALUES (%(campaign)s, %(kind)s, %(node)s, %(result)s, %(detail)s)

-- name: open_disputes
-- Contradictions between answers that are still to be decided.
SELECT count(*) FROM workunits
WHERE campaign = %s AND disputed AND state IN {open_states}
