"""The server side: services that meet only in PostgreSQL."""
