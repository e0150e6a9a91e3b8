-- Serves programs from version 18 on.
-- A ban that was lifted could pay answers that were not paid before it; and whether it had taken an
-- answer was looked for among all that it had taken, for each answer. The newest workunits of one
-- campaign were found by reading those of all others.
ALTER TABLE results ADD COLUMN former_credit real;

UPDATE results SET former_credit = 'Infinity'
FROM (SELECT unnest(results) AS lease FROM bans WHERE lifted_at IS NOT NULL) AS taken
WHERE results.lease = taken.lease AND results.late AND results.state IN ('pending', 'unconfirmed');

CREATE TABLE workunit_blocks (
    campaign    smallint NOT NULL,
    last        bigint NOT NULL,
    PRIMARY KEY (campaign, last)
);

CREATE FUNCTION note_workunit_blocks() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO workunit_blocks (campaign, last)
    SELECT DISTINCT campaign, id | 255 FROM added ORDER BY 1, 2
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE TRIGGER note_workunit_blocks AFTER INSERT ON workunits
REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION note_workunit_blocks();

INSERT INTO workunit_blocks (campaign, last) SELECT DISTINCT campaign, id | 255 FROM workunits;
