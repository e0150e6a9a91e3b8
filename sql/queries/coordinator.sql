-- What the coordinator does, each for a whole batch of calls in one statement. Rows that
-- several statements lock are locked in the order of their ids. Tables are always reached
-- by index from the batch (a join, or ANY of an array), and no two intermediate results are
-- ever joined: the planner knows nothing of their size, and would loop within a loop. Where
-- rows are locked first, what to change is decided by what was read then: a plain condition on
-- the state in the update itself would let the planner go through the index of all open leases
-- or workunits instead, which often look empty to it; `state::text` keeps it from that.

-- name: register_hosts
-- Hosts say hello: create each or note what it says of itself. One that changes its user has
-- to earn trust anew, and coordinators forget whose it was. In the order in which everybody locks
-- hosts, new ones last, so that no two statements wait for each other.
WITH said AS (
    SELECT * FROM unnest(
        %(user)s::integer[], %(host_key_digest)s::uuid[], %(name)s::text[], %(version)s::text[],
        %(workers)s::integer[], %(speed)s::real[], %(cores)s::integer[],
        %(memory_mb)s::integer[], %(platform)s::text[]
    ) AS s (user_id, host_key_digest, name, version, workers, speed, cores, memory_mb, platform)
),
changed AS (
    SELECT pg_notify('zermelo_accounts', '') FROM said s JOIN hosts USING (host_key_digest)
    WHERE hosts.user_id <> s.user_id
)
INSERT INTO hosts AS h (user_id, host_key_digest, name, version, workers, speed, cores, memory_mb,
                        platform)
SELECT said.* FROM said LEFT JOIN hosts USING (host_key_digest) ORDER BY hosts.id, host_key_digest
ON CONFLICT (host_key_digest) DO UPDATE
SET name = excluded.name, version = excluded.version, workers = excluded.workers,
    cores = excluded.cores, memory_mb = excluded.memory_mb, platform = excluded.platform,
    speed = CASE WHEN excluded.speed > 0 AND h.searched_seconds < 1
                 THEN excluded.speed ELSE h.speed END,
    streak = CASE WHEN h.user_id = excluded.user_id THEN h.streak ELSE 0 END,
    streak_part = CASE WHEN h.user_id = excluded.user_id THEN h.streak_part ELSE 0 END,
    user_id = excluded.user_id, seen_at = now()
RETURNING host_key_digest, id, user_id, banned_at IS NOT NULL AS banned,
          CASE WHEN searched_seconds >= 1 THEN speed ELSE 0 END AS shown,
          CASE WHEN banned_at IS NULL THEN '' ELSE coalesce((
              SELECT reason FROM bans WHERE bans.user_id = h.user_id AND bans.host = h.id
                AND lifted_at IS NULL ORDER BY bans.id DESC LIMIT 1
          ), '') END AS reason,
          (SELECT count(*) FROM changed) AS told

-- name: find_hosts
SELECT host_key_digest, id, user_id, banned_at IS NOT NULL AS banned,
       CASE WHEN searched_seconds >= 1 THEN speed ELSE 0 END AS shown,
       CASE WHEN banned_at IS NULL THEN '' ELSE coalesce((
           SELECT reason FROM bans WHERE bans.user_id = hosts.user_id AND bans.host = hosts.id
             AND lifted_at IS NULL ORDER BY bans.id DESC LIMIT 1
       ), '') END AS reason
FROM hosts WHERE host_key_digest = ANY (%(host_key_digests)s::uuid[])

-- name: hosts_seen
-- The hosts that called since the last time, how fast the calls said they are, and what the
-- searches of their results took. What a host says counts until it has searched for a
-- second; of what it has searched the latest ten minutes or so count.
WITH seen AS (
    SELECT * FROM unnest(
        %(hosts)s::integer[], %(speeds)s::real[], %(nodes)s::float8[], %(seconds)s::float8[]
    ) AS s (host, speed, nodes, seconds)
),
locked AS MATERIALIZED (
    SELECT id FROM hosts WHERE id = ANY (%(hosts)s::integer[]) ORDER BY id FOR NO KEY UPDATE
)
UPDATE hosts h
SET seen_at = now(),
    speed = CASE WHEN h.searched_seconds + s.seconds >= 1
                 THEN (h.searched_nodes + s.nodes) / (h.searched_seconds + s.seconds)
                 WHEN s.speed > 0 THEN s.speed ELSE h.speed END,
    searched_nodes = (h.searched_nodes + s.nodes)
                     * 600 / greatest(600, h.searched_seconds + s.seconds),
    searched_seconds = least(600, h.searched_seconds + s.seconds)
FROM seen s
WHERE h.id = s.host AND h.id = ANY (ARRAY (SELECT id FROM locked))
RETURNING h.id, CASE WHEN h.searched_seconds >= 1 THEN h.speed ELSE 0 END

-- name: running_games
-- What a client that has just arrived should get ready for.
SELECT DISTINCT spec FROM campaigns WHERE state = 'running' ORDER BY spec LIMIT 16

-- name: free_of_hosts
-- Whose hosts these are, and how many more leases each may have: none for some minutes after
-- a bad answer, the longer the more of them there were.
SELECT h.id, h.user_id, CASE
    WHEN h.error_at + {rest_after_errors} > now() THEN 0
    ELSE greatest(0, h.quota - (
        SELECT count(*) FROM leases l WHERE l.host = h.id AND l.state = 'open'
    ))::integer END
FROM hosts h WHERE h.id = ANY (%(hosts)s)

-- name: free_of_users
-- How many more leases all hosts of these users together may have. A lease that has lasted far
-- longer than its search was to take counts as several. Where no answers are compared nobody's
-- are confirmed, so that no quota grows: then everybody may have many, but not while nothing runs:
-- what is found out in a pause is still believed when it ends.
SELECT u.id, greatest(0, CASE WHEN r.compared THEN u.quota ELSE greatest(u.quota, 4096) END - (
    SELECT count(*) + (%(overdue_weight)s - 1) * count(*) FILTER (
        WHERE r.compared AND NOT l.probe AND l.leased_at < now() - r.patience
    )
    FROM hosts h JOIN leases l ON l.host = h.id AND l.state = 'open'
    WHERE h.user_id = u.id
))::integer
FROM users u
CROSS JOIN (
    SELECT bool_or(replication <> 'none') IS NOT FALSE AS compared,
           (%(seconds)s + %(targets)s * max(target_seconds)) * interval '1 second' AS patience
    FROM campaigns WHERE state = 'running'
) AS r
WHERE u.id = ANY (%(users)s)

-- name: workunits_asked_again
-- Questions that wait for another user's answer, or that take a host too long, most urgent first,
-- and who knows them: where answers are compared all hosts of a user count as one.
SELECT w.id, CASE WHEN w.hosts_differ THEN '{}' ELSE array_agg(DISTINCT k.user_id) END,
       array_agg(DISTINCT k.host)
FROM (
    SELECT w.id, w.priority, w.quorum = 1 AND c.replication = 'none' AS hosts_differ
    FROM workunits w JOIN campaigns c ON c.id = w.campaign AND c.state = 'running'
    WHERE w.state = 'ready' AND (w.quorum > 1 OR w.overdue)
    ORDER BY w.priority, w.id LIMIT %(most)s
) AS w
LEFT JOIN LATERAL (
    SELECT l.host, h.user_id FROM leases l JOIN hosts h ON h.id = l.host
    WHERE l.workunit = w.id
      AND (l.state IN ('open', 'returned') OR EXISTS (SELECT FROM results r WHERE r.lease = l.id))
) AS k ON true
GROUP BY w.id, w.priority, w.hosts_differ
ORDER BY w.priority, w.id

-- name: probes
-- Questions whose answer several users agreed on, the latest, and who knows them.
SELECT w.id, ARRAY (
    SELECT DISTINCT h.user_id FROM leases l JOIN hosts h ON h.id = l.host
    WHERE l.workunit = w.id
), '{}'::integer[]
FROM workunits w JOIN campaigns c ON c.id = w.campaign AND c.state = 'running'
WHERE w.state = 'answered' AND w.quorum > 1 AND NOT w.disputed AND c.probe_rate > 0
ORDER BY w.id DESC LIMIT %(most)s

-- name: probe_rate
-- How many of the leases shall be questions with a known answer.
SELECT coalesce(max(probe_rate), 0) FROM campaigns
WHERE state = 'running' AND replication <> 'none'

-- name: reserve_leases
-- A block of lease numbers for whoever asks. A crash of PostgreSQL may undo the latest leases
-- while clients hold them, so a number must never come again. The commit of this update waits
-- for the disk before anybody else gets at the row; a sequence does neither. A
-- database restored from a backup has forgotten more than the latest: the clock has not.
UPDATE lease_blocks SET reserved = greatest(reserved + 1, extract(epoch FROM now())::bigint)
RETURNING reserved

-- name: take_workunits
-- Take ready workunits out of the queue, most urgent first, and some that were chosen to be asked
-- again. They are in a hold until their leases are written. A probe is answered and stays so.
WITH fresh AS MATERIALIZED (
    SELECT w.id, w.priority, w.campaign, w.threshold, w.known, n.position,
           h.history, c.spec, least(w.node_budget, c.node_budget) AS max_node_budget,
           c.target_seconds, false AS probe
    FROM workunits w
    JOIN campaigns c ON c.id = w.campaign AND c.state = 'running'
    JOIN nodes n ON n.id = w.node
    LEFT JOIN histories h ON h.node = w.node
    WHERE w.state = 'ready' AND w.quorum = 1 AND NOT w.overdue
    ORDER BY w.priority, w.id
    LIMIT %(most)s
    FOR UPDATE OF w SKIP LOCKED
),
again AS MATERIALIZED (
    SELECT w.id, w.priority, w.campaign, w.threshold, w.known, n.position,
           h.history, c.spec, least(w.node_budget, c.node_budget) AS max_node_budget,
           c.target_seconds, a.probe
    FROM unnest(%(again)s::bigint[], %(probes)s::boolean[]) AS a (id, probe)
    JOIN workunits w ON w.id = a.id
    JOIN campaigns c ON c.id = w.campaign AND c.state = 'running'
    JOIN nodes n ON n.id = w.node
    LEFT JOIN histories h ON h.node = w.node
    WHERE w.state = CASE WHEN a.probe THEN 'answered'::workunit_state ELSE 'ready' END
      AND (w.quorum > 1 OR w.overdue)  -- else it may be among the fresh ones by now
    FOR UPDATE OF w SKIP LOCKED
),
taken AS MATERIALIZED (
    SELECT * FROM fresh UNION ALL SELECT * FROM again
),
marked AS (
    UPDATE workunits SET state = 'leased'
    WHERE id = ANY (ARRAY (SELECT id FROM taken WHERE NOT probe))
),
hold AS (
    INSERT INTO holds (workunits, until)
    SELECT coalesce(array_agg(id) FILTER (WHERE NOT probe), '{}'),
           now() + %(hold_seconds)s * interval '1 second'
    FROM taken HAVING count(*) > 0
    RETURNING id
)
SELECT (SELECT id FROM hold) AS hold, taken.id AS workunit, campaign, spec,
       uuid_send(position) AS position, history, threshold,
       max_node_budget, target_seconds, known, probe
FROM taken ORDER BY priority, taken.id

-- name: write_leases
-- Write down leases of taken workunits, and end the holds that are used up. A hold that ended
-- meanwhile has no leases: its workunits went to others.
WITH kept AS MATERIALIZED (
    SELECT id FROM holds WHERE id = ANY (%(hold)s::bigint[]) ORDER BY id FOR UPDATE
),
written AS (
    INSERT INTO leases (id, workunit, host, node_budget, deadline, probe)
    SELECT lease, workunit, host, node_budget,
           now() + %(lease_seconds)s * interval '1 second', probe
    FROM unnest(
        %(hold)s::bigint[], %(lease)s::bigint[], %(workunit)s::bigint[], %(host)s::integer[],
        %(node_budget)s::bigint[], %(probe)s::boolean[]
    ) AS g (hold, lease, workunit, host, node_budget, probe)
    WHERE hold = ANY (ARRAY (SELECT id FROM kept))
    ON CONFLICT (id) DO NOTHING  -- written before, but the connection was lost with the word of it
    RETURNING id
),
ended AS (
    DELETE FROM holds
    WHERE id = ANY (%(spent)s::bigint[])
      AND (SELECT count(*) FROM written) >= 0  -- not before the leases are there
)
SELECT count(*) FROM written

-- name: end_holds
-- What is left of these holds, and of those whose coordinator did not end them in time, is
-- ready again. A hold lasts for seconds: one that ends in an hour is from before the clock was
-- set back.
WITH ended AS MATERIALIZED (
    SELECT id, workunits FROM holds
    WHERE id = ANY (%(holds)s::bigint[]) OR until < now() OR until > now() + interval '1 hour'
    FOR UPDATE SKIP LOCKED
),
gone AS (
    DELETE FROM holds WHERE id = ANY (ARRAY (SELECT id FROM ended))
),
unheld AS MATERIALIZED (
    SELECT unnest(workunits) AS id FROM ended
    EXCEPT
    SELECT unnest(workunits) FROM holds WHERE id <> ALL (ARRAY (SELECT id FROM ended))
    EXCEPT
    SELECT workunit FROM leases
    WHERE workunit = ANY (ARRAY (SELECT unnest(workunits) FROM ended)) AND state::text = 'open'
),
freed AS (
    UPDATE workunits SET state = 'ready'
    WHERE id = ANY (ARRAY (SELECT id FROM unheld ORDER BY id)) AND state::text = 'leased'
    RETURNING id
),
told AS (
    SELECT pg_notify('zermelo_ready', '') WHERE EXISTS (SELECT FROM freed)
)
SELECT (SELECT count(*) FROM freed) AS freed, (SELECT count(*) FROM told) AS told

-- name: ask_for_more
-- Clients want more than is ready: tell the generators.
SELECT pg_notify('zermelo_wanted', '')

-- name: no_work_reason
-- How many campaigns there are in each state, and whether questions wait for other users.
SELECT count(*) FILTER (WHERE state = 'running') AS running,
       count(*) FILTER (WHERE state = 'paused') AS paused,
       EXISTS (
           SELECT FROM workunits WHERE state = 'ready' AND (quorum > 1 OR overdue)
       ) AS others_asked
FROM campaigns

-- name: host_rests
-- Whether a host gets no work for a while after a bad answer.
SELECT coalesce(error_at + {rest_after_errors} > now(), false)
FROM hosts WHERE id = %(host)s

-- name: told_to_volunteers
-- What a client that says hello is told: the operators' notice, and how long a workunit of the
-- running campaigns should take.
SELECT project.notice, coalesce((
    SELECT max(target_seconds) FROM campaigns WHERE state = 'running'
), 0)::float8
FROM project

-- name: questions_of_leases
-- What leases of these hosts are about, as far as it limits what a result may bring along. No
-- row comes back for a lease that its host does not have.
SELECT s.place, c.spec, l.node_budget, coalesce(octet_length(h.history), 0)
FROM unnest(%(host)s::integer[], %(lease)s::bigint[]) WITH ORDINALITY AS s (host, lease, place)
JOIN leases l ON l.id = s.lease AND l.host = s.host
JOIN workunits w ON w.id = l.workunit
JOIN campaigns c ON c.id = w.campaign
LEFT JOIN histories h ON h.node = w.node

-- name: submit_results
-- Store results and end their leases. A result that contradicts itself gives the lease
-- back; one that came before changes nothing; one whose lease or workunit has ended is
-- stored as late. No row comes back for a lease that this host does not have.
WITH sent AS (
    SELECT * FROM unnest(
        %(host)s::integer[], %(lease)s::bigint[], %(answer)s::answer[],
        %(lo)s::smallint[], %(hi)s::smallint[], %(nodes)s::bigint[], %(seconds)s::real[],
        %(proved)s::bytea[]
    ) WITH ORDINALITY AS s (host, lease, answer, lo, hi, nodes, seconds, proved, place)
),
locked AS MATERIALIZED (
    SELECT s.*, l.state AS lease_state, l.probe, w.id AS workunit, w.state AS workunit_state,
           w.campaign, w.threshold,
           EXISTS (SELECT FROM results r WHERE r.lease = s.lease) AS stored_before
    FROM sent s
    JOIN leases l ON l.id = s.lease AND l.host = s.host
    JOIN workunits w ON w.id = l.workunit
    ORDER BY w.id, l.id, s.place
    FOR UPDATE OF l, w
),
judged AS MATERIALIZED (
    SELECT *,
           CASE
               WHEN stored_before OR row_number() OVER (PARTITION BY lease ORDER BY place) > 1
                   THEN 'duplicate'
               WHEN lo > hi OR answer = 'yes' AND lo < threshold
                            OR answer = 'no' AND hi >= threshold
                   THEN 'contradictory'
               WHEN lease_state <> 'open'
                    OR workunit_state NOT IN ('ready', 'leased') AND NOT probe
                   THEN 'late'
               ELSE 'accepted'
           END AS receipt
    FROM locked
),
stored AS (
    INSERT INTO results (lease, workunit, nodes, host, seconds, answer, campaign, lo, hi, late,
                         proved)
    SELECT lease, workunit, nodes, host, seconds, answer, campaign, lo, hi, receipt = 'late',
           proved
    FROM judged
    WHERE receipt IN ('accepted', 'late')
    ON CONFLICT (lease) DO NOTHING
),
ended AS (
    UPDATE leases l
    SET state = CASE WHEN j.receipt = 'contradictory' THEN 'abandoned'::lease_state
                     ELSE 'returned' END,
        ended_at = now(),
        nodes = j.nodes
    FROM judged j
    WHERE l.id = j.lease AND j.lease_state = 'open' AND j.receipt <> 'duplicate'
),
moved AS (
    UPDATE workunits SET state = 'returned'
    WHERE id = ANY (ARRAY (
        SELECT workunit FROM judged
        WHERE receipt IN ('accepted', 'late') AND workunit_state IN ('ready', 'leased')
    ))
),
freed AS (
    UPDATE workunits SET state = 'ready'
    WHERE id = ANY (ARRAY (
        SELECT workunit FROM judged
        WHERE receipt = 'contradictory' AND lease_state = 'open' AND workunit_state = 'leased'
        EXCEPT
        SELECT workunit FROM judged WHERE receipt IN ('accepted', 'late')
    ))
    RETURNING id
),
told AS (
    SELECT pg_notify('zermelo_ready', '') WHERE EXISTS (SELECT FROM freed)
)
SELECT place, receipt, (SELECT count(*) FROM told) AS told FROM judged ORDER BY place

-- name: tell_of_results
-- Results are stored. Not told by the statement that stores them: whoever notifies keeps all
-- others who do from committing, and that one's commit waits for the disk.
SELECT pg_notify('zermelo_results', '')

-- name: heartbeat
-- Note the progress of leases, extend those that made some, and cancel those whose answer
-- nobody needs any more. No row comes back for a lease that this host does not have. Where
-- answers are compared, what is known would tell which questions were answered before.
-- However much progress a lease makes it is over when more nodes were searched than its budget
-- allows, and it is not extended beyond several times what its search was to take.
WITH sent AS (
    SELECT * FROM unnest(%(host)s::integer[], %(lease)s::bigint[], %(nodes)s::bigint[])
         WITH ORDINALITY AS s (host, lease, nodes, place)
),
locked AS MATERIALIZED (
    SELECT s.place, s.lease, s.nodes, l.state, l.workunit, l.nodes AS nodes_before, l.deadline,
           s.nodes > %(most_budgets)s * l.node_budget + %(more_nodes)s AS overspent,
           l.leased_at + (%(lease_seconds)s + %(most_targets)s * c.target_seconds)
                         * interval '1 second' AS last_deadline,
           CASE WHEN c.replication = 'none' THEN n.lo ELSE -c.max_score END AS lo,
           CASE WHEN c.replication = 'none' THEN n.hi ELSE c.max_score END AS hi,
           c.state AS campaign_state,
           w.state NOT IN ('ready', 'leased') AND NOT l.probe AS settled
    FROM sent s
    JOIN leases l ON l.id = s.lease AND l.host = s.host
    JOIN workunits w ON w.id = l.workunit
    JOIN campaigns c ON c.id = w.campaign
    JOIN nodes n ON n.id = w.node
    ORDER BY l.id, s.nodes DESC
    FOR UPDATE OF l
),
judged AS MATERIALIZED (
    SELECT *,
           row_number() OVER (PARTITION BY lease ORDER BY nodes DESC) = 1 AS latest,
           CASE
               WHEN campaign_state IN ('finished', 'cancelled') THEN 'finished'
               WHEN campaign_state = 'paused' THEN 'paused'
               WHEN settled OR state IN ('cancelled', 'returned') THEN 'withdrawn'
               WHEN state <> 'open' THEN 'expired'
               ELSE 'continue'
           END AS directive,
           CASE WHEN overspent THEN least(deadline, now())
                WHEN nodes > nodes_before
                THEN least(now() + %(lease_seconds)s * interval '1 second', last_deadline)
                ELSE deadline END AS new_deadline
    FROM locked
),
changed AS (
    UPDATE leases l
    SET nodes = greatest(l.nodes, j.nodes),
        progress_at = CASE WHEN j.nodes > l.nodes THEN now() ELSE l.progress_at END,
        deadline = j.new_deadline,
        state = CASE WHEN j.directive = 'continue' THEN 'open'::lease_state ELSE 'cancelled' END,
        ended_at = CASE WHEN j.directive <> 'continue' THEN now() END
    FROM judged j
    WHERE l.id = j.lease AND j.latest AND j.state = 'open'
      AND (j.nodes > l.nodes OR j.directive <> 'continue')
),
freed AS (
    -- A paused campaign's work goes back to the queue for the day it goes on.
    UPDATE workunits SET state = 'ready'
    WHERE id = ANY (ARRAY (
              SELECT workunit FROM judged WHERE state = 'open' AND campaign_state <> 'running'
          ))
      AND state::text = 'leased'
)
SELECT place, lease, directive,
       greatest(0, extract(epoch FROM new_deadline - now()) * 1000)::bigint AS lease_ms, lo, hi
FROM judged
ORDER BY place

-- name: return_leases
-- Leases given back: the work is ready again at once. For those that had ended before,
-- only the effort is noted.
WITH sent AS (
    SELECT host, lease, max(nodes) AS nodes
    FROM unnest(%(host)s::integer[], %(lease)s::bigint[], %(nodes)s::bigint[])
         AS s (host, lease, nodes)
    GROUP BY host, lease
),
locked AS MATERIALIZED (
    SELECT l.id, l.workunit, l.state, s.nodes
    FROM sent s
    JOIN leases l ON l.id = s.lease AND l.host = s.host
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
    UPDATE workunits SET state = 'ready'
    WHERE id = ANY (ARRAY (SELECT workunit FROM locked WHERE state = 'open'))
      AND state::text = 'leased'
    RETURNING id
),
told AS (
    SELECT pg_notify('zermelo_ready', '') WHERE EXISTS (SELECT FROM freed)
)
SELECT id, (SELECT count(*) FROM told) AS told FROM locked WHERE state = 'open'

-- name: return_other_leases
-- Hosts start afresh: every lease but those that each holds on to ends here.
WITH held AS (
    SELECT * FROM unnest(%(host)s::integer[], %(lease)s::bigint[]) AS k (host, lease)
),
locked AS MATERIALIZED (
    SELECT id, workunit FROM leases l
    WHERE host = ANY (%(hosts)s::integer[]) AND state = 'open'
      AND NOT EXISTS (SELECT FROM held k WHERE k.host = l.host AND k.lease = l.id)
    ORDER BY id
    FOR UPDATE
),
ended AS (
    UPDATE leases l SET state = 'abandoned', ended_at = now() FROM locked k WHERE l.id = k.id
),
freed AS (
    UPDATE workunits SET state = 'ready'
    WHERE id = ANY (ARRAY (SELECT workunit FROM locked)) AND state::text = 'leased'
    RETURNING id
)
SELECT pg_notify('zermelo_ready', '') WHERE EXISTS (SELECT FROM freed)

-- name: expire_leases
-- Leases that reached their deadline end, and their work is ready again. Where answers are
-- compared each of them takes from the quota of its user what two confirmed answers add. Those
-- of the future end, too, for free: the clock was set back, and nobody knows how old they are.
-- Several coordinators may do this at the same time.
WITH dead AS MATERIALIZED (
    SELECT id, workunit, host, deadline < now() AS late FROM leases
    WHERE state = 'open' AND (deadline < now() OR leased_at > now() + interval '1 minute')
    ORDER BY id
    LIMIT 10000
    FOR UPDATE SKIP LOCKED
),
ended AS (
    UPDATE leases l SET state = 'expired', ended_at = now() FROM dead d WHERE l.id = d.id
),
freed AS (
    UPDATE workunits SET state = 'ready'
    WHERE id = ANY (ARRAY (SELECT workunit FROM dead)) AND state::text = 'leased'
    RETURNING id
),
idle AS (
    SELECT h.user_id, count(*)::integer AS leases
    FROM dead d
    JOIN hosts h ON h.id = d.host
    JOIN workunits w ON w.id = d.workunit
    JOIN campaigns c ON c.id = w.campaign AND c.replication <> 'none'
    WHERE d.late
    GROUP BY h.user_id
),
blamed AS MATERIALIZED (
    SELECT id FROM users
    WHERE id = ANY (ARRAY (SELECT user_id FROM idle)) AND quota > %(least_quota)s
    ORDER BY id FOR NO KEY UPDATE
),
lowered AS (
    UPDATE users u SET quota = greatest(%(least_quota)s, u.quota - 2 * idle.leases)
    FROM idle WHERE u.id = idle.user_id AND u.id = ANY (ARRAY (SELECT id FROM blamed))
),
told AS (
    SELECT pg_notify('zermelo_ready', '') WHERE EXISTS (SELECT FROM freed)
)
SELECT (SELECT count(*) FROM dead) AS expired, (SELECT count(*) FROM told) AS told

-- name: ask_overdue_again
-- Workunits whose lease has lasted far longer than its search should take, by the cost model and
-- by its budget, are ready again for other users; much sooner where nothing as urgent is ready.
-- The lease stays: whoever answers first is believed or checked, as ever.
WITH overdue AS MATERIALIZED (
    SELECT w.id
    FROM leases l
    JOIN workunits w ON w.id = l.workunit
    JOIN campaigns c ON c.id = w.campaign AND c.state = 'running'
    JOIN hosts h ON h.id = l.host
    CROSS JOIN (
        SELECT coalesce(min(priority), 'Infinity') AS priority FROM workunits
        WHERE state = 'ready' AND quorum = 1 AND NOT overdue
    ) AS spare
    CROSS JOIN LATERAL (
        SELECT now() - CASE WHEN w.priority < spare.priority
            THEN %(urgent_seconds)s + least(
                %(urgent_targets)s * c.target_seconds,
                %(urgent_efforts)s * w.expected / greatest(h.speed, 1)
            )
            ELSE %(seconds)s + least(
                %(targets)s * c.target_seconds, %(efforts)s * w.expected / greatest(h.speed, 1)
            ) END * interval '1 second'
    ) AS patience (since)
    WHERE l.state = 'open' AND NOT l.probe AND NOT h.referee AND l.leased_at < patience.since
      AND w.state::text = 'leased'
      AND NOT EXISTS (
          SELECT FROM leases o
          WHERE o.workunit = w.id AND o.state::text = 'open' AND o.leased_at >= patience.since
      )
      AND NOT EXISTS (SELECT FROM holds WHERE w.id = ANY (holds.workunits))
    ORDER BY w.priority, w.id
    LIMIT 1000
    FOR UPDATE OF w SKIP LOCKED
),
freed AS (
    UPDATE workunits SET state = 'ready', overdue = true
    WHERE id = ANY (ARRAY (SELECT id FROM overdue)) AND state::text = 'leased'
    RETURNING id
),
told AS (
    SELECT pg_notify('zermelo_ready', '') WHERE EXISTS (SELECT FROM freed)
)
SELECT (SELECT count(*) FROM freed) AS freed, (SELECT count(*) FROM told) AS told
