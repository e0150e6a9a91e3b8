-- New users begin with very few leases. What takes its host too long is asked of other users, and
-- of them alone. Who has more than it began with keeps it. What a proof rests on is found by its
-- stakes.
ALTER TABLE users ALTER COLUMN quota SET DEFAULT 2;
ALTER TABLE workunits ADD COLUMN overdue boolean NOT NULL DEFAULT false;
DROP INDEX workunits_ready;
DROP INDEX workunits_again;
CREATE INDEX workunits_ready ON workunits (priority, id)
    WHERE state = 'ready' AND quorum = 1 AND NOT overdue;
CREATE INDEX workunits_again ON workunits (priority, id)
    WHERE state = 'ready' AND (quorum > 1 OR overdue);
CREATE INDEX workunits_crucial ON workunits (id) WHERE state = 'answered' AND stakes = 'Infinity';
