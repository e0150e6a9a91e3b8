-- What operators look at and act on.

-- name: list_hosts
SELECT hosts.id, users.name AS user, hosts.name, hosts.version, hosts.workers, hosts.speed,
       hosts.streak, hosts.confirmed, hosts.errors, hosts.quota, hosts.seen_at, hosts.error_at,
       hosts.banned_at, (
           SELECT count(*) FROM leases WHERE leases.host = hosts.id AND leases.state = 'open'
       ) AS open_leases, (
           SELECT coalesce(sum(nodes), 0) FROM credits WHERE credits.host = hosts.id
       ) / 1e6 AS credit
FROM hosts JOIN users ON users.id = hosts.user_id
WHERE %(host)s::integer IS NULL OR hosts.id = %(host)s
ORDER BY hosts.seen_at DESC LIMIT %(most)s

-- name: host_results
SELECT results.lease, results.workunit, results.received_at, results.state, results.answer,
       results.lo, results.hi, results.nodes, results.credit
FROM results WHERE results.host = %(host)s ORDER BY results.lease DESC LIMIT %(most)s

-- name: asked_workunit
SELECT workunits.id, campaigns.name AS campaign, workunits.node, workunits.threshold,
       workunits.state, workunits.quorum, workunits.disputed, workunits.expected,
       workunits.created_at, nodes.lo, nodes.hi
FROM workunits JOIN campaigns ON campaigns.id = workunits.campaign
JOIN nodes ON nodes.id = workunits.node
WHERE workunits.id = %(workunit)s

-- name: workunit_history
-- Every lease of a workunit and what came back.
SELECT leases.id AS lease, leases.host, users.name AS user, leases.leased_at, leases.ended_at,
       leases.state AS lease_state, leases.probe, results.state, results.answer, results.lo,
       results.hi, results.nodes
FROM leases JOIN hosts ON hosts.id = leases.host JOIN users ON users.id = hosts.user_id
LEFT JOIN results ON results.lease = leases.id
WHERE leases.workunit = %(workunit)s ORDER BY leases.id

-- name: believed_results
SELECT lease FROM results
WHERE workunit = %(workunit)s AND state IN ('valid', 'assimilated') ORDER BY lease

-- name: doubt_these
UPDATE results SET state = 'doubted' WHERE lease = ANY(%(results)s)

-- name: set_host_ban
UPDATE hosts SET banned_at = CASE WHEN %(banned)s THEN now() END WHERE id = %(host)s
RETURNING id

-- name: set_user_ban
UPDATE users SET banned_at = CASE WHEN %(banned)s THEN now() END WHERE id = %(user)s

-- name: hosts_of_user
SELECT id FROM hosts WHERE user_id = %(user)s ORDER BY id

-- name: end_leases_of
-- The open leases of banned hosts; their work is ready for others.
WITH ended AS (
    UPDATE leases SET state = 'cancelled', ended_at = now()
    WHERE host = ANY(%(hosts)s) AND state = 'open' RETURNING workunit
)
UPDATE workunits SET state = 'ready' FROM ended
WHERE workunits.id = ended.workunit AND workunits.state = 'leased'

-- name: measured_queue
-- The open workunits of running campaigns by state, and the age of the oldest of each.
SELECT campaigns.name, workunits.state, count(*),
       extract(epoch FROM now() - min(workunits.created_at))::float8
FROM workunits JOIN campaigns ON campaigns.id = workunits.campaign AND campaigns.state = 'running'
WHERE workunits.state IN {open_states}
GROUP BY 1, 2

-- name: measured_backlog
-- Results that wait for the validator, for another user, or for the assimilator.
SELECT state, count(*) FROM results
WHERE state IN ('pending', 'unconfirmed', 'valid', 'doubted') GROUP BY 1

-- name: measured_hosts
-- Hosts seen lately, by how far they are trusted.
SELECT CASE WHEN banned_at IS NOT NULL THEN 'banned' WHEN streak >= %(trusted_after)s THEN 'trusted'
            WHEN errors > 0 THEN 'found lying' ELSE 'new' END, count(*)
FROM hosts WHERE seen_at > now() - interval '10 minutes' AND NOT referee GROUP BY 1

-- name: measured_trouble
SELECT (SELECT count(*) FROM workunits
        WHERE disputed AND state IN {open_states}),
       (SELECT count(*) FROM alarms WHERE settled_at IS NULL),
       (SELECT count(*) FROM audit WHERE action = 'convict'),
       (SELECT count(*) FROM audit WHERE action = 'retract')

-- name: measured_work
SELECT campaigns.name, totals.nodes, totals.wasted_nodes, totals.checking_nodes, totals.answered
FROM totals JOIN campaigns ON campaigns.id = totals.campaign
WHERE campaigns.state IN ('running', 'paused')

-- name: create_roles
-- Services may read and write rows, researchers read; neither may change the schema, and
-- researchers see no tokens. Give them to logins: GRANT zermelo_research TO somebody.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'zermelo_service') THEN
        CREATE ROLE zermelo_service NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'zermelo_research') THEN
        CREATE ROLE zermelo_research NOLOGIN;
    END IF;
    REVOKE CREATE ON SCHEMA public FROM PUBLIC;
    GRANT USAGE ON SCHEMA public TO zermelo_service, zermelo_research;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO zermelo_service;
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO zermelo_service;
    -- The audit is written once and never changed.
    REVOKE UPDATE, DELETE ON audit, schema_migrations FROM zermelo_service;
    REVOKE INSERT ON schema_migrations FROM zermelo_service;
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO zermelo_research;
    REVOKE SELECT ON tokens FROM zermelo_research;
    REVOKE SELECT ON hosts FROM zermelo_research;
    GRANT SELECT (id, user_id, name, version, workers, speed, created_at, seen_at, streak,
                  confirmed,
                  errors) ON hosts TO zermelo_research;
END
$$
