-- Sets of states and other expressions, each written once: queries name them in braces. They are
-- pasted as text, because the planner uses a partial index only where it sees the index's own list.

-- name: open_states
-- A question with a workunit in one of these states is not asked by another one; the index
-- workunits_open is over the same list.
('ready', 'leased', 'returned', 'exhausted')

-- name: given_up_states
-- Workunits that ended without an answer; the index workunits_given_up is over the same list.
('split', 'withdrawn')

-- name: rest_after_errors
-- How long a host of the table hosts gets no work after its latest error, by how many it made.
least(errors, 40) ^ 2 * interval '10 minutes'

-- name: contributions_with_those_on_their_way
-- What came of the results of each host in a campaign, and what is still to come of others.
(
    SELECT host, results, accepted, refused, nodes, seconds, last_at FROM contributions
    WHERE campaign = %(campaign)s AND results > 0
    UNION ALL
    SELECT host, 1, 0, 0, 0, seconds, received_at FROM results_on_their_way
    WHERE campaign = %(campaign)s
)

-- name: believed_beside
-- What else is believed about the questions of the results `own`: `backed` are those questions about
-- which others, not of the same kind, say the same; about the rest, answers are `resting` on those.
-- The compared ones are joined by hashes and sorts on purpose: sessions of services join by index
-- alone, and these tables have none.
beside AS MATERIALIZED (
    SELECT lease, workunit, host, answer FROM results
    WHERE workunit = ANY (ARRAY (SELECT workunit FROM own)) AND host <> ALL(%(hosts)s)
      AND state IN ('valid', 'assimilated') AND agreed_lo IS NOT NULL
), backed AS MATERIALIZED (
    SELECT told.workunit
    FROM (
        SELECT workunit, answer, host FROM beside
        UNION ALL
        SELECT workunit, answer, NULL FROM own
        WHERE (workunit IN (SELECT workunit FROM beside)) IS TRUE
    ) AS told LEFT JOIN hosts ON hosts.id = told.host
    GROUP BY told.workunit, told.answer
    HAVING count(*) > count(told.host) AND (
        count(DISTINCT hosts.user_id) >= %(strangers)s
        OR bool_or(hosts.streak >= %(trusted_after)s OR hosts.referee)
    )
), resting AS MATERIALIZED (
    SELECT lease FROM beside WHERE workunit NOT IN (SELECT workunit FROM backed)
)

-- name: contested
-- Answers of these hosts that nobody believes: those that wait for another's, and those that were
-- paid before they were refuted.
contested AS MATERIALIZED (
    SELECT lease, campaign, host, state, credit FROM results
    WHERE host = ANY(%(hosts)s) AND state IN ('unconfirmed', 'invalid')
      AND (state = 'unconfirmed' OR credit > 0)
)
