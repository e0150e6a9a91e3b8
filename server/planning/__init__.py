"""Choosing what to ask next.

`costs` says what a question is expected to take, `questions` holds the graph of open
ones, `planner` ranks them, all without a database; `campaign_plan` keeps the three in
step with PostgreSQL.
"""
