-- Accounts, replication of answers, credit, the audit.

CREATE TABLE teams (
    id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text NOT NULL UNIQUE,
    created_at  timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE users
    ADD COLUMN team integer REFERENCES teams,
    ADD COLUMN banned_at timestamptz;

CREATE TABLE tokens (
    digest      bytea PRIMARY KEY CHECK (length(digest) = 32),
    user_id     integer NOT NULL REFERENCES users,
    created_at  timestamptz NOT NULL DEFAULT now(),
    revoked_at  timestamptz
);
CREATE INDEX tokens_user ON tokens (user_id);

ALTER TABLE hosts
    ADD COLUMN streak integer NOT NULL DEFAULT 0 CHECK (streak >= 0),
    ADD COLUMN confirmed integer NOT NULL DEFAULT 0 CHECK (confirmed >= 0),
    ADD COLUMN errors integer NOT NULL DEFAULT 0 CHECK (errors >= 0),
    ADD COLUMN quota smallint NOT NULL DEFAULT 256 CHECK (quota >= 1),
    ADD COLUMN error_at timestamptz,
    ADD COLUMN banned_at timestamptz,
    ADD COLUMN validated_nodes double precision NOT NULL DEFAULT 0,
    ADD COLUMN validated_seconds double precision NOT NULL DEFAULT 0;
CREATE INDEX hosts_user ON hosts (user_id);

ALTER TABLE campaigns
    ALTER COLUMN replication SET DEFAULT 'adaptive',
    ADD COLUMN probe_rate real NOT NULL DEFAULT 0.01 CHECK (probe_rate BETWEEN 0 AND 1),
    ADD COLUMN revision integer NOT NULL DEFAULT 0;

ALTER TABLE totals ADD COLUMN checking_nodes bigint NOT NULL DEFAULT 0;

ALTER TABLE workunits
    ADD COLUMN quorum smallint NOT NULL DEFAULT 1 CHECK (quorum >= 1),
    ADD COLUMN disputed boolean NOT NULL DEFAULT false;
DROP INDEX workunits_ready;
CREATE INDEX workunits_ready ON workunits (priority, id) WHERE state = 'ready' AND quorum = 1;
CREATE INDEX workunits_again ON workunits (priority, id) WHERE state = 'ready' AND quorum > 1;
CREATE INDEX workunits_confirmed ON workunits (id)
    WHERE state = 'answered' AND quorum > 1 AND NOT disputed;
CREATE INDEX workunits_known_from ON workunits USING gin (known_from)
    WHERE known_from IS NOT NULL;

ALTER TABLE leases ADD COLUMN probe boolean NOT NULL DEFAULT false;

-- A value added to an enum cannot be used in the same transaction, and these are, in indexes.
DROP INDEX results_pending, results_valid;
ALTER TABLE results ALTER COLUMN state DROP DEFAULT;
ALTER TYPE result_state RENAME TO former_result_state;
CREATE TYPE result_state AS ENUM (
    'pending', 'unconfirmed', 'valid', 'assimilated', 'doubted', 'retracted', 'invalid',
    'quarantined'
);
ALTER TABLE results
    ALTER COLUMN state TYPE result_state USING state::text::result_state,
    ALTER COLUMN state SET DEFAULT 'pending',
    ADD COLUMN agreed_lo smallint,
    ADD COLUMN agreed_hi smallint,
    ADD COLUMN credit real NOT NULL DEFAULT 0 CHECK (credit >= 0),
    ADD CHECK ((agreed_lo IS NULL) = (agreed_hi IS NULL));
DROP TYPE former_result_state;
CREATE INDEX results_pending ON results (lease) WHERE state = 'pending';
CREATE INDEX results_valid ON results (campaign, lease) WHERE state IN ('valid', 'doubted');
CREATE INDEX results_unconfirmed ON results (workunit) WHERE state = 'unconfirmed';
CREATE INDEX results_host ON results (host)
    WHERE state IN ('valid', 'assimilated') AND agreed_lo IS NOT NULL;

ALTER TYPE alarm_kind ADD VALUE 'dispute';

CREATE TABLE credits (
    host        integer NOT NULL REFERENCES hosts,
    user_id     integer NOT NULL REFERENCES users,
    team        integer REFERENCES teams,
    month       date NOT NULL,
    nodes       double precision NOT NULL DEFAULT 0,
    results     bigint NOT NULL DEFAULT 0,
    UNIQUE NULLS NOT DISTINCT (host, month, team)
) WITH (fillfactor = 50);
CREATE INDEX credits_user ON credits (user_id);

CREATE TABLE audit (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at          timestamptz NOT NULL DEFAULT now(),
    actor       text NOT NULL,
    action      text NOT NULL,
    subject     text NOT NULL,
    detail      text NOT NULL DEFAULT ''
);
