-- Taking out of the tree what rests on answers that are no longer believed.

-- name: doubted_results
SELECT lease FROM results WHERE campaign = %s AND state = 'doubted' ORDER BY lease

-- name: resting_on
-- The answers that were found with the help of bounds which these results prove.
SELECT results.lease FROM workunits JOIN results ON results.workunit = workunits.id
WHERE workunits.known_from && %(results)s::bigint[] AND workunits.campaign = %(campaign)s
  AND results.state IN ('pending', 'unconfirmed', 'valid', 'assimilated')
  AND results.lease <> ALL(%(results)s::bigint[])

-- name: retract_results
UPDATE results SET state = %(state)s, agreed_lo = NULL, agreed_hi = NULL
WHERE lease = ANY(%(results)s) RETURNING answer::text

-- name: remove_evidence
-- The nodes that lose evidence come back.
WITH removed AS (DELETE FROM evidence WHERE result = ANY(%s) RETURNING node)
SELECT DISTINCT node FROM removed

-- name: recompute_nodes
-- Bounds from the rules, the remaining evidence and the children: looser ones, too.
WITH fresh AS (
    SELECT node.id, greatest(-campaigns.max_score, below.lo, proved.lo) AS lo,
           least(campaigns.max_score, below.hi, proved.hi) AS hi
    FROM nodes AS node
    JOIN campaigns ON campaigns.id = node.campaign
    CROSS JOIN LATERAL (
        SELECT max(-child.hi) AS lo, max(-child.lo) AS hi
        FROM unnest(node.children) AS edge (id) JOIN nodes AS child ON child.id = edge.id
    ) AS below
    CROSS JOIN LATERAL (
        SELECT max(evidence.lo) AS lo, min(evidence.hi) AS hi
        FROM evidence WHERE evidence.node = node.id
    ) AS proved
    WHERE node.id = ANY(%(ids)s) AND node.children IS DISTINCT FROM '{}'
)
UPDATE nodes SET lo = fresh.lo, hi = fresh.hi FROM fresh
WHERE nodes.id = fresh.id AND (nodes.lo <> fresh.lo OR nodes.hi <> fresh.hi)
RETURNING nodes.id, nodes.parent, nodes.parents

-- name: withdraw_unfounded
-- Workunits that were handed out with bounds nobody believes any more, and those whose answer
-- is open again: the generator asks anew what is still needed.
WITH unfounded AS (
    SELECT workunits.id FROM workunits
    WHERE campaign = %(campaign)s AND known_from && %(results)s::bigint[]
      AND state IN {open_states}
    UNION
    SELECT workunits.id FROM workunits JOIN nodes ON nodes.id = workunits.node
    WHERE workunits.id = ANY (ARRAY (
              SELECT workunit FROM results WHERE lease = ANY(%(results)s::bigint[])
          ))
      AND workunits.state = 'answered'
      AND nodes.lo < workunits.threshold AND nodes.hi >= workunits.threshold
), locked AS (
    SELECT id FROM workunits WHERE id IN (SELECT id FROM unfounded) ORDER BY id FOR UPDATE
), withdrawn AS (
    UPDATE workunits SET state = 'withdrawn', disputed = false
    FROM locked WHERE workunits.id = locked.id
    RETURNING workunits.id
)
UPDATE totals SET withdrawn = withdrawn + (SELECT count(*) FROM withdrawn)
WHERE campaign = %(campaign)s

-- name: reopen_unanswered
-- Workunits that wait for nothing, because the results they had count no more.
UPDATE workunits SET state = 'ready'
WHERE id = ANY (ARRAY (SELECT workunit FROM results WHERE lease = ANY(%(results)s::bigint[])))
  AND state IN ('returned', 'exhausted')
  AND NOT EXISTS (
      SELECT FROM results WHERE results.workunit = workunits.id
        AND results.state IN ('pending', 'valid', 'assimilated')
  )

-- name: dispute_answers
-- Answers taken out of the tree that are to be compared with those of more users.
WITH contested AS MATERIALIZED (
    SELECT id, campaign, state FROM workunits
    WHERE id = ANY (ARRAY (SELECT workunit FROM results WHERE lease = ANY(%(results)s::bigint[])))
      AND state IN ('ready', 'leased', 'returned', 'exhausted', 'answered', 'split')
      AND NOT EXISTS (
          SELECT FROM workunits AS twin
          WHERE twin.node = workunits.node AND twin.threshold = workunits.threshold
            AND twin.id <> workunits.id AND twin.state IN {open_states}
      )
), counted AS (
    UPDATE totals SET splits = splits - (SELECT count(*) FROM contested WHERE state = 'split')
    WHERE campaign IN (SELECT campaign FROM contested WHERE state = 'split')
)
UPDATE workunits SET state = 'ready', quorum = greatest(quorum, %(quorum)s), disputed = true
FROM contested WHERE workunits.id = contested.id

-- name: reopen_tests
-- Tests whose answers the bounds of the root no longer give.
UPDATE tests SET ended_at = NULL, answer = NULL FROM campaigns, nodes
WHERE tests.campaign = %(campaign)s AND campaigns.id = tests.campaign
  AND nodes.id = campaigns.root
  AND (answer AND nodes.lo < tests.threshold OR NOT answer AND nodes.hi >= tests.threshold)

-- name: begin_revision
-- Plans made from the former bounds are void; a campaign that had finished goes on.
UPDATE campaigns SET revision = revision + 1, finished_at = NULL,
                     state = CASE WHEN state = 'finished' THEN 'running' ELSE state END
WHERE id = %s

-- name: campaign_revision
SELECT revision FROM campaigns WHERE id = %s

-- name: node_evidence
-- Bounds, children and evidence of nodes, with how many users stand behind each piece of it.
SELECT nodes.id, nodes.lo, nodes.hi, nodes.children, evidence.result, evidence.lo, evidence.hi, (
    SELECT count(DISTINCT hosts.user_id) FROM results
    JOIN results AS other ON other.workunit = results.workunit AND other.answer = results.answer
                         AND other.state = 'assimilated'
    JOIN hosts ON hosts.id = other.host
    WHERE results.lease = evidence.result
)
FROM nodes LEFT JOIN evidence ON evidence.node = nodes.id
WHERE nodes.id = ANY(%s)

-- name: contested_results
-- A result that contradicts the tree, and the others that agree with it.
SELECT other.lease, hosts.user_id FROM results
JOIN results AS other ON other.workunit = results.workunit AND other.answer = results.answer
JOIN hosts ON hosts.id = other.host
WHERE results.lease = %s AND other.state IN ('valid', 'assimilated')
