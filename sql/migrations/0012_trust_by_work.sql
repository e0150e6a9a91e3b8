-- Trust is confirmed work: streaks count in typical workunits. What stands behind `exhausted`
-- answers is recorded, questions say how much rests on their answer, the server's own referee has
-- a host, and totals contain the nodes of every result.
ALTER TABLE hosts ADD COLUMN streak_part real NOT NULL DEFAULT 0,
                  ADD COLUMN exhausted_confirmed integer NOT NULL DEFAULT 0,
                  ADD COLUMN exhausted_refuted integer NOT NULL DEFAULT 0,
                  ADD COLUMN abandoned integer NOT NULL DEFAULT 0,
                  ADD COLUMN referee boolean NOT NULL DEFAULT false;
CREATE UNIQUE INDEX hosts_referee ON hosts (referee) WHERE referee;
ALTER TABLE workunits ADD COLUMN stakes real NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN expected_nodes double precision NOT NULL DEFAULT 0;
UPDATE totals SET expected_nodes = (
    SELECT coalesce(sum(least(expected, node_budget)), 0) FROM workunits
    WHERE workunits.campaign = totals.campaign
);
-- What was refused or retracted in former versions is left at that.
ALTER TABLE results ADD COLUMN counted boolean NOT NULL DEFAULT true,
                    ADD COLUMN shown boolean;
ALTER TABLE results ALTER COLUMN counted SET DEFAULT false;
UPDATE results SET counted = false WHERE state IN ('pending', 'unconfirmed', 'valid');
CREATE INDEX results_uncounted ON results (campaign)
    WHERE NOT counted AND state IN ('invalid', 'retracted');
