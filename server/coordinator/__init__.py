"""The coordinator: hands out work, takes results, tells clients what to drop.

It keeps no state of its own, so any number of them can serve the same database.
"""
