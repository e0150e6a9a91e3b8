-- What pages show besides the queries of researchers. Nothing here changes anything.

-- name: take_research_role
-- Pages need no more rights than researchers have. The role is the whole cluster's: it is taken
-- only where it has its rights in this database, the newest ones too.
SELECT set_config('role', rolname, false) FROM pg_roles
WHERE rolname = 'zermelo_research' AND pg_has_role(oid, 'MEMBER')
  AND has_table_privilege(oid, to_regclass('contributions'), 'SELECT')

-- name: take_web_role
-- The rights to store a finished game, and no others, where the role has them in this database;
-- no statement takes more milliseconds than this.
SELECT set_config('statement_timeout', %s, false), (
    SELECT set_config('role', rolname, false) FROM pg_roles
    WHERE rolname = 'zermelo_web' AND pg_has_role(oid, 'MEMBER')
      AND has_table_privilege(oid, to_regclass('games_played'), 'INSERT')
)

-- name: campaign_headings
-- What a list of campaigns tells besides where they stand: speed of the last minute, and how
-- many volunteers are at work now.
SELECT campaigns.name, campaigns.created_at, campaigns.finished_at,
       campaigns.claim_lo IS NOT NULL AS is_claim, coalesce(recent.speed, 0)::float8 AS speed,
       coalesce(active.users, 0) AS users
FROM campaigns
LEFT JOIN LATERAL (
    SELECT (max(nodes) - min(nodes)) / nullif(extract(epoch FROM max(at) - min(at)), 0) AS speed
    FROM progress
    WHERE progress.campaign = campaigns.id AND at > now() - interval '1 minute'
) AS recent ON campaigns.state = 'running'
LEFT JOIN (
    SELECT workunits.campaign, count(DISTINCT hosts.user_id) AS users
    FROM leases
    JOIN workunits ON workunits.id = leases.workunit
    JOIN hosts ON hosts.id = leases.host
    WHERE leases.state = 'open'
    GROUP BY workunits.campaign
) AS active ON active.campaign = campaigns.id
ORDER BY campaigns.id

-- name: project_totals
-- Volunteers and their hosts, without the referee; answered questions, counted as
-- `campaign_standings` counts those of a campaign.
SELECT (
           SELECT count(*) FROM users
           WHERE role = 'volunteer' AND deleted_at IS NULL
             AND id NOT IN (SELECT user_id FROM hosts WHERE referee)
       ),
       (SELECT count(*) FROM hosts WHERE NOT referee),
       (SELECT count(*) FROM hosts
        WHERE NOT referee AND seen_at > now() - interval '10 minutes'),
       coalesce(sum(nodes), 0)::bigint,
       greatest(0, coalesce(sum(workunits - splits - withdrawn), 0)::bigint
                   - (SELECT count(*) FROM workunits WHERE state IN {open_states}))
FROM totals

-- name: running_searches
-- What hosts search at the moment, the newest leases first.
SELECT leases.workunit, workunits.threshold, workunits.ply, workunits.expected::float8,
       leases.nodes, leases.leased_at, users.name AS user_name, nodes.position, histories.history
FROM leases
JOIN workunits ON workunits.id = leases.workunit
JOIN nodes ON nodes.id = workunits.node
JOIN hosts ON hosts.id = leases.host
JOIN users ON users.id = hosts.user_id
LEFT JOIN histories ON histories.node = workunits.node
WHERE leases.state = 'open' AND workunits.campaign = %(campaign)s
ORDER BY leases.id DESC LIMIT %(most)s

-- name: tests_of_campaign
-- The tests at the root, in the order in which they began.
SELECT threshold, started_at, ended_at, answer FROM tests
WHERE campaign = %(campaign)s ORDER BY started_at, threshold

-- name: claim_lists
-- The names under which claims were imported, how many they are, and how many are decided.
SELECT regexp_replace(name, '/[0-9]+$', '') AS list, min(spec) AS spec, count(*) AS claims,
       count(*) FILTER (WHERE nodes.lo >= claim_lo AND nodes.hi <= claim_hi) AS confirmed,
       count(*) FILTER (WHERE nodes.hi < claim_lo OR nodes.lo > claim_hi) AS refuted
FROM campaigns JOIN nodes ON nodes.id = campaigns.root
WHERE claim_lo IS NOT NULL
GROUP BY 1 ORDER BY min(campaigns.id)

-- name: latest_events
-- Campaigns that began or were finished, the newest first.
SELECT name, spec, what, at, lo, hi FROM (
    SELECT campaigns.name, spec, 'finished' AS what, finished_at AS at, nodes.lo, nodes.hi
    FROM campaigns JOIN nodes ON nodes.id = campaigns.root WHERE finished_at IS NOT NULL
    UNION ALL
    SELECT campaigns.name, spec, 'began', campaigns.created_at, nodes.lo, nodes.hi
    FROM campaigns JOIN nodes ON nodes.id = campaigns.root WHERE claim_lo IS NULL
) AS events
ORDER BY at DESC, name LIMIT %(most)s
