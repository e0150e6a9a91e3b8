"""The coordinator: hands out work, takes results, tells clients what to drop.

Any number of them can serve the same database, and each may die at any moment. What one holds in
memory is a copy of what the database knows (accounts, hosts, quotas), calls that wait,
workunits taken out of the queue ahead of calls, which go back when their hold ends, and leases
of the last moment that are not yet written.
"""
