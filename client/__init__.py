"""The volunteer's side: takes workunits, solves them, reports, drops what nobody needs."""
