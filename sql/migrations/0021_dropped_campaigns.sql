-- Serves programs from version 18 on.
-- Campaigns that were dropped, until the last of their rows is removed from the large tables.
CREATE TABLE dropped_campaigns (
    campaign    smallint PRIMARY KEY,
    name        text NOT NULL,
    dropped_at  timestamptz NOT NULL DEFAULT now(),
    -- Pages of `workunits` and `nodes` that hold none of its rows any more.
    workunit_pages  bigint NOT NULL DEFAULT 0,
    node_pages      bigint NOT NULL DEFAULT 0
);
