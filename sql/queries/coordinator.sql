-- What the coordinator does, each for a whole batch of calls in one statement. Rows that
-- several statements lock are locked in the order of their ids.

-- name: register_user
INSERT INTO users (name) VALUES (%(name)s) ON CONFLICT (name) DO NOTHING

-- name: register_host
-- A host says hello: create it or note what it says of itself.
INSERT INTO hosts AS h (user_id, instance, name, version, slots, speed)
SELECT id, %(instance)s, %(name)s, %(version)s, %(slots)s, %(speed)s
FROM users WHERE users.name = %(owner)s
ON CONFLICT (instance) DO UPDATE
SET name = excluded.name, version = excluded.version, slots = excluded.slots,
    speed = CASE WHEN excluded.speed > 0 THEN excluded.speed ELSE h.speed END,
    seen_at = now()
RETURNING id

-- name: find_host
SELECT id FROM hosts WHERE instance = %(instance)s

-- name: hosts_seen
-- The hosts that called since the last time, and how fast the calls said they are.
UPDATE hosts h
SET seen_at = now(), speed = CASE WHEN s.speed > 0 THEN s.speed ELSE h.speed END
FROM unnest(%(hosts)s::integer[], %(speeds)s::real[]) AS s (host, speed)
WHERE h.id = s.host

-- name: running_games
-- What a client that has just arrived should get ready for.
SELECT DISTINCT spec FROM campaigns WHERE state = 'running' ORDER BY spec LIMIT 16

-- name: lease_workunits
-- Give ready workunits to the slots that ask, most urgent first, one to every request
-- before a second to any.
WITH slots AS (
    SELECT r.request, r.host, r.speed,
           row_number() OVER (ORDER BY round, r.request) AS place
    FROM unnest(%(hosts)s::integer[], %(slots)s::integer[], %(speeds)s::double precision[])
         WITH ORDINALITY AS r (host, slots, speed, request),
         generate_series(1, r.slots) AS round
),
picked AS MATERIALIZED (
    SELECT w.id, w.priority, w.node, w.campaign, w.threshold, w.budget, w.known
    FROM workunits w
    JOIN campaigns c ON c.id = w.campaign AND c.state = 'running'
    WHERE w.state = 'ready'
    ORDER BY w.priority, w.id
    LIMIT %(total)s
    FOR UPDATE OF w SKIP LOCKED
),
matched AS MATERIALIZED (
    SELECT s.request, s.host, p.*, c.spec,
           least(
               p.budget,
               c.node_limit,
               greatest(1, c.target_seconds * CASE WHEN s.speed > 0 THEN s.speed
                                                   ELSE %(default_speed)s END)
           )::bigint AS node_budget
    FROM (SELECT *, row_number() OVER (ORDER BY priority, id) AS place FROM picked) p
    JOIN slots s USING (place)
    JOIN campaigns c ON c.id = p.campaign
),
taken AS (
    UPDATE workunits w SET state = 'leased' FROM matched m WHERE w.id = m.id
),
leased AS (
    INSERT INTO leases (workunit, host, budget, deadline)
    SELECT id, host, node_budget, now() + %(lease_seconds)s * interval '1 second' FROM matched
    RETURNING id, workunit
)
SELECT m.request, l.id AS lease, m.id AS workunit, m.campaign, m.spec,
       uuid_send(n.position) AS position, h.history, m.threshold, m.node_budget, m.known
FROM matched m
JOIN leased l ON l.workunit = m.id
JOIN nodes n ON n.id = m.node
LEFT JOIN histories h ON h.node = m.node
ORDER BY m.request, l.id

-- name: ask_for_more
-- Clients want more than is ready: tell the generators.
SELECT pg_notify('zermelo_wanted', id::text) FROM campaigns WHERE state = 'running'

-- name: no_work_reason
-- How many campaigns there are in each state.
SELECT count(*) FILTER (WHERE state = 'running') AS running,
       count(*) FILTER (WHERE state = 'paused') AS paused
FROM campaigns

-- name: submit_results
-- Store results and end their leases. A result that contradicts itself gives the lease
-- back; one that came before changes nothing; one whose lease or workunit has ended is
-- stored as late.
WITH sent AS (
    SELECT * FROM unnest(
        %(hosts)s::integer[], %(leases)s::bigint[], %(answers)s::answer[],
        %(los)s::smallint[], %(his)s::smallint[], %(nodes)s::bigint[], %(seconds)s::real[],
        %(proved)s::bytea[]
    ) WITH ORDINALITY AS s (host, lease, answer, lo, hi, nodes, seconds, proved, place)
),
locked AS MATERIALIZED (
    SELECT l.id AS lease, l.host, l.state AS lease_state,
           w.id AS workunit, w.state AS workunit_state, w.campaign, w.threshold
    FROM leases l
    JOIN workunits w ON w.id = l.workunit
    WHERE l.id = ANY (%(leases)s::bigint[])
    ORDER BY w.id, l.id
    FOR UPDATE
),
found AS MATERIALIZED (
    SELECT DISTINCT ON (s.lease) s.*, k.lease_state, k.workunit, k.workunit_state, k.campaign,
           CASE s.answer
               WHEN 'yes' THEN s.lo >= k.threshold
               WHEN 'no' THEN s.hi < k.threshold
               ELSE true
           END AND s.lo <= s.hi AS sound
    FROM sent s
    JOIN locked k USING (lease, host)
    ORDER BY s.lease, s.place
),
stored AS (
    INSERT INTO results (lease, workunit, nodes, host, seconds, answer, campaign, lo, hi, late,
                         proved)
    SELECT lease, workunit, nodes, host, seconds, answer, campaign, lo, hi,
           lease_state <> 'open' OR workunit_state NOT IN ('ready', 'leased'), proved
    FROM found
    WHERE sound
    ON CONFLICT (lease) DO NOTHING
    RETURNING lease, campaign, late
),
ended AS (
    UPDATE leases l
    SET state = CASE WHEN f.sound THEN 'returned'::lease_state ELSE 'abandoned' END,
        ended_at = now(),
        nodes = f.nodes
    FROM found f
    WHERE l.id = f.lease AND l.state = 'open'
),
moved AS (
    UPDATE workunits w
    SET state = CASE WHEN stored.lease IS NULL THEN 'ready'::workunit_state ELSE 'returned' END
    FROM found f
    LEFT JOIN stored USING (lease)
    WHERE w.id = f.workunit
      AND CASE WHEN stored.lease IS NULL
               THEN NOT f.sound AND f.lease_state = 'open' AND w.state = 'leased'
               ELSE w.state IN ('ready', 'leased') END
    RETURNING w.id, w.state
),
told AS (
    SELECT pg_notify('zermelo_results', campaign::text)
    FROM (SELECT DISTINCT campaign FROM stored) campaigns
    UNION ALL
    SELECT pg_notify('zermelo_ready', '') WHERE EXISTS (SELECT FROM moved WHERE state = 'ready')
)
SELECT s.lease,
       CASE
           WHEN f.lease IS NULL THEN 'unknown'
           WHEN NOT f.sound THEN 'contradictory'
           WHEN stored.lease IS NULL OR f.place <> s.place THEN 'duplicate'
           WHEN stored.late THEN 'late'
           ELSE 'accepted'
       END AS receipt,
       (SELECT count(*) FROM told) AS told
FROM sent s
LEFT JOIN found f USING (lease, host)
LEFT JOIN stored USING (lease)
ORDER BY s.place

-- name: heartbeat
-- Note the progress of leases, extend those that made some, and cancel those whose answer
-- nobody needs any more. Two states of a lease: as it was, and what to do about it.
WITH sent AS (
    SELECT * FROM unnest(%(hosts)s::integer[], %(leases)s::bigint[], %(nodes)s::bigint[])
         WITH ORDINALITY AS s (host, lease, nodes, place)
),
locked AS MATERIALIZED (
    SELECT id, host, workunit, state, nodes, deadline
    FROM leases
    WHERE id = ANY (%(leases)s::bigint[])
    ORDER BY id
    FOR UPDATE
),
judged AS MATERIALIZED (
    SELECT DISTINCT ON (s.lease) s.lease, s.nodes, k.state, k.nodes AS nodes_before, k.deadline,
           n.lo, n.hi, c.state AS campaign_state,
           w.state NOT IN ('ready', 'leased') AS settled
    FROM sent s
    JOIN locked k ON k.id = s.lease AND k.host = s.host
    JOIN workunits w ON w.id = k.workunit
    JOIN campaigns c ON c.id = w.campaign
    JOIN nodes n ON n.id = w.node
    ORDER BY s.lease, s.nodes DESC
),
changed AS (
    UPDATE leases l
    SET nodes = greatest(l.nodes, j.nodes),
        progress_at = CASE WHEN j.nodes > l.nodes THEN now() ELSE l.progress_at END,
        deadline = CASE WHEN j.nodes > l.nodes
                        THEN now() + %(lease_seconds)s * interval '1 second'
                        ELSE l.deadline END,
        state = CASE WHEN j.settled OR j.campaign_state <> 'running'
                     THEN 'cancelled'::lease_state ELSE 'open' END,
        ended_at = CASE WHEN j.settled OR j.campaign_state <> 'running' THEN now() END
    FROM judged j
    WHERE l.id = j.lease AND l.state = 'open'
      AND (j.nodes > l.nodes OR j.settled OR j.campaign_state <> 'running')
    RETURNING l.id, l.deadline
),
released AS (
    -- A paused campaign's work goes back to the queue for the day it goes on.
    UPDATE workunits w SET state = 'ready'
    FROM judged j JOIN leases l ON l.id = j.lease
    WHERE w.id = l.workunit AND w.state = 'leased' AND j.state = 'open'
      AND j.campaign_state <> 'running'
)
SELECT s.lease,
       CASE
           WHEN j.lease IS NULL THEN 'unknown'
           WHEN j.campaign_state IN ('finished', 'cancelled') THEN 'finished'
           WHEN j.campaign_state = 'paused' THEN 'paused'
           WHEN j.settled OR j.state IN ('cancelled', 'returned') THEN 'withdrawn'
           WHEN j.state <> 'open' THEN 'expired'
           ELSE 'continue'
       END AS directive,
       greatest(0, extract(epoch FROM coalesce(c.deadline, j.deadline) - now()) * 1000)::bigint
           AS lease_ms,
       j.lo, j.hi
FROM sent s
LEFT JOIN judged j USING (lease)
LEFT JOIN changed c ON c.id = s.lease
ORDER BY s.place

-- name: return_leases
-- Leases given back: the work is ready again at once. For those that had ended before,
-- only the effort is noted.
WITH sent AS (
    SELECT host, lease, max(nodes) AS nodes
    FROM unnest(%(hosts)s::integer[], %(leases)s::bigint[], %(nodes)s::bigint[])
         AS s (host, lease, nodes)
    GROUP BY host, lease
),
locked AS MATERIALIZED (
    SELECT l.id, l.workunit, l.state, s.nodes
    FROM leases l
    JOIN sent s ON s.lease = l.id AND s.host = l.host
    WHERE l.state <> 'returned'
    ORDER BY l.id
    FOR UPDATE OF l
),
ended AS (
    UPDATE leases l
    SET state = CASE WHEN k.state = 'open' THEN 'abandoned' ELSE k.state END,
        ended_at = coalesce(l.ended_at, now()),
        nodes = greatest(l.nodes, k.nodes)
    FROM locked k
    WHERE l.id = k.id AND (k.state = 'open' OR NOT l.counted)
),
freed AS (
    UPDATE workunits w SET state = 'ready'
    FROM locked k
    WHERE w.id = k.workunit AND k.state = 'open' AND w.state = 'leased'
    RETURNING w.id
),
told AS (
    SELECT pg_notify('zermelo_ready', '') WHERE EXISTS (SELECT FROM freed)
)
SELECT id, (SELECT count(*) FROM told) AS told FROM locked WHERE state = 'open'

-- name: return_other_leases
-- A host starts afresh: every lease but those it holds on to ends here.
WITH locked AS MATERIALIZED (
    SELECT id, workunit FROM leases
    WHERE host = %(host)s AND state = 'open' AND id <> ALL (%(held)s::bigint[])
    ORDER BY id
    FOR UPDATE
),
ended AS (
    UPDATE leases l SET state = 'abandoned', ended_at = now() FROM locked k WHERE l.id = k.id
),
freed AS (
    UPDATE workunits w SET state = 'ready'
    FROM locked k WHERE w.id = k.workunit AND w.state = 'leased'
    RETURNING w.id
)
SELECT pg_notify('zermelo_ready', '') WHERE EXISTS (SELECT FROM freed)

-- name: expire_leases
-- Leases without progress until their deadline end, and their work is ready again. Several
-- coordinators may do this at the same time.
WITH dead AS MATERIALIZED (
    SELECT id, workunit FROM leases
    WHERE state = 'open' AND deadline < now()
    ORDER BY id
    LIMIT 10000
    FOR UPDATE SKIP LOCKED
),
ended AS (
    UPDATE leases l SET state = 'expired', ended_at = now() FROM dead d WHERE l.id = d.id
),
freed AS (
    UPDATE workunits w SET state = 'ready'
    FROM dead d WHERE w.id = d.workunit AND w.state = 'leased'
    RETURNING w.id
),
told AS (
    SELECT pg_notify('zermelo_ready', '') WHERE EXISTS (SELECT FROM freed)
)
SELECT (SELECT count(*) FROM dead) AS expired, (SELECT count(*) FROM told) AS told
