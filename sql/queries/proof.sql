-- Writing proofs down.

-- name: evidence_of_nodes
-- What results prove about nodes, and who sent them.
SELECT evidence.node, evidence.lo, evidence.hi, results.nodes, results.host
FROM evidence JOIN results ON results.lease = evidence.result
WHERE evidence.node = ANY(%s) AND results.state = 'assimilated'
ORDER BY evidence.node, evidence.result

-- name: owners_of_hosts
SELECT hosts.id, users.name FROM hosts JOIN users ON users.id = hosts.user_id
