-- Serves programs from version 18 on.
-- Every change of a workunit's state wrote the index of its node, which is asked for open questions,
-- which have an index of their own, and for those that were given up. Nobody asks for a single change.
DROP INDEX workunits_node;
CREATE INDEX workunits_given_up ON workunits (node) WHERE state IN ('split', 'withdrawn');
ALTER TABLE node_changes DROP CONSTRAINT node_changes_pkey;
