"""The coordinator: hands out work, takes results, tells clients what to drop.

Any number of them can serve the same database, and each may die at any moment. What one keeps
in memory is a cache of the database, or work taken out of the queue ahead of calls, which goes
back when its hold ends.
"""
