-- The tree: inserting nodes, tightening bounds, backing them up.

-- name: lock_tree
-- One transaction at a time writes the tree of a campaign.
SELECT pg_advisory_xact_lock(1, %s)

-- name: insert_root
INSERT INTO nodes (id, parent, position, campaign, lo, hi, children)
VALUES (%(id)s, %(id)s, %(position)s, %(campaign)s, %(lo)s, %(hi)s, %(children)s)
ON CONFLICT (id) DO NOTHING

-- name: insert_children
-- Children of nodes being expanded. One that is there already (a transposition) gets
-- further parents. The caller has found out that no other position holds these ids.
WITH further AS (
    SELECT id, array_agg(parent) AS parents
    FROM unnest(%(further_ids)s::bigint[], %(further_parents)s::bigint[]) AS f (id, parent)
    GROUP BY id
)
INSERT INTO nodes (id, parent, position, campaign, lo, hi, children, parents)
SELECT child.id, child.parent, child.position, %(campaign)s, child.lo, child.hi,
       CASE WHEN child.final THEN '{}'::bigint[] END, further.parents
FROM unnest(
    %(ids)s::bigint[], %(parents)s::bigint[], %(positions)s::uuid[],
    %(lo)s::smallint[], %(hi)s::smallint[], %(final)s::boolean[]
) AS child (id, parent, position, lo, hi, final)
LEFT JOIN further ON further.id = child.id
ON CONFLICT (id) DO UPDATE SET parents = array_cat(
    array_append(nodes.parents, excluded.parent), excluded.parents
)
RETURNING id, lo, hi, children, (xmax = 0) AS inserted

-- name: named_nodes
-- What these ids stand for, whichever campaign it is of.
SELECT nodes.campaign, nodes.id, uuid_send(nodes.position), histories.history, nodes.lo, nodes.hi,
       nodes.children
FROM nodes LEFT JOIN histories ON histories.node = nodes.id
WHERE nodes.id = ANY(%s::bigint[])

-- name: held_names
-- Which of these ids are names.
SELECT id FROM nodes WHERE id = ANY(%s::bigint[])

-- name: insert_displaced
-- Nodes whose first names others hold.
INSERT INTO displaced_nodes (node, held)
SELECT * FROM unnest(%(nodes)s::bigint[], %(held)s::bigint[]) ON CONFLICT DO NOTHING

-- name: insert_histories
INSERT INTO histories (node, history)
SELECT * FROM unnest(%(ids)s::bigint[], %(histories)s::bytea[])
ON CONFLICT (node) DO NOTHING

-- name: set_children
-- The expanded nodes leave the frontier.
WITH expanded AS (
    SELECT parent, array_agg(child) AS children
    FROM unnest(%(parents)s::bigint[], %(children)s::bigint[]) AS edge (parent, child)
    GROUP BY parent
)
UPDATE nodes SET children = expanded.children FROM expanded
WHERE nodes.id = expanded.parent AND nodes.children IS NULL

-- name: load_nodes
SELECT nodes.id, uuid_send(nodes.position), histories.history, nodes.lo, nodes.hi, nodes.children
FROM nodes LEFT JOIN histories ON histories.node = nodes.id
WHERE nodes.id = ANY(%s::bigint[])

-- name: apply_evidence
-- Tighten the bounds of nodes by what results prove about them. Rows that would become
-- contradictory are left alone and come back marked.
WITH proved AS (
    SELECT node, max(lo) AS lo, min(hi) AS hi
    FROM unnest(%(nodes)s::bigint[], %(lo)s::smallint[], %(hi)s::smallint[]) AS c (node, lo, hi)
    GROUP BY node
), tightened AS (
    SELECT nodes.id, greatest(nodes.lo, proved.lo) AS lo, least(nodes.hi, proved.hi) AS hi
    FROM proved JOIN nodes ON nodes.id = proved.node
), changed AS (
    UPDATE nodes SET lo = tightened.lo, hi = tightened.hi FROM tightened
    WHERE nodes.id = tightened.id AND tightened.lo <= tightened.hi
      AND (nodes.lo <> tightened.lo OR nodes.hi <> tightened.hi)
    RETURNING nodes.id, nodes.parent, nodes.parents
)
SELECT id, parent, parents, false AS contradictory FROM changed
UNION ALL
SELECT id, NULL, NULL, true FROM tightened WHERE lo > hi

-- name: back_up_nodes
-- Recompute expanded nodes from their children: lo = max(-hi(child)), hi = max(-lo(child)),
-- intersected with what is known already. Returned as by apply_evidence.
WITH derived AS (
    SELECT node.id, greatest(node.lo, max(-child.hi)) AS lo, least(node.hi, max(-child.lo)) AS hi
    FROM nodes AS node
    CROSS JOIN LATERAL unnest(node.children) AS edge (child)
    JOIN nodes AS child ON child.id = edge.child
    WHERE node.id = ANY(%(ids)s::bigint[])
    GROUP BY node.id
), changed AS (
    UPDATE nodes SET lo = derived.lo, hi = derived.hi FROM derived
    WHERE nodes.id = derived.id AND derived.lo <= derived.hi
      AND (nodes.lo <> derived.lo OR nodes.hi <> derived.hi)
    RETURNING nodes.id, nodes.parent, nodes.parents
)
SELECT id, parent, parents, false AS contradictory FROM changed
UNION ALL
SELECT id, NULL, NULL, true FROM derived WHERE lo > hi

-- name: insert_evidence
INSERT INTO evidence (node, result, lo, hi)
SELECT * FROM unnest(
    %(nodes)s::bigint[], %(results)s::bigint[], %(lo)s::smallint[], %(hi)s::smallint[]
)
ON CONFLICT (node, result) DO NOTHING

-- name: publish_changes
-- Tell the generator which nodes have new bounds.
INSERT INTO node_changes (node, campaign) SELECT unnest(%(nodes)s::bigint[]), %(campaign)s

-- name: notify
SELECT pg_notify(%s, %s)

-- name: remove_lonely_root
-- The root of a tree that consists of nothing else, to be written again with children.
DELETE FROM nodes WHERE id = %(root)s AND children IS NULL
  AND NOT EXISTS (SELECT FROM workunits WHERE campaign = %(campaign)s)

-- name: copy_nodes
COPY nodes (id, parent, position, campaign, lo, hi, children, parents) FROM STDIN (FORMAT BINARY)
