-- Putting valid results into the tree.

-- name: valid_results
SELECT results.lease, results.workunit, workunits.node,
       CASE WHEN results.agreed_lo < workunits.threshold
             AND results.agreed_hi >= workunits.threshold THEN 'exhausted'
            ELSE results.answer END,
       coalesce(results.agreed_lo, results.lo), coalesce(results.agreed_hi, results.hi),
       results.nodes, results.seconds,
       results.late OR workunits.state = 'withdrawn' AS wasted,
       CASE WHEN results.counted THEN results.nodes
            WHEN leases.counted THEN leases.nodes ELSE 0 END AS counted_nodes,
       workunits.quorum > 1 AND (leases.probe OR EXISTS (
           SELECT FROM results AS earlier
           WHERE earlier.workunit = results.workunit AND earlier.lease < results.lease
             AND earlier.state IN ('valid', 'assimilated')
       )) AS checking,
       workunits.known_from IS NOT NULL AND EXISTS (
           SELECT FROM results AS source
           WHERE source.lease = ANY(workunits.known_from)
             AND source.state NOT IN ('valid', 'assimilated')
       ) AS unfounded
FROM results
JOIN workunits ON workunits.id = results.workunit
JOIN leases ON leases.id = results.lease
WHERE results.campaign = %(campaign)s AND results.state = 'valid'
ORDER BY results.lease LIMIT %(most)s

-- name: mark_results
-- Fewer than these when some were put in doubt meanwhile.
UPDATE results SET state = %(state)s::result_state,
                   counted = counted OR %(state)s::result_state = 'assimilated'
WHERE lease = ANY(%(leases)s) AND state = 'valid'

-- name: contradictions
-- How many answers to one workunit the tree excludes.
SELECT count(*) FROM results WHERE workunit = %s AND state = 'quarantined'

-- name: end_workunits
-- A yes or no answers a workunit in whatever state it is, unless it was withdrawn; that it
-- was too hard matters only while nobody else works on it. What a late search proved below a
-- workunit that is split already is taken over by the generator like that of the first one.
WITH answered AS (
    SELECT id, answer FROM unnest(%(ids)s::bigint[], %(answers)s::answer[]) AS a (id, answer)
), locked AS MATERIALIZED (
    SELECT workunits.id, workunits.state, answered.answer
    FROM answered JOIN workunits ON workunits.id = answered.id
    ORDER BY workunits.id FOR UPDATE OF workunits
), changed AS MATERIALIZED (
    SELECT locked.id, locked.state AS before, workunits.campaign, CASE
        WHEN locked.answer = 'exhausted' THEN 'exhausted'::workunit_state ELSE 'answered'
    END AS state
    FROM locked JOIN workunits ON workunits.id = locked.id
    WHERE CASE
        WHEN locked.answer = 'exhausted' AND locked.state = 'split' THEN EXISTS (
            SELECT FROM results
            WHERE results.workunit = locked.id AND results.late AND results.proved IS NOT NULL
              AND results.state = 'assimilated'
        ) AND NOT EXISTS (
            SELECT FROM workunits AS twin
            WHERE twin.node = workunits.node AND twin.threshold = workunits.threshold
              AND twin.state IN {open_states}
        )
        WHEN locked.answer = 'exhausted' THEN locked.state = 'returned'
        ELSE locked.state IN {open_states} END
), counted AS (
    UPDATE totals SET splits = splits - (SELECT count(*) FROM changed WHERE before = 'split')
    WHERE campaign IN (SELECT campaign FROM changed WHERE before = 'split')
)
UPDATE workunits SET state = changed.state FROM changed WHERE workunits.id = changed.id

-- name: count_results
UPDATE totals SET answered = answered + %(answered)s, nodes = nodes + %(nodes)s,
                  wasted_nodes = wasted_nodes + %(wasted_nodes)s,
                  split_nodes = split_nodes + %(split_nodes)s, seconds = seconds + %(seconds)s,
                  checking_nodes = checking_nodes + %(checking_nodes)s
WHERE campaign = %(campaign)s

-- name: count_ended_leases
-- The work of leases that ended without a result is wasted; which ones these were. A host that
-- ended too many of them itself has to earn trust anew.
WITH ended AS (
    UPDATE leases SET counted = true FROM workunits
    WHERE NOT leases.counted AND leases.state IN ('expired', 'abandoned', 'cancelled')
      AND workunits.id = leases.workunit AND workunits.campaign = %(campaign)s
      AND NOT EXISTS (SELECT FROM results WHERE results.lease = leases.id)
    RETURNING leases.id, leases.nodes, leases.host, leases.state
), abandoned AS (
    -- Who gives back what it does not like could wait for the one question to lie about.
    SELECT host, count(*) AS leases FROM ended
    WHERE state IN ('expired', 'abandoned') GROUP BY host
), locked AS MATERIALIZED (
    SELECT id FROM hosts WHERE id = ANY (ARRAY (SELECT host FROM abandoned))
    ORDER BY id FOR NO KEY UPDATE
), noted AS (
    UPDATE hosts SET
        abandoned = CASE WHEN told.much THEN 0 ELSE hosts.abandoned + told.leases END,
        streak = CASE WHEN told.much THEN 0 ELSE streak END,
        streak_part = CASE WHEN told.much THEN 0 ELSE streak_part END
    FROM (
        SELECT h.id, abandoned.leases, h.abandoned + abandoned.leases > greatest(
                   %(tolerated)s, %(share)s * (
                       SELECT coalesce(sum(credits.results), 0) FROM credits
                       WHERE credits.host = h.id
                   )
               ) AS much
        FROM abandoned JOIN hosts AS h ON h.id = abandoned.host
    ) AS told
    WHERE hosts.id = told.id AND hosts.id = ANY (ARRAY (SELECT id FROM locked))
)
UPDATE totals SET nodes = nodes + (SELECT coalesce(sum(ended.nodes), 0) FROM ended),
                  wasted_nodes = wasted_nodes + (SELECT coalesce(sum(ended.nodes), 0) FROM ended)
WHERE campaign = %(campaign)s
RETURNING ARRAY (SELECT ended.id FROM ended)

-- name: count_refused
-- The work of results that were refused, outvoted or retracted before they got into the tree is
-- wasted, too.
WITH refused AS (
    UPDATE results SET counted = true FROM leases
    WHERE results.campaign = %(campaign)s AND NOT results.counted
      AND results.state IN ('invalid', 'retracted') AND leases.id = results.lease
    RETURNING results.nodes - CASE WHEN leases.counted THEN leases.nodes ELSE 0 END AS nodes,
              results.seconds
), summed AS (
    SELECT coalesce(sum(nodes), 0) AS nodes, coalesce(sum(seconds), 0) AS seconds FROM refused
)
UPDATE totals SET nodes = totals.nodes + summed.nodes,
                  wasted_nodes = wasted_nodes + summed.nodes,
                  seconds = totals.seconds + summed.seconds
FROM summed WHERE campaign = %(campaign)s AND (summed.nodes > 0 OR summed.seconds > 0)

-- name: refuse_unfounded
-- Answers found with bounds that were retracted meanwhile; their questions are asked anew.
WITH refused AS (
    UPDATE results SET state = 'retracted', agreed_lo = NULL, agreed_hi = NULL
    WHERE lease = ANY(%(leases)s) RETURNING workunit
), withdrawn AS (
    UPDATE workunits SET state = 'withdrawn', disputed = false
    WHERE id IN (SELECT workunit FROM refused)
      AND state IN {open_states}
    RETURNING id
)
UPDATE totals SET withdrawn = withdrawn + (SELECT count(*) FROM withdrawn)
WHERE campaign = %(campaign)s
