-- Games that were played on the pages: who played, against what, and on what kind of device.
-- Those of former versions know only the names of both sides.

ALTER TABLE games_played ADD COLUMN person text NOT NULL DEFAULT '';
ALTER TABLE games_played ADD COLUMN opponent text NOT NULL DEFAULT '';
ALTER TABLE games_played ADD COLUMN device text NOT NULL DEFAULT '';
ALTER TABLE games_played ADD COLUMN depth smallint CHECK (depth > 0);
ALTER TABLE games_played ADD COLUMN sitting text UNIQUE;
