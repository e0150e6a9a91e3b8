-- Serves programs from version 18 on.
-- Who contributed to a campaign was found out by reading all of its results, the latest results of
-- one campaign by reading those of all others, and an average of credit in decimal numbers, at ten
-- times the cost.
CREATE INDEX results_arrived ON results (campaign, lease)
    WHERE state IN ('assimilated', 'retracted', 'invalid', 'quarantined');

CREATE TABLE contributions (
    campaign    smallint NOT NULL,
    host        integer NOT NULL,
    results     bigint NOT NULL,
    accepted    bigint NOT NULL,
    refused     bigint NOT NULL,
    nodes       bigint NOT NULL,
    seconds     double precision NOT NULL,
    last_at     timestamptz NOT NULL,
    PRIMARY KEY (campaign, host)
) WITH (fillfactor = 50);
CREATE INDEX contributions_host ON contributions (host);

CREATE FUNCTION count_contributions() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO contributions AS c (campaign, host, results, accepted, refused, nodes, seconds,
                                    last_at)
    SELECT campaign, host, sum(sign), coalesce(sum(sign) FILTER (WHERE state = 'assimilated'), 0),
           coalesce(sum(sign) FILTER (WHERE state IN ('invalid', 'quarantined')), 0),
           coalesce(sum(sign * nodes) FILTER (WHERE state = 'assimilated'), 0), sum(sign * seconds),
           max(received_at)
    FROM (
        SELECT campaign, host, state, nodes, seconds, received_at, 1 AS sign FROM after_change
        UNION ALL
        SELECT campaign, host, state, nodes, seconds, received_at, -1 FROM before_change
    ) AS changed
    WHERE state IN ('assimilated', 'retracted', 'invalid', 'quarantined')
    GROUP BY campaign, host
    HAVING count(DISTINCT state) > 1 OR sum(sign) <> 0 OR sum(sign * nodes) <> 0
           OR sum(sign * seconds) <> 0
    ORDER BY campaign, host
    ON CONFLICT (campaign, host) DO UPDATE
    SET results = c.results + excluded.results, accepted = c.accepted + excluded.accepted,
        refused = c.refused + excluded.refused, nodes = c.nodes + excluded.nodes,
        seconds = c.seconds + excluded.seconds, last_at = greatest(c.last_at, excluded.last_at);
    RETURN NULL;
END
$$;

CREATE TRIGGER count_contributions AFTER UPDATE ON results
REFERENCING OLD TABLE AS before_change NEW TABLE AS after_change
FOR EACH STATEMENT EXECUTE FUNCTION count_contributions();

INSERT INTO contributions (campaign, host, results, accepted, refused, nodes, seconds, last_at)
SELECT campaign, host, count(*), count(*) FILTER (WHERE state = 'assimilated'),
       count(*) FILTER (WHERE state IN ('invalid', 'quarantined')),
       coalesce(sum(nodes) FILTER (WHERE state = 'assimilated'), 0), sum(seconds), max(received_at)
FROM results WHERE state IN ('assimilated', 'retracted', 'invalid', 'quarantined')
GROUP BY campaign, host;

CREATE VIEW results_on_their_way AS
SELECT lease, workunit, campaign, host, state, seconds, received_at FROM results
WHERE state = 'pending'
UNION ALL
SELECT lease, workunit, campaign, host, state, seconds, received_at FROM results
WHERE state = 'unconfirmed'
UNION ALL
SELECT lease, workunit, campaign, host, state, seconds, received_at FROM results
WHERE state IN ('valid', 'doubted');

CREATE OR REPLACE FUNCTION decayed_credit(nodes double precision, day date)
RETURNS double precision LANGUAGE sql STABLE PARALLEL SAFE
RETURN nodes * (ln(2::float8) / 7)
       * exp(-ln(2::float8) / 7 * ((now() AT TIME ZONE 'UTC')::date - day));
