-- One word for each thing, the same as in the program: what a result proves about a node is
-- evidence, a search has a node budget, a client has workers, a host key has a digest.
ALTER TABLE claims RENAME TO evidence;
ALTER TABLE evidence RENAME CONSTRAINT claims_pkey TO evidence_pkey;
ALTER INDEX claims_result RENAME TO evidence_result;

ALTER TABLE hosts RENAME COLUMN instance TO host_key_digest;
ALTER TABLE hosts RENAME CONSTRAINT hosts_instance_key TO hosts_host_key_digest_key;
ALTER TABLE hosts RENAME COLUMN slots TO workers;
ALTER TABLE hosts RENAME CONSTRAINT hosts_slots_check TO hosts_workers_check;

ALTER TABLE campaigns RENAME COLUMN node_limit TO node_budget;
ALTER TABLE campaigns RENAME CONSTRAINT campaigns_node_limit_check TO campaigns_node_budget_check;
ALTER TABLE workunits RENAME COLUMN budget TO node_budget;
ALTER TABLE workunits RENAME CONSTRAINT workunits_budget_check TO workunits_node_budget_check;
ALTER TABLE leases RENAME COLUMN budget TO node_budget;
ALTER TABLE leases RENAME CONSTRAINT leases_budget_check TO leases_node_budget_check;

-- From PostgreSQL 18 on NOT NULL is a constraint, too, named after its table and column.
DO $$
DECLARE
    former record;
BEGIN
    FOR former IN
        SELECT con.conrelid::regclass AS owner, con.conname,
               format('%s_%s_not_null', rel.relname, att.attname) AS becomes
        FROM pg_constraint AS con
        JOIN pg_class AS rel ON rel.oid = con.conrelid
        JOIN pg_attribute AS att ON att.attrelid = con.conrelid AND att.attnum = con.conkey[1]
        WHERE con.contype = 'n' AND con.connamespace = 'public'::regnamespace
          AND rel.relname IN ('evidence', 'hosts', 'leases')
    LOOP
        IF former.conname <> former.becomes THEN
            EXECUTE format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I',
                           former.owner, former.conname, former.becomes);
        END IF;
    END LOOP;
END
$$;
