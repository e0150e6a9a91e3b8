-- Sets of states, each written once: queries name them in braces. They are pasted as text,
-- because the planner uses a partial index only where it sees the index's own list.

-- name: open_states
-- A question with a workunit in one of these states is not asked by another one; the index
-- workunits_open is over the same list.
('ready', 'leased', 'returned', 'exhausted')
