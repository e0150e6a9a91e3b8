-- Writing proofs down.

-- name: claims_of_nodes
-- What results prove about nodes, and who sent them.
SELECT claims.node, claims.lo, claims.hi, results.nodes, results.host
FROM claims JOIN results ON results.lease = claims.result
WHERE claims.node = ANY(%s) AND results.state = 'assimilated'
ORDER BY claims.node, claims.result
