-- The schema itself, and locks.

-- name: schema_exists
-- Whether this database was ever given a schema.
SELECT to_regclass('schema_migrations') IS NOT NULL

-- name: schema_version
SELECT coalesce(max(version), 0) FROM schema_migrations

-- name: record_migration
INSERT INTO schema_migrations (version, name) VALUES (%s, %s)

-- name: lock_transaction
-- Wait for a lock that the end of the transaction releases.
SELECT pg_advisory_xact_lock(%s)

-- name: try_lock_session
-- Take a lock that lives as long as the connection, or tell that somebody else has it.
SELECT pg_try_advisory_lock(%s, %s)

-- name: unlock_session
SELECT pg_advisory_unlock(%s, %s)
