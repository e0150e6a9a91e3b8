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
