-- What the searches of a host took, by the results that it handed in.

ALTER TABLE hosts
    ADD COLUMN searched_nodes double precision NOT NULL DEFAULT 0,
    ADD COLUMN searched_seconds double precision NOT NULL DEFAULT 0;
