-- While a newer program has migrated the database already, programs of the former version may go
-- on if the migration says so: `serves` is the oldest version whose programs still work. Unknown
-- for what was applied before.

ALTER TABLE schema_migrations ADD COLUMN serves integer;
