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
-- All answers to these questions that may still count, of those that nobody has judged yet only
-- these: another validator may have locked the others, and waits for us. It looks at all of them
-- when its turn comes.
SELECT results.workunit, results.lease, results.host, hosts.user_id, hosts.streak,
       results.state, results.answer, results.lo, results.hi, results.proved, leases.node_budget,
       extract(epoch FROM results.received_at - leases.leased_at)::float8 AS seconds,
       coalesce(partial_credits.nodes, 0)::float8 AS granted, results.credit::float8 AS paid,
       hosts.referee, results.shown,
       hosts.exhausted_confirmed, hosts.exhausted_refuted, results.former_credit::float8
FROM results JOIN hosts ON hosts.id = results.host JOIN leases ON leases.id = results.lease
LEFT JOIN partial_credits ON partial_credits.lease = results.lease
WHERE results.workunit = ANY(%(workunits)s)
  AND (results.state IN ('unconfirmed', 'valid', 'assimilated') OR results.lease = ANY(%(leases)s))
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
    -- What a ban took that was lifted is judged again, and was restated before.
    WHERE NOT EXISTS (SELECT FROM leases AS restated WHERE restated.id = -told.lease)
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
-- paid for it no more, and it counts no more among their results. What a ban takes is noted there.
-- What comes back is, by campaign and host, how many results are in doubt, and what was granted for
-- how many of them: 0 to others.
WITH own AS (
    UPDATE results SET state = 'doubted', former_credit = credit, credit = 0
    WHERE host = ANY(%(hosts)s) AND state IN ('valid', 'assimilated') AND agreed_lo IS NOT NULL
    RETURNING lease, workunit, host, campaign, answer, former_credit AS credit
), {believed_beside}, {contested}, of_others AS (
    UPDATE results SET state = 'doubted', former_credit = credit
    WHERE lease = ANY (ARRAY (SELECT lease FROM resting))
    RETURNING lease, host, campaign
), dropped AS (
    UPDATE results
    SET state = CASE state WHEN 'unconfirmed' THEN 'retracted' ELSE state END, credit = 0,
        former_credit = CASE WHEN credit > 0 THEN credit ELSE former_credit END
    WHERE lease = ANY (ARRAY (SELECT lease FROM contested))
    RETURNING lease, state
), noted AS (
    UPDATE bans SET results = ARRAY (
        SELECT lease FROM own
        UNION ALL SELECT lease FROM of_others
        UNION ALL SELECT lease FROM dropped WHERE state = 'retracted'
        ORDER BY lease
    )
    WHERE id = %(ban)s::bigint
)
SELECT campaign, host, count(*) FILTER (WHERE in_doubt), sum(credit)::float8,
       count(*) FILTER (WHERE paid)
FROM (
    SELECT campaign, host, true AS in_doubt, credit, true AS paid FROM own
    UNION ALL SELECT campaign, host, true, 0, false FROM of_others
    UNION ALL SELECT campaign, host, false, credit, credit > 0 FROM contested
) AS taken
GROUP BY campaign, host

-- name: unanswerable_votes
-- Answers that wait for another user's although nobody will be asked any more. Those that somebody
-- is judging are left to him.
WITH unanswerable AS (
    SELECT results.lease FROM results JOIN workunits ON workunits.id = results.workunit
    WHERE results.state = 'unconfirmed' AND workunits.state IN ('answered', 'split', 'withdrawn')
    FOR NO KEY UPDATE OF results SKIP LOCKED
)
UPDATE results SET state = 'retracted'
WHERE lease = ANY (ARRAY (SELECT lease FROM unanswerable))
