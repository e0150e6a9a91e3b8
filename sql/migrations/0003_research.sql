-- Claims to be checked, and games played.

ALTER TABLE campaigns
    ADD COLUMN claim_lo smallint,
    ADD COLUMN claim_hi smallint,
    ADD CHECK ((claim_lo IS NULL) = (claim_hi IS NULL) AND claim_lo <= claim_hi);

CREATE TABLE games_played (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    spec        text NOT NULL,
    position    text,
    first       text NOT NULL,
    second      text NOT NULL,
    moves       text[] NOT NULL,
    final       text NOT NULL,
    score       smallint NOT NULL,
    started_at  timestamptz NOT NULL,
    seconds     real NOT NULL CHECK (seconds >= 0)
);
