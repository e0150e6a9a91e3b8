-- Dropping ended campaigns: gone at once, their rows removed a piece at a time.

-- name: ended_campaigns
-- A campaign, or those of a list, with what would go with them.
SELECT campaigns.id, campaigns.name, campaigns.state, totals.tree_nodes, totals.workunits
FROM campaigns JOIN totals ON totals.campaign = campaigns.id
WHERE campaigns.name = %(name)s OR campaigns.list = %(name)s ORDER BY campaigns.id

-- name: forget_campaigns
-- All that names them. Whoever looks for their rows from here on finds no campaign.
WITH ids AS (SELECT unnest(%(campaigns)s::smallint[]) AS id),
noted AS (
    INSERT INTO dropped_campaigns (campaign, name)
    SELECT campaigns.id, campaigns.name FROM campaigns JOIN ids USING (id)
), tests_gone AS (DELETE FROM tests WHERE campaign IN (SELECT id FROM ids)),
progress_gone AS (DELETE FROM progress WHERE campaign IN (SELECT id FROM ids)),
models_gone AS (DELETE FROM cost_models WHERE campaign IN (SELECT id FROM ids)),
alarms_gone AS (DELETE FROM alarms WHERE campaign IN (SELECT id FROM ids)),
changes_gone AS (DELETE FROM node_changes WHERE campaign IN (SELECT id FROM ids)),
contributions_gone AS (DELETE FROM contributions WHERE campaign IN (SELECT id FROM ids)),
blocks_gone AS (DELETE FROM workunit_blocks WHERE campaign IN (SELECT id FROM ids)),
totals_gone AS (DELETE FROM totals WHERE campaign IN (SELECT id FROM ids))
DELETE FROM campaigns WHERE id IN (SELECT id FROM ids)

-- name: next_dropped
-- Those to go on with, which were dropped together, and how many pages the tables have by now.
WITH waiting AS (SELECT * FROM dropped_campaigns FOR UPDATE SKIP LOCKED)
SELECT array_agg(campaign), workunit_pages, node_pages,
       pg_relation_size('workunits') / current_setting('block_size')::int,
       pg_relation_size('nodes') / current_setting('block_size')::int
FROM waiting GROUP BY workunit_pages, node_pages ORDER BY min(campaign) LIMIT 1

-- name: dropped_campaigns
SELECT campaign FROM dropped_campaigns

-- name: remove_workunits
-- Those of dropped campaigns on some pages, with leases, results and what these prove.
WITH gone AS (
    DELETE FROM workunits
    WHERE ctid >= format('(%%s,0)', %(first)s::bigint)::tid
      AND ctid < format('(%%s,0)', %(last)s::bigint)::tid AND campaign = ANY(%(campaigns)s)
    RETURNING id
), leased AS (
    DELETE FROM leases WHERE workunit IN (SELECT id FROM gone) RETURNING id
), results_gone AS (
    DELETE FROM results WHERE workunit IN (SELECT id FROM gone) RETURNING lease
), evidence_gone AS (
    DELETE FROM evidence WHERE result IN (SELECT lease FROM results_gone)
)
DELETE FROM partial_credits WHERE lease IN (SELECT id FROM leased)

-- name: remove_nodes
-- Those of dropped campaigns on some pages. A name that another node had to give way to stays, as
-- a node of no campaign: the search for that other node must not end there.
WITH gone AS (
    SELECT id, EXISTS (SELECT FROM displaced_nodes WHERE held = nodes.id) AS held FROM nodes
    WHERE ctid >= format('(%%s,0)', %(first)s::bigint)::tid
      AND ctid < format('(%%s,0)', %(last)s::bigint)::tid AND campaign = ANY(%(campaigns)s)
), histories_gone AS (
    DELETE FROM histories WHERE node IN (SELECT id FROM gone WHERE NOT held)
), names_gone AS (
    DELETE FROM displaced_nodes WHERE node IN (SELECT id FROM gone WHERE NOT held)
), kept AS (
    UPDATE nodes SET campaign = 0, children = '{}', parents = NULL, parent = id
    WHERE id IN (SELECT id FROM gone WHERE held)
)
DELETE FROM nodes WHERE id IN (SELECT id FROM gone WHERE NOT held)

-- name: note_removed
UPDATE dropped_campaigns SET workunit_pages = %(workunit_pages)s, node_pages = %(node_pages)s
WHERE campaign = ANY(%(campaigns)s)

-- name: end_dropping
-- Services may have counted a result of theirs meanwhile.
WITH contributions_gone AS (DELETE FROM contributions WHERE campaign = ANY(%(campaigns)s))
DELETE FROM dropped_campaigns WHERE campaign = ANY(%(campaigns)s)
