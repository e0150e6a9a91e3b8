-- The schema itself, and locks.

-- name: setting_names
-- The settings that this version of PostgreSQL has.
SELECT name FROM pg_settings

-- name: is_replica
SELECT pg_is_in_recovery()

-- name: schema_exists
-- Whether this database was ever given a schema.
SELECT to_regclass('schema_migrations') IS NOT NULL

-- name: schema_version
SELECT coalesce(max(version), 0) FROM schema_migrations

-- name: schema_serves
-- The oldest version whose programs work with what was migrated after this version.
SELECT max(coalesce(serves, version)) FROM schema_migrations WHERE version > %s

-- name: limit_waiting
-- Give up waiting for a table after so long: everybody else would wait behind us.
SELECT set_config('lock_timeout', %s, true)

-- name: record_migration
INSERT INTO schema_migrations (version, name, serves) VALUES (%s, %s, %s)

-- name: renumber_leases
-- Go on with lease numbers that no lost future has used: clients may hold leases from after
-- the moment this database shows, and their results must not be taken for others.
UPDATE lease_blocks SET reserved = reserved + (1 << 24) RETURNING reserved

-- name: lock_transaction
-- Wait for a lock that the end of the transaction releases.
SELECT pg_advisory_xact_lock(%s)

-- name: try_lock_session
-- Take a lock that lives as long as the connection, or tell that somebody else has it.
SELECT pg_try_advisory_lock(%s, %s)

-- name: name_session
-- By this name others see who is connected.
SELECT set_config('application_name', %s, false)

-- name: unlock_session
SELECT pg_advisory_unlock(%s, %s)

-- name: plan_by_index
-- This session's statements find rows by index, a batch at a time. Their plans hold however
-- large the tables become, so they are made once: making them takes longer than running them.
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off

-- name: commit_lazily
-- This session's commits do not wait for the disk. A crash of PostgreSQL may undo the latest
-- of them, in the order in which they were made and nothing in between; a session that waits
-- takes all earlier ones to the disk with it. For work that is simply done again.
SET synchronous_commit = off

-- name: read_only
-- This session changes nothing, and no statement of it takes more milliseconds than this.
SELECT set_config('default_transaction_read_only', 'on', false),
       set_config('statement_timeout', %s, false)
