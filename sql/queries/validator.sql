-- Deciding which results to believe.

-- name: pending_results
-- Results to judge, with what is known about their question. SKIP LOCKED lets several
-- validators share the work.
SELECT results.lease, results.workunit, results.campaign, results.host, results.answer,
       results.lo, results.hi, results.proved, workunits.threshold, campaigns.max_score,
       campaigns.replication,
       greatest(0, least(workunits.expected, leases.node_budget)
                   - coalesce(partial_credits.nodes, 0)) AS effort
FROM results
JOIN workunits ON workunits.id = results.workunit
JOIN campaigns ON campaigns.id = results.campaign
JOIN leases ON leases.id = results.lease
LEFT JOIN partial_credits ON partial_credits.lease = results.lease
WHERE results.state = 'pending'
ORDER BY results.lease LIMIT %s
FOR UPDATE OF results SKIP LOCKED

-- name: judge_results
-- Where nothing is compared: believed as they are, or refused.
UPDATE results SET state = judged.state, credit = judged.credit
FROM unnest(%(leases)s::bigint[], %(states)s::result_state[], %(credits)s::real[])
     AS judged (lease, state, credit)
WHERE results.lease = judged.lease

-- name: ask_again
-- A refused result answers nothing: its question goes back to the queue.
WITH refused AS (
    SELECT id FROM workunits WHERE id = ANY(%s) AND state = 'returned' ORDER BY id FOR UPDATE
)
UPDATE workunits SET state = 'ready' FROM refused WHERE workunits.id = refused.id

-- name: lock_hosts
-- Whoever changes several hosts locks them in this order, and before all else.
SELECT id FROM hosts WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE

-- name: lock_voters
-- The hosts whose answers to these questions are judged; what they earn or lose meanwhile waits.
SELECT id FROM hosts
WHERE id IN (SELECT host FROM results WHERE workunit = ANY(%s)) ORDER BY id FOR NO KEY UPDATE

-- name: count_users
-- Users whose hosts called within the hour, those of them who are halfway to being trusted, all
-- that are trusted and called within the day (that they sleep leaves nobody else in charge), and
-- whether a referee is at work.
SELECT count(*) FILTER (WHERE active), count(*) FILTER (WHERE active AND tried AND NOT trusted),
       count(*) FILTER (WHERE trusted),
       EXISTS (
           SELECT FROM hosts WHERE referee AND seen_at > now() - interval '2 minutes'
       ) AS refereed
FROM (
    SELECT bool_or(seen_at > now() - interval '1 hour') AS active,
           bool_or(streak >= %(tried_after)s) AS tried,
           bool_or(streak >= %(trusted_after)s) AS trusted
    FROM hosts
    WHERE seen_at > now() - interval '1 day' AND banned_at IS NULL AND NOT referee
    GROUP BY user_id
) AS users

-- name: lock_questions
-- The questions to decide, each by one validator at a time.
SELECT workunits.id, workunits.campaign, workunits.state, workunits.threshold,
       workunits.expected, workunits.quorum, workunits.disputed, campaigns.max_score,
       campaigns.replication, campaigns.quorum, workunits.stakes::float8
FROM workunits JOIN campaigns ON campaigns.id = workunits.campaign
WHERE workunits.id = ANY(%s) ORDER BY workunits.id FOR UPDATE OF workunits

-- name: typical_work
-- What a workunit typically takes, in nodes: the mean of what was expected, in the campaign where
-- that is most. A small campaign beside a large one must not make trust cheap.
SELECT coalesce(max(totals.expected_nodes / totals.workunits), 0)
FROM totals JOIN campaigns ON campaigns.id = totals.campaign
WHERE totals.workunits > 0 AND campaigns.replication <> 'none'
  AND (campaigns.state = 'running' OR campaigns.id = ANY(%s))

-- name: votes
-- All answers to these questions that may still count.
SELECT results.workunit, results.lease, results.host, hosts.user_id, hosts.streak,
       results.state, results.answer, results.lo, results.hi, results.proved, leases.node_budget,
       extract(epoch FROM results.received_at - leases.leased_at)::float8 AS seconds,
       coalesce(partial_credits.nodes, 0)::float8 AS granted, results.credit::float8 AS paid,
       hosts.referee, results.shown,
       hosts.exhausted_confirmed, hosts.exhausted_refuted,
       -- `judge_again` makes late what a ban took.
       results.late AND EXISTS (
           SELECT FROM bans WHERE lifted_at IS NOT NULL AND results.lease = ANY(bans.results)
       ) AS recorded
FROM results JOIN hosts ON hosts.id = results.host JOIN leases ON leases.id = results.lease
LEFT JOIN partial_credits ON partial_credits.lease = results.lease
WHERE results.workunit = ANY(%s)
  AND results.state IN ('pending', 'unconfirmed', 'valid', 'assimilated')
ORDER BY results.lease

-- name: settle_votes
-- What became of answers that were compared.
UPDATE results SET state = settled.state, agreed_lo = settled.lo, agreed_hi = settled.hi,
                   credit = settled.credit, proved = settled.proved
FROM unnest(
    %(leases)s::bigint[], %(states)s::result_state[], %(los)s::smallint[], %(his)s::smallint[],
    %(credits)s::real[], %(proved)s::bytea[]
) AS settled (lease, state, lo, hi, credit, proved)
WHERE results.lease = settled.lease

-- name: settle_questions
-- What becomes of questions whose answers were compared; one that was split may be open again.
WITH settled AS MATERIALIZED (
    SELECT settled.*, workunits.state AS before, workunits.campaign
    FROM unnest(
        %(ids)s::bigint[], %(states)s::workunit_state[], %(quorums)s::smallint[],
        %(disputed)s::boolean[]
    ) AS settled (id, state, quorum, disputed)
    JOIN workunits ON workunits.id = settled.id
), counted AS (
    UPDATE totals SET splits = totals.splits - reopened.splits
    FROM (
        SELECT campaign, count(*) AS splits FROM settled
        WHERE before = 'split' AND state <> 'split' GROUP BY campaign
    ) AS reopened
    WHERE totals.campaign = reopened.campaign
)
UPDATE workunits SET state = settled.state, quorum = settled.quorum, disputed = settled.disputed
FROM settled WHERE workunits.id = settled.id

-- name: ask_restated
-- The sharper bound of an answer becomes a question of its own, unless it is being asked
-- already. Its first answer is that of its host, restated under the negative number
-- of its lease; another user is asked, needed or not.
WITH told AS MATERIALIZED (
    SELECT told.lease, told.threshold, results.workunit, results.host, results.answer,
           results.campaign, results.lo, results.hi, leases.node_budget
    FROM unnest(%(leases)s::bigint[], %(thresholds)s::smallint[]) AS told (lease, threshold)
    JOIN results ON results.lease = told.lease
    JOIN leases ON leases.id = told.lease
    JOIN campaigns ON campaigns.id = results.campaign AND campaigns.state = 'running'
    FOR SHARE OF campaigns SKIP LOCKED -- it does not end meanwhile
), asked AS (
    INSERT INTO workunits (campaign, node, threshold, node_budget, priority, expected, guess,
                           plies_left, ply, known, known_from, quorum, disputed)
    SELECT w.campaign, w.node, told.threshold, w.node_budget, w.priority, w.expected, w.guess,
           w.plies_left, w.ply, w.known, w.known_from, 2, true
    FROM told JOIN workunits AS w ON w.id = told.workunit
    ON CONFLICT (node, threshold) WHERE state IN {open_states}
    DO NOTHING
    RETURNING id, node, threshold, campaign, least(expected, node_budget) AS expected
), restated AS MATERIALIZED (
    SELECT DISTINCT ON (asked.id) asked.id AS workunit, -told.lease AS lease, told.host,
           told.answer, told.campaign, told.lo, told.hi, told.node_budget
    FROM asked
    JOIN told ON told.threshold = asked.threshold
    JOIN workunits AS w ON w.id = told.workunit AND w.node = asked.node
    ORDER BY asked.id, told.lease
), leased AS (
    INSERT INTO leases (id, workunit, host, node_budget, deadline, state, ended_at)
    OVERRIDING SYSTEM VALUE
    SELECT lease, workunit, host, node_budget, now(), 'returned', now() FROM restated
), answered AS (
    INSERT INTO results (lease, workunit, nodes, host, seconds, state, answer, campaign, lo, hi,
                         late)
    SELECT lease, workunit, 0, host, 0, 'unconfirmed', answer, campaign, lo, hi, false
    FROM restated
)
UPDATE totals SET workunits = workunits + counted.asked,
                  expected_nodes = expected_nodes + counted.expected
FROM (
    SELECT campaign, count(*) AS asked, sum(expected) AS expected FROM asked GROUP BY campaign
) AS counted
WHERE totals.campaign = counted.campaign

-- name: may_reopen
-- Whether the campaign goes on, which then does not end meanwhile, and no other workunit asks
-- the same question at the moment.
SELECT campaigns.state = 'running' AND NOT EXISTS (
    SELECT FROM workunits AS twin
    WHERE twin.node = workunits.node AND twin.threshold = workunits.threshold
      AND twin.id <> workunits.id AND twin.state IN {open_states}
)
FROM workunits JOIN campaigns ON campaigns.id = workunits.campaign
WHERE workunits.id = %s FOR SHARE OF campaigns

-- name: note_confirmed
-- Hosts whose answers others confirmed: their record, by the work in them, and their quota grow,
-- and with it that of their users. Who becomes trusted again is forgiven.
WITH confirmed AS (
    UPDATE hosts SET streak = floor(streak + streak_part + told.work),
                     streak_part = (streak_part + told.work) - floor(streak_part + told.work),
                     confirmed = confirmed + told.answers,
                     errors = CASE WHEN streak + streak_part + told.work < %(trusted_after)s
                                   THEN errors ELSE 0 END,
                     quota = least(%(most)s, quota + told.answers),
                     validated_nodes = validated_nodes + told.nodes,
                     validated_seconds = validated_seconds + told.seconds
    FROM unnest(
        %(hosts)s::integer[], %(answers)s::integer[], %(work)s::float8[], %(nodes)s::float8[],
        %(seconds)s::float8[]
    ) AS told (host, answers, work, nodes, seconds)
    WHERE hosts.id = told.host
    RETURNING hosts.user_id, told.answers
), of_users AS (
    SELECT user_id, sum(answers) AS answers FROM confirmed GROUP BY user_id
), locked AS MATERIALIZED (
    SELECT id FROM users WHERE id = ANY (ARRAY (SELECT user_id FROM of_users))
      AND quota < %(most_of_user)s
    ORDER BY id FOR NO KEY UPDATE
)
UPDATE users SET quota = least(%(most_of_user)s, users.quota + of_users.answers)
FROM of_users WHERE users.id = of_users.user_id AND users.id = ANY (ARRAY (SELECT id FROM locked))

-- name: note_exhausted
-- Answers `exhausted` that others confirmed or refuted. Those of whom more than the tolerated
-- share was refuted come back.
WITH shown AS (
    UPDATE results SET shown = told.honest
    FROM unnest(%(leases)s::bigint[], %(honest)s::boolean[]) AS told (lease, honest)
    WHERE results.lease = told.lease
), changed AS (
    UPDATE hosts SET exhausted_confirmed = greatest(0, exhausted_confirmed + told.confirmed),
                     exhausted_refuted = exhausted_refuted + told.refuted
    FROM unnest(%(hosts)s::integer[], %(confirmed)s::integer[], %(refuted)s::integer[])
         AS told (host, confirmed, refuted)
    WHERE hosts.id = told.host AND NOT hosts.referee
    RETURNING hosts.id, exhausted_confirmed, exhausted_refuted
)
SELECT id FROM changed
WHERE exhausted_refuted > greatest(
    %(tolerated)s, %(share)s * (exhausted_confirmed + exhausted_refuted)
)
ORDER BY id

-- name: note_errors
-- One bad answer: the record begins anew, and the quotas of host and user shrink. Coordinators
-- forget the old ones.
WITH erring AS (
    UPDATE hosts SET streak = 0, streak_part = 0, errors = errors + 1, error_at = now(),
                     quota = greatest(1, quota / 4), exhausted_confirmed = 0,
                     exhausted_refuted = 0
    WHERE id = ANY(%(hosts)s) AND NOT referee RETURNING user_id
), of_users AS (
    UPDATE users SET quota = greatest(least(quota, %(least)s), quota / 2)
    WHERE id = ANY (ARRAY (SELECT user_id FROM erring))
)
SELECT pg_notify('zermelo_accounts', '') WHERE EXISTS (SELECT FROM erring)

-- name: doubt_results
-- Everything that is believed on the word of these hosts. What others, not of the same kind,
-- would have answered alike stays in the tree; the rest is to be taken out of it. These hosts are
-- paid for it no more, and it counts no more among their results.
WITH suspect AS MATERIALIZED (
    SELECT lease, workunit, answer FROM results
    WHERE host = ANY(%(hosts)s) AND state IN ('valid', 'assimilated') AND agreed_lo IS NOT NULL
), paid AS MATERIALIZED (
    SELECT lease, host, credit, state FROM results
    WHERE host = ANY(%(hosts)s) AND state IN ('valid', 'assimilated') AND agreed_lo IS NOT NULL
    UNION ALL
    SELECT lease, host, credit, state FROM results
    WHERE host = ANY(%(hosts)s) AND credit > 0
      AND state IN ('unconfirmed', 'invalid')  -- contested after it was paid
), backed AS MATERIALIZED (
    SELECT suspect.workunit
    FROM suspect
    JOIN results AS other ON other.workunit = suspect.workunit AND other.answer = suspect.answer
    JOIN hosts ON hosts.id = other.host
    WHERE other.state IN ('valid', 'assimilated') AND other.agreed_lo IS NOT NULL
      AND other.host <> ALL(%(hosts)s)
    GROUP BY suspect.workunit
    HAVING count(DISTINCT hosts.user_id) >= %(strangers)s
        OR bool_or(hosts.streak >= %(trusted_after)s OR hosts.referee)
), doubted AS (
    UPDATE results SET state = 'doubted',
                       credit = CASE WHEN host = ANY(%(hosts)s) THEN 0 ELSE credit END
    WHERE lease = ANY (ARRAY (
        SELECT lease FROM suspect
        UNION
        SELECT results.lease FROM results
        WHERE results.workunit = ANY (ARRAY (SELECT workunit FROM suspect))
          AND results.workunit <> ALL (ARRAY (SELECT workunit FROM backed))
          AND results.state IN ('valid', 'assimilated') AND results.agreed_lo IS NOT NULL
    ))
    RETURNING campaign
), dropped AS (
    UPDATE results SET state = 'retracted', credit = 0
    WHERE host = ANY(%(hosts)s) AND state = 'unconfirmed'
), refuted AS (
    UPDATE results SET credit = 0
    WHERE lease = ANY (ARRAY (SELECT lease FROM paid WHERE state = 'invalid'))
), taken AS MATERIALIZED (
    -- Out of the newest days and months: a result does not say when it was paid.
    SELECT host, sum(credit) AS credit, count(*) AS results FROM paid GROUP BY host
), revoked_by_day AS (
    UPDATE daily_credits AS d
    SET nodes = d.nodes - least(d.nodes, greatest(0, granted.credit - granted.newer_nodes)),
        results = d.results - least(d.results, greatest(0, granted.count - granted.newer_results))
    FROM (
        SELECT g.host, g.day, g.user_id, taken.credit, taken.results AS count,
               sum(g.nodes) OVER newest - g.nodes AS newer_nodes,
               sum(g.results) OVER newest - g.results AS newer_results
        FROM taken JOIN daily_credits AS g ON g.host = taken.host
        WINDOW newest AS (PARTITION BY g.host ORDER BY g.day DESC, g.user_id)
    ) AS granted
    WHERE (d.host, d.day, d.user_id) = (granted.host, granted.day, granted.user_id)
      AND (granted.credit > granted.newer_nodes OR granted.count > granted.newer_results)
), revoked AS (
    UPDATE credits AS c
    SET nodes = c.nodes - least(c.nodes, greatest(0, granted.credit - granted.newer_nodes)),
        results = c.results - least(c.results, greatest(0, granted.count - granted.newer_results))
    FROM (
        SELECT g.host, g.month, g.team, taken.credit, taken.results AS count,
               sum(g.nodes) OVER newest - g.nodes AS newer_nodes,
               sum(g.results) OVER newest - g.results AS newer_results
        FROM taken JOIN credits AS g ON g.host = taken.host
        WINDOW newest AS (PARTITION BY g.host ORDER BY g.month DESC, g.team)
    ) AS granted
    WHERE (c.host, c.month) = (granted.host, granted.month)
      AND c.team IS NOT DISTINCT FROM granted.team
      AND (granted.credit > granted.newer_nodes OR granted.count > granted.newer_results)
)
SELECT campaign, count(*) FROM doubted GROUP BY campaign

-- name: unanswerable_votes
-- Answers that wait for another user's although nobody will be asked any more.
UPDATE results SET state = 'retracted' FROM workunits
WHERE results.state = 'unconfirmed' AND workunits.id = results.workunit
  AND workunits.state IN ('answered', 'split', 'withdrawn')
