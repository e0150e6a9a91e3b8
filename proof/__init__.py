"""Certificates from campaigns: choosing the strategies and writing them down."""
