-- Lease numbers are reserved a block at a time and used once.

CREATE TABLE lease_blocks (
    reserved    bigint NOT NULL
);
INSERT INTO lease_blocks SELECT coalesce(max(id) / 65536, 0) FROM leases;
ALTER TABLE leases ALTER COLUMN id DROP IDENTITY;
