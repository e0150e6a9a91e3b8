-- New users begin with few leases. Names that look alike are found by what they look like; those
-- there are already are known by their small letters alone.

ALTER TABLE users ALTER COLUMN quota SET DEFAULT 32;
ALTER TABLE users ADD COLUMN look text NOT NULL DEFAULT '';
UPDATE users SET look = lower(normalize(name, NFKC));
CREATE INDEX users_look ON users (look);
