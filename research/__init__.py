"""Queries to the trees: what `zermelo query` and the Python API answer."""
