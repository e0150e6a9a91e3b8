-- The texts of games as data, by digest: campaigns name them in their specs, and volunteers fetch
-- them. Campaigns of former versions are of library games, whose texts every release brings along.
CREATE TABLE definitions (
    digest  text PRIMARY KEY CHECK (digest ~ '^[0-9a-f]{32}$'),
    text    text NOT NULL CHECK (octet_length(text) <= 16384)
);
