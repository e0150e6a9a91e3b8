-- People: what a host is made of, credit by day, teams that are founded, joined and left, consents,
-- accounts that end, sign-in links, bans that can be undone, alarms that are settled by somebody,
-- and what the project tells volunteers. Nothing that is there changes its meaning.

ALTER TABLE teams ADD COLUMN description text NOT NULL DEFAULT '',
                  ADD COLUMN founder integer REFERENCES users;

ALTER TABLE users ADD COLUMN team_since timestamptz,
                  ADD COLUMN deleted_at timestamptz,
                  ADD COLUMN recovery_digest bytea CHECK (length(recovery_digest) = 32);
CREATE INDEX users_team ON users (team) WHERE team IS NOT NULL;

ALTER TABLE tokens ADD COLUMN purpose text NOT NULL DEFAULT '',
                   ADD COLUMN expires_at timestamptz;

CREATE TABLE sign_ins (
    digest      bytea PRIMARY KEY CHECK (length(digest) = 32),
    user_id     integer NOT NULL REFERENCES users,
    expires_at  timestamptz NOT NULL
);

CREATE TABLE consents (
    user_id             integer PRIMARY KEY REFERENCES users,
    show_hosts          boolean NOT NULL DEFAULT false,
    export_statistics   boolean NOT NULL DEFAULT false,
    changed_at          timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE project (
    only_row            boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    registration_open   boolean NOT NULL DEFAULT true,
    notice              text NOT NULL DEFAULT '',
    web_url             text NOT NULL DEFAULT ''
);
INSERT INTO project DEFAULT VALUES;

ALTER TABLE hosts ADD COLUMN cores integer NOT NULL DEFAULT 0,
                  ADD COLUMN memory_mb integer NOT NULL DEFAULT 0,
                  ADD COLUMN platform text NOT NULL DEFAULT '';

CREATE TABLE bans (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host        integer REFERENCES hosts,
    user_id     integer NOT NULL REFERENCES users,
    actor       text NOT NULL,
    reason      text NOT NULL,
    at          timestamptz NOT NULL DEFAULT now(),
    lifted_at   timestamptz,
    results     bigint[] NOT NULL,
    user_quota  integer NOT NULL
);
CREATE INDEX bans_in_force ON bans (user_id) WHERE lifted_at IS NULL;

CREATE TABLE ban_records (
    ban         bigint NOT NULL REFERENCES bans,
    host        integer NOT NULL REFERENCES hosts,
    streak      integer NOT NULL,
    streak_part real NOT NULL,
    errors      integer NOT NULL,
    error_at    timestamptz,
    quota       smallint NOT NULL,
    exhausted_confirmed integer NOT NULL,
    exhausted_refuted   integer NOT NULL,
    partial     double precision NOT NULL,
    PRIMARY KEY (ban, host)
);

CREATE TABLE daily_credits (
    host        integer NOT NULL REFERENCES hosts,
    day         date NOT NULL,
    user_id     integer NOT NULL REFERENCES users,
    nodes       double precision NOT NULL DEFAULT 0,
    results     bigint NOT NULL DEFAULT 0,
    partial     double precision NOT NULL DEFAULT 0,
    PRIMARY KEY (host, day, user_id)
) WITH (fillfactor = 50);
CREATE INDEX daily_credits_user ON daily_credits (user_id, day);

-- What credit of a day is worth in the average by day, whose half-life is a week: a steady credit
-- has itself as its average.
CREATE FUNCTION decayed_credit(nodes double precision, day date) RETURNS double precision
LANGUAGE sql STABLE PARALLEL SAFE
RETURN nodes * ln(2) / 7 * 2 ^ (-((now() AT TIME ZONE 'UTC')::date - day) / 7.0);

CREATE INDEX credits_team ON credits (team) WHERE team IS NOT NULL;

ALTER TABLE alarms ADD COLUMN settled_by text,
                   ADD COLUMN settled_reason text;

CREATE INDEX results_of_host ON results (host, lease);
CREATE INDEX leases_failed ON leases (host, id) WHERE state IN ('expired', 'abandoned');

-- A workunit that was split twice was counted twice.
UPDATE totals SET splits = (
    SELECT count(*) FROM workunits
    WHERE workunits.campaign = totals.campaign AND workunits.state = 'split'
);
