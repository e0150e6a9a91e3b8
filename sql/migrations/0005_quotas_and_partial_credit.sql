-- A limit of leases per user, and credit for long work that ended without a result.

ALTER TABLE users ADD COLUMN quota integer NOT NULL DEFAULT 4096 CHECK (quota >= 1);

ALTER TABLE credits ADD COLUMN partial double precision NOT NULL DEFAULT 0;

CREATE TABLE partial_credits (
    lease       bigint PRIMARY KEY,
    nodes       real NOT NULL CHECK (nodes > 0)
);
