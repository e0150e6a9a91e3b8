-- Names of teams that look alike are found by what they look like, as those of users are; those
-- there are already are known by their small letters alone.

ALTER TABLE teams ADD COLUMN look text NOT NULL DEFAULT '';
UPDATE teams SET look = lower(normalize(name, NFKC));
CREATE INDEX teams_look ON teams (look);
