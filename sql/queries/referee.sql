-- The server's own search as one more voter.

-- name: find_referee
SELECT id FROM hosts WHERE referee

-- name: add_referee
-- An account that nobody can log in to, and its host.
WITH account AS (
    INSERT INTO users (name) VALUES (%(name)s) RETURNING id
)
INSERT INTO hosts (user_id, host_key_digest, name, referee)
SELECT id, gen_random_uuid(), 'referee', true FROM account
ON CONFLICT (referee) WHERE referee DO NOTHING

-- name: commit_durably
-- For the running transaction: lease numbers must not come again after a crash.
SET LOCAL synchronous_commit TO on

-- name: referee_seen
UPDATE hosts SET seen_at = now() WHERE id = %s

-- name: referee_question
-- What to search next: contradictions, then answers on which much rests, then what waits for
-- another user, where somebody is closest to being trusted; at last what only strangers agreed on.
-- It is leased like any other workunit.
WITH waiting AS (
    SELECT w.id, 0 AS class, NOT w.disputed AS calm, w.stakes, (
               SELECT max(CASE WHEN h.streak < %(trusted_after)s THEN h.streak ELSE -1 END)
               FROM results r JOIN hosts h ON h.id = r.host
               WHERE r.workunit = w.id AND r.answer <> 'exhausted'
           ) AS record
    FROM (
        SELECT id, campaign, disputed, stakes FROM workunits
        WHERE state = 'ready' AND quorum > 1
          AND (%(early)s OR disputed OR stakes = 'Infinity')
        ORDER BY disputed DESC, stakes DESC LIMIT 256
    ) AS w
    JOIN campaigns c ON c.id = w.campaign AND c.state = 'running' AND c.replication = 'adaptive'
    WHERE EXISTS (
              SELECT FROM results r WHERE r.workunit = w.id AND r.state = 'unconfirmed'
                -- a sharper bound is no contradiction before somebody else has looked at it
                AND (%(early)s OR r.lease > 0)
          )
      AND NOT EXISTS (SELECT FROM results r WHERE r.workunit = w.id AND r.host = %(referee)s)
), agreed AS (
    SELECT w.id, 1 AS class, true AS calm, w.stakes, 0 AS record
    FROM (
        (SELECT * FROM workunits
         WHERE state = 'answered' AND quorum > 1 AND NOT disputed ORDER BY id DESC LIMIT 256)
        UNION
        (SELECT * FROM workunits WHERE state = 'answered' AND stakes = 'Infinity' LIMIT 256)
    ) AS w
    JOIN campaigns c ON c.id = w.campaign AND c.state = 'running' AND c.replication = 'adaptive'
    WHERE %(early)s
      AND NOT EXISTS (
          SELECT FROM results r JOIN hosts h ON h.id = r.host
          WHERE r.workunit = w.id
            AND (h.referee OR h.streak >= %(trusted_after)s AND w.stakes < 'Infinity')
      )
), chosen AS (
    SELECT w.id, candidate.class = 1 AS probe, least(
               %(node_budget)s, %(factor)s * coalesce(w.node_budget, %(node_budget)s)
           )::bigint AS node_budget
    FROM (SELECT * FROM waiting UNION ALL SELECT * FROM agreed) AS candidate
    JOIN workunits AS w ON w.id = candidate.id
    ORDER BY candidate.class, candidate.calm, candidate.stakes = 'Infinity' DESC,
             candidate.record DESC NULLS LAST, random()
    LIMIT 1 FOR UPDATE OF w SKIP LOCKED
), marked AS (
    UPDATE workunits SET state = 'leased' FROM chosen
    WHERE workunits.id = chosen.id AND NOT chosen.probe
), leased AS (
    INSERT INTO leases (id, workunit, host, node_budget, deadline, probe)
    SELECT %(lease)s, id, %(referee)s, node_budget, now() + interval '1 hour', probe
    FROM chosen
)
SELECT w.id, c.spec, uuid_send(n.position), h.history, w.threshold, w.known,
       chosen.node_budget
FROM chosen JOIN workunits w ON w.id = chosen.id
JOIN campaigns c ON c.id = w.campaign
JOIN nodes n ON n.id = w.node
LEFT JOIN histories h ON h.node = w.node

-- name: free_referee
-- What a referee that was stopped in the middle of a search had leased is ready again.
WITH ended AS (
    UPDATE leases SET state = 'abandoned', ended_at = now()
    WHERE host = %s AND state = 'open' RETURNING workunit
)
UPDATE workunits SET state = 'ready'
WHERE id IN (SELECT workunit FROM ended) AND state::text = 'leased'

-- name: ask_unassured
-- Answers in a proof that nobody stands behind whose word counts: the referee's or, where enough
-- users are trusted, a trusted one's. They are asked again. Those that only the referee can
-- settle stay answered, and it searches them before others.
WITH unassured AS MATERIALIZED (
    SELECT w.id FROM workunits w
    WHERE w.id = ANY (ARRAY (
              SELECT workunit FROM results WHERE lease = ANY(%(results)s::bigint[])
          ))
      AND w.state = 'answered'
      AND NOT EXISTS (
          SELECT FROM results r JOIN hosts h ON h.id = r.host
          WHERE r.workunit = w.id
            AND (h.referee OR %(of_users)s AND h.streak >= %(trusted_after)s)
      )
      AND NOT EXISTS (
          SELECT FROM workunits twin
          WHERE twin.node = w.node AND twin.threshold = w.threshold
            AND twin.id <> w.id AND twin.state IN {open_states}
      )
    ORDER BY w.id FOR UPDATE OF w
)
UPDATE workunits SET
    stakes = 'Infinity',
    state = CASE WHEN %(of_users)s THEN 'ready'::workunit_state ELSE state END,
    disputed = %(of_users)s,
    quorum = greatest(quorum, 2)
WHERE id = ANY (ARRAY (SELECT id FROM unassured))
