"""A fleet of volunteers in virtual time, for `bench/fleet.py`."""
