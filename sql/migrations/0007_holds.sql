-- Work taken out of the queue for calls to come.

CREATE TABLE holds (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workunits   bigint[] NOT NULL,
    until       timestamptz NOT NULL
);
