"""The tree of a campaign in PostgreSQL.

`identity` names nodes, `tree` reads and expands them, `backup` carries bounds from the
children to their parents.
"""
