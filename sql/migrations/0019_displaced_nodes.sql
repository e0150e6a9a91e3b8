-- Serves programs from version 18 on.
-- Two positions whose hashes collide no longer stop a campaign: the later one has its next hash for
-- a name, and what it gave way to is kept here.
CREATE TABLE displaced_nodes (
    node        bigint NOT NULL,
    held        bigint NOT NULL,
    PRIMARY KEY (node, held)
);
CREATE INDEX displaced_nodes_held ON displaced_nodes (held);
