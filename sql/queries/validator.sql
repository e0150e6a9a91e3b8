-- Deciding which results to believe.

-- name: pending_results
-- Results to judge, with what is known about their question. SKIP LOCKED lets several
-- validators share the work.
SELECT results.lease, results.workunit, results.campaign, results.host, results.answer,
       results.lo, results.hi, results.proved, workunits.threshold, campaigns.max_score,
       campaigns.replication, campaigns.quorum
FROM results
JOIN workunits ON workunits.id = results.workunit
JOIN campaigns ON campaigns.id = results.campaign
WHERE results.state = 'pending'
ORDER BY results.lease LIMIT %s
FOR UPDATE OF results SKIP LOCKED

-- name: judge_results
UPDATE results SET state = judged.state
FROM unnest(%(leases)s::bigint[], %(states)s::result_state[]) AS judged (lease, state)
WHERE results.lease = judged.lease

-- name: ask_again
-- A refused result answers nothing: its question goes back to the queue.
WITH refused AS (
    SELECT id FROM workunits WHERE id = ANY(%s) AND state = 'returned' ORDER BY id FOR UPDATE
)
UPDATE workunits SET state = 'ready' FROM refused WHERE workunits.id = refused.id
