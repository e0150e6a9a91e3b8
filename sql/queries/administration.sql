-- What operators look at and act on.

-- name: list_hosts
SELECT hosts.id, users.name AS user, hosts.name, hosts.version, hosts.workers, hosts.speed,
       hosts.streak, hosts.confirmed, hosts.errors, hosts.quota, hosts.seen_at, hosts.error_at,
       hosts.banned_at, hosts.cores, hosts.memory_mb, hosts.platform, hosts.referee, (
           SELECT count(*) FROM leases WHERE leases.host = hosts.id AND leases.state = 'open'
       ) AS open_leases, (
           SELECT coalesce(sum(nodes), 0) FROM credits WHERE credits.host = hosts.id
       ) / 1e6 AS credit
FROM hosts JOIN users ON users.id = hosts.user_id
WHERE %(host)s::integer IS NULL OR hosts.id = %(host)s
ORDER BY hosts.seen_at DESC LIMIT %(most)s

-- name: host_results
-- The newest results of a host. Those on their way into the tree are looked for among all that are.
SELECT found.lease, found.workunit, found.received_at, found.state, found.answer,
       found.lo, found.hi, found.nodes, found.credit / 1e6 AS credit
FROM (
    (SELECT * FROM results WHERE host = %(host)s AND state NOT IN ('pending', 'valid')
     ORDER BY lease DESC LIMIT %(most)s)
    UNION ALL
    SELECT * FROM results WHERE host = %(host)s AND state = 'pending'
    UNION ALL
    SELECT * FROM results WHERE host = %(host)s AND state = 'valid'
) AS found
ORDER BY found.lease DESC LIMIT %(most)s

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
UPDATE hosts SET banned_at = CASE WHEN %(banned)s THEN now() END
WHERE id = %(host)s AND (%(banned)s OR banned_at IS NOT NULL)

-- name: set_user_ban
UPDATE users SET banned_at = CASE WHEN %(banned)s THEN now() END
WHERE id = %(user)s AND (%(banned)s OR banned_at IS NOT NULL)

-- name: owner_of_host
SELECT users.id, users.name FROM hosts JOIN users ON users.id = hosts.user_id
WHERE hosts.id = %(host)s

-- name: hosts_of_user
SELECT id FROM hosts WHERE user_id = %(user)s ORDER BY id

-- name: record_ban
-- A ban, and the records that its hosts had before it; of hosts that are banned already, before
-- the first ban in force. What it took is told later.
WITH ban AS (
    INSERT INTO bans (host, user_id, actor, reason, results, user_quota)
    SELECT %(host)s, users.id, %(actor)s, %(reason)s, '{}', users.quota
    FROM users WHERE users.id = %(user)s
    RETURNING id
), kept AS (
    INSERT INTO ban_records (ban, host, streak, streak_part, errors, error_at, quota,
                             exhausted_confirmed, exhausted_refuted, partial)
    SELECT DISTINCT ON (record.host)
           ban.id, record.host, streak, streak_part, errors, error_at, quota,
           exhausted_confirmed, exhausted_refuted, (
               SELECT coalesce(sum(partial), 0) FROM credits WHERE credits.host = record.host
           )
    FROM ban CROSS JOIN (
        SELECT host, streak, streak_part, errors, error_at, quota, exhausted_confirmed,
               exhausted_refuted, ban AS former
        FROM ban_records
        WHERE host = ANY(%(hosts)s)
          AND ban IN (SELECT id FROM bans WHERE user_id = %(user)s AND lifted_at IS NULL)
        UNION ALL
        SELECT id, streak, streak_part, errors, error_at, quota, exhausted_confirmed,
               exhausted_refuted, NULL
        FROM hosts WHERE id = ANY(%(hosts)s)
    ) AS record
    ORDER BY record.host, former NULLS LAST
)
SELECT id FROM ban

-- name: preview_ban
-- What a ban would take: open leases, results of these hosts and of others, bounds that rest on them,
-- credit. Credit goes as `revoke_partial_credit` and `revoke_credit` take it.
WITH own AS MATERIALIZED (
    SELECT lease, workunit, host, answer, credit FROM results
    WHERE host = ANY(%(hosts)s) AND state IN ('valid', 'assimilated') AND agreed_lo IS NOT NULL
), {believed_beside}, {contested}, taken AS MATERIALIZED (
    SELECT lease FROM own UNION ALL SELECT lease FROM resting
), lost AS (
    SELECT sum(sums.nodes) AS credit,
           sum(sums.nodes - greatest(0, sums.for_results - coalesce(paid.credit, 0))) AS lost
    FROM (
        SELECT host, sum(nodes) AS nodes, sum(greatest(0, nodes - partial)) AS for_results
        FROM credits WHERE host = ANY(%(hosts)s) GROUP BY host
    ) AS sums
    LEFT JOIN (
        SELECT host, sum(credit) AS credit FROM (
            SELECT host, credit FROM own UNION ALL SELECT host, credit FROM contested
        ) AS each GROUP BY host
    ) AS paid USING (host)
)
SELECT (SELECT count(*) FROM leases WHERE host = ANY(%(hosts)s) AND state = 'open'),
       (SELECT count(*) FROM own)
           + (SELECT count(*) FROM contested WHERE state = 'unconfirmed'),
       (SELECT count(*) FROM resting),
       (SELECT count(DISTINCT node) FROM evidence
        WHERE result = ANY (ARRAY (SELECT lease FROM taken))),
       coalesce(credit, 0)::float8 / 1e6, coalesce(lost, 0)::float8 / 1e6
FROM lost

-- name: lift_bans
-- End the bans of a host (or, without one, of a user with all hosts), and say which they were.
UPDATE bans SET lifted_at = now()
WHERE user_id = %(user)s AND host IS NOT DISTINCT FROM %(host)s::integer AND lifted_at IS NULL
RETURNING id, results, user_quota

-- name: return_records
-- The records that hosts had before a ban. Errors since then stay.
WITH former AS (
    UPDATE hosts SET streak = ban_records.streak, streak_part = ban_records.streak_part,
                     errors = greatest(ban_records.errors, hosts.errors - 1),
                     error_at = ban_records.error_at,
                     quota = greatest(ban_records.quota, hosts.quota),
                     exhausted_confirmed = ban_records.exhausted_confirmed,
                     exhausted_refuted = ban_records.exhausted_refuted
    FROM ban_records WHERE ban_records.ban = %(ban)s AND hosts.id = ban_records.host
    RETURNING hosts.user_id
)
UPDATE users SET quota = greatest(quota, %(user_quota)s)
WHERE id = ANY (ARRAY (SELECT user_id FROM former))

-- name: campaigns_in_doubt
-- The campaigns in which some of these results wait to be taken out of the tree.
SELECT DISTINCT campaigns.name FROM results JOIN campaigns ON campaigns.id = results.campaign
WHERE results.lease = ANY(%(results)s) AND results.state = 'doubted'

-- name: judge_again
-- Answers that a ban took are answers again that the validator has not looked at: it decides anew,
-- with what others said meanwhile. None is paid more than before the ban. Answers of others who had
-- agreed kept their credit, and stay out: they would be paid twice. So does what was found with bounds that are not believed now.
UPDATE results SET state = 'pending', agreed_lo = NULL, agreed_hi = NULL, late = true,
                   former_credit = coalesce(former_credit, 'Infinity')
FROM workunits
WHERE results.lease = ANY(%(results)s) AND results.state = 'retracted' AND results.credit = 0
  AND workunits.id = results.workunit
  AND NOT EXISTS (
      SELECT FROM results AS source
      WHERE source.lease = ANY(workunits.known_from)
        AND source.state NOT IN ('valid', 'assimilated')
  )
RETURNING results.lease

-- name: list_alarms
SELECT alarms.id, campaigns.name AS campaign, alarms.kind, alarms.node, alarms.result,
       alarms.detail, alarms.raised_at, alarms.settled_at, alarms.settled_by, alarms.settled_reason
FROM alarms JOIN campaigns ON campaigns.id = alarms.campaign
WHERE %(settled)s OR alarms.settled_at IS NULL ORDER BY alarms.id DESC LIMIT %(most)s

-- name: settle_alarm
UPDATE alarms SET settled_at = now(), settled_by = %(actor)s, settled_reason = %(reason)s
WHERE id = %(alarm)s AND settled_at IS NULL RETURNING id

-- name: find_alarm
SELECT settled_by FROM alarms WHERE id = %(alarm)s

-- name: show_project
SELECT registration_open, notice, web_url FROM project

-- name: set_project
UPDATE project SET registration_open = coalesce(%(registration_open)s, registration_open),
                   notice = coalesce(%(notice)s, notice),
                   web_url = coalesce(%(web_url)s, web_url)

-- name: waiting_results
-- What waits for each service, and how long the oldest has waited.
SELECT CASE state WHEN 'pending' THEN 'validator' WHEN 'unconfirmed' THEN 'other users'
                  ELSE 'assimilator' END AS service,
       count(*) AS waiting, extract(epoch FROM now() - min(received_at))::float8 AS oldest_seconds
FROM results_on_their_way GROUP BY 1
UNION ALL
SELECT 'generator', count(*), extract(epoch FROM now() - max(received.at))::float8
FROM workunits
CROSS JOIN LATERAL (
    SELECT max(received_at) AS at FROM results WHERE results.workunit = workunits.id
) AS received
WHERE workunits.state = 'exhausted' HAVING count(*) > 0

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
SELECT state, count(*) FROM results_on_their_way GROUP BY 1

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

-- name: measured_size
SELECT pg_database_size(current_database())

-- name: measured_services
-- How many processes of each service have a connection.
SELECT service, (SELECT count(*) FROM pg_stat_activity
                 WHERE datname = current_database() AND application_name = 'zermelo ' || service)
FROM unnest(%s::text[]) AS service

-- name: owns_tables
-- Whether this login has the rights of the owner of the tables.
SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass('campaigns')

-- name: create_roles
-- Services may read and write rows, researchers read, and the pages store finished games; none may
-- change the schema. Researchers see no tokens, links to sign in by and digests. Give them to logins: GRANT zermelo_research TO somebody.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'zermelo_service') THEN
        CREATE ROLE zermelo_service NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'zermelo_research') THEN
        CREATE ROLE zermelo_research NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'zermelo_web') THEN
        CREATE ROLE zermelo_web NOLOGIN;
    END IF;
    REVOKE CREATE ON SCHEMA public FROM PUBLIC;
    GRANT USAGE ON SCHEMA public TO zermelo_service, zermelo_research, zermelo_web;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO zermelo_service;
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO zermelo_service;
    -- The audit is written once and never changed.
    REVOKE UPDATE, DELETE ON audit, schema_migrations FROM zermelo_service;
    REVOKE INSERT ON schema_migrations FROM zermelo_service;
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO zermelo_research;
    REVOKE SELECT ON tokens, sign_ins, hosts, users FROM zermelo_research;
    GRANT SELECT (id, user_id, name, version, workers, speed, created_at, seen_at, streak,
                  confirmed, errors, error_at, quota, banned_at, referee, cores, memory_mb,
                  platform) ON hosts TO zermelo_research;
    GRANT SELECT (id, name, role, created_at, team, team_since, banned_at, deleted_at, quota,
                  look) ON users TO zermelo_research;
    GRANT SELECT, INSERT ON games_played TO zermelo_web;
END
$$
