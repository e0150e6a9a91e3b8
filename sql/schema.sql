-- The whole database of Zermelo, as a new one is created.
--
-- migrations/ holds the steps by which older databases reach the same state; a test
-- keeps the two in agreement. Every state is an enum, so that a query reads like what
-- it means. Hot tables hold neither text nor JSON.

CREATE TABLE schema_migrations (
    version     integer PRIMARY KEY,
    name        text NOT NULL,
    applied_at  timestamptz NOT NULL DEFAULT now(),
    -- The oldest version whose programs work with the schema of this one; unknown of old ones.
    serves      integer
);

-- -- who ---------------------------------------------------------------------------------

CREATE TYPE user_role AS ENUM ('volunteer', 'operator', 'researcher');

CREATE TABLE teams (
    id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text NOT NULL UNIQUE,
    created_at  timestamptz NOT NULL DEFAULT now(),
    description text NOT NULL DEFAULT ''
);

CREATE TABLE users (
    id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text NOT NULL UNIQUE,
    role        user_role NOT NULL DEFAULT 'volunteer',
    created_at  timestamptz NOT NULL DEFAULT now(),
    team        integer REFERENCES teams,
    banned_at   timestamptz,
    -- How many leases all hosts of the user may hold at once: confirmed answers raise it, bad
    -- ones and leases that expire lower it.
    quota       integer NOT NULL DEFAULT 2 CHECK (quota >= 1),
    -- What the name looks like: no two new users have names that look alike.
    look        text NOT NULL DEFAULT '',
    team_since  timestamptz,
    -- The account is gone: its name is free, and its credit stays in the sums of the project.
    deleted_at  timestamptz,
    -- Of the code with which a user who lost all tokens gets a new one.
    recovery_digest bytea CHECK (length(recovery_digest) = 32)
);

CREATE INDEX users_look ON users (look);
CREATE INDEX users_team ON users (team) WHERE team IS NOT NULL;

-- Who may describe the team, NULL where nobody founded it or everybody left; and what its name looks
-- like: no two new teams have names that look alike.
ALTER TABLE teams ADD COLUMN founder integer REFERENCES users,
                  ADD COLUMN look text NOT NULL DEFAULT '';
CREATE INDEX teams_look ON teams (look);

-- Who knows a token is its user. Only its SHA-256 digest is kept: 256 random bits need no
-- slow hash, because nobody can guess them.
CREATE TABLE tokens (
    digest      bytea PRIMARY KEY CHECK (length(digest) = 32),
    user_id     integer NOT NULL REFERENCES users,
    created_at  timestamptz NOT NULL DEFAULT now(),
    revoked_at  timestamptz,
    -- What it was given for: a web session, or (empty) the account itself.
    purpose     text NOT NULL DEFAULT '',
    -- NULL for one that lasts until it is revoked.
    expires_at  timestamptz
);
CREATE INDEX tokens_user ON tokens (user_id);

-- Links to sign in by: used once, and soon worthless.
CREATE TABLE sign_ins (
    digest      bytea PRIMARY KEY CHECK (length(digest) = 32),
    user_id     integer NOT NULL REFERENCES users,
    expires_at  timestamptz NOT NULL
);

-- What users agreed to; who has no row agreed to nothing.
CREATE TABLE consents (
    user_id             integer PRIMARY KEY REFERENCES users,
    -- Everybody may see the user's hosts.
    show_hosts          boolean NOT NULL DEFAULT false,
    -- The statistics for other sites contain the user.
    export_statistics   boolean NOT NULL DEFAULT false,
    changed_at          timestamptz NOT NULL DEFAULT now()
);

-- What operators decided about the project as a whole: one row.
CREATE TABLE project (
    only_row            boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    registration_open   boolean NOT NULL DEFAULT true,
    -- What all volunteers are told; usually empty.
    notice              text NOT NULL DEFAULT '',
    -- Where the pages are, for links; empty where there are none.
    web_url             text NOT NULL DEFAULT ''
);
INSERT INTO project DEFAULT VALUES;

-- A host is one client's data directory. `host_key_digest` is made from the client's own random
-- key, so that a restarted client is the same host. `speed`, in nodes a second, is what it says
-- of itself, until what its searches took, by their results, tells more. The validator keeps
-- its record: `streak` is the work that others confirmed since the last bad answer, in whole
-- typical workunits, and `streak_part` the rest of it, `quota` is how many leases it may hold at
-- once, and validated nodes by validated seconds are what it has shown to be worth. Of its
-- `exhausted` answers since the last bad one, others confirmed some and refuted some by answering
-- within the same budget; `abandoned` counts the leases that it ended without a result since it
-- began to earn trust. The referee is the server's own search.
CREATE TABLE hosts (
    id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id     integer NOT NULL REFERENCES users,
    host_key_digest uuid NOT NULL UNIQUE,
    name        text NOT NULL DEFAULT '',
    version     text NOT NULL DEFAULT '',
    workers     smallint NOT NULL DEFAULT 1 CHECK (workers BETWEEN 1 AND 4096),
    speed       real NOT NULL DEFAULT 0 CHECK (speed >= 0),
    created_at  timestamptz NOT NULL DEFAULT now(),
    seen_at     timestamptz NOT NULL DEFAULT now(),
    streak      integer NOT NULL DEFAULT 0 CHECK (streak >= 0),
    confirmed   integer NOT NULL DEFAULT 0 CHECK (confirmed >= 0),
    errors      integer NOT NULL DEFAULT 0 CHECK (errors >= 0),
    quota       smallint NOT NULL DEFAULT 256 CHECK (quota >= 1),
    error_at    timestamptz,
    banned_at   timestamptz,
    validated_nodes     double precision NOT NULL DEFAULT 0,
    validated_seconds   double precision NOT NULL DEFAULT 0,
    searched_nodes      double precision NOT NULL DEFAULT 0,
    searched_seconds    double precision NOT NULL DEFAULT 0,
    streak_part real NOT NULL DEFAULT 0,
    exhausted_confirmed integer NOT NULL DEFAULT 0,
    exhausted_refuted   integer NOT NULL DEFAULT 0,
    abandoned   integer NOT NULL DEFAULT 0,
    referee     boolean NOT NULL DEFAULT false,
    -- What it says of itself, for people.
    cores       integer NOT NULL DEFAULT 0,
    memory_mb   integer NOT NULL DEFAULT 0,
    platform    text NOT NULL DEFAULT ''
) WITH (fillfactor = 50);
CREATE INDEX hosts_user ON hosts (user_id);
CREATE UNIQUE INDEX hosts_referee ON hosts (referee) WHERE referee;

-- Bans of one host, or (without a host) of a user with all hosts: the reason, which the volunteer
-- is told, and what the ban took, so that lifting it can give that back. `results` were taken out
-- of the tree or out of a vote, those of others that had agreed included.
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

-- The records that hosts had before a ban.
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

-- -- what is to be solved -------------------------------------------------------------------

CREATE TYPE campaign_goal AS ENUM ('score', 'outcome');
CREATE TYPE campaign_state AS ENUM ('running', 'paused', 'finished', 'cancelled');
CREATE TYPE replication AS ENUM ('none', 'adaptive', 'quorum');

-- The texts of games as data, by digest: campaigns name them in their specs, and volunteers fetch
-- them.
CREATE TABLE definitions (
    digest  text PRIMARY KEY CHECK (digest ~ '^[0-9a-f]{32}$'),
    text    text NOT NULL CHECK (octet_length(text) <= 16384)
);

CREATE TABLE campaigns (
    id              smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name            text NOT NULL UNIQUE,
    spec            text NOT NULL,
    -- Where the game starts, as the game writes it; NULL for its initial position.
    position        text,
    goal            campaign_goal NOT NULL,
    state           campaign_state NOT NULL DEFAULT 'running',
    -- none: every sound answer is believed. adaptive: new hosts are checked by a second user,
    -- trusted ones at random. quorum: as many users as `quorum` says must agree on every answer.
    replication     replication NOT NULL,
    quorum          smallint NOT NULL DEFAULT 1 CHECK (quorum >= 1),
    root            bigint NOT NULL,
    -- The rules alone give every score of the game within -max_score .. max_score.
    max_score       smallint NOT NULL,
    -- The threshold of the test at the root that is being worked on.
    threshold       smallint,
    target_seconds  real NOT NULL DEFAULT 2 CHECK (target_seconds > 0),
    -- Most nodes a workunit may take whatever the host's speed; NULL for no such limit.
    node_budget     bigint CHECK (node_budget > 0),
    created_at      timestamptz NOT NULL DEFAULT now(),
    finished_at     timestamptz,
    -- How many of the leases are questions whose answer is known already.
    probe_rate      real NOT NULL DEFAULT 0.01 CHECK (probe_rate BETWEEN 0 AND 1),
    -- Rises whenever bounds were retracted: what was planned from them is void.
    revision        integer NOT NULL DEFAULT 0,
    -- Only to be checked: somebody claims that the score lies within these bounds.
    claim_lo        smallint,
    claim_hi        smallint,
    -- Campaigns that get one part of the clients together: those of one list of claims. Empty for
    -- a campaign alone.
    list            text NOT NULL DEFAULT '',
    -- How much of the clients it gets compared with others.
    share           real NOT NULL DEFAULT 1 CHECK (share > 0),
    CHECK ((state = 'finished') = (finished_at IS NOT NULL)),
    CHECK ((claim_lo IS NULL) = (claim_hi IS NULL) AND claim_lo <= claim_hi)
);

CREATE INDEX campaigns_list ON campaigns (list) WHERE list <> '';

-- Campaigns that were dropped, until the last of their rows is removed from the large tables.
CREATE TABLE dropped_campaigns (
    campaign    smallint PRIMARY KEY,
    name        text NOT NULL,
    dropped_at  timestamptz NOT NULL DEFAULT now(),
    -- Pages of `workunits` and `nodes` that hold none of its rows any more.
    workunit_pages  bigint NOT NULL DEFAULT 0,
    node_pages      bigint NOT NULL DEFAULT 0
);

-- Running totals of a campaign, written by the assimilator and the generator a batch at a
-- time. `wasted_nodes`: work whose answer nobody needed any more when it came. `split_nodes`:
-- work of exhausted workunits, of which a part is repeated below. `checking_nodes`: work that
-- only confirmed or refuted the answers of others. `expected_nodes`: what all workunits together
-- were expected to take, each at most its budget.
CREATE TABLE totals (
    campaign        smallint PRIMARY KEY REFERENCES campaigns,
    tree_nodes      bigint NOT NULL DEFAULT 0,
    workunits       bigint NOT NULL DEFAULT 0,
    answered        bigint NOT NULL DEFAULT 0,
    splits          bigint NOT NULL DEFAULT 0,
    withdrawn       bigint NOT NULL DEFAULT 0,
    nodes           bigint NOT NULL DEFAULT 0,
    wasted_nodes    bigint NOT NULL DEFAULT 0,
    split_nodes     bigint NOT NULL DEFAULT 0,
    seconds         double precision NOT NULL DEFAULT 0,
    checking_nodes  bigint NOT NULL DEFAULT 0,
    expected_nodes  double precision NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- -- the tree -------------------------------------------------------------------------------

-- A node is a canonical position of a campaign. `id` is a 63-bit hash of campaign, key and
-- history, so that any service can find a node by its primary key; of two positions with the
-- same hash the later one has its next hash for a name. `children` is NULL on the frontier and empty when the
-- game is over. `parent` is where the node was first reached from (the root: itself),
-- `parents` the rarer further ones. Eight columns, fixed widths first: 64 bytes a frontier
-- node, and a ninth column would cost every row 8 more for a longer null bitmap.
CREATE TABLE nodes (
    id          bigint PRIMARY KEY,
    parent      bigint NOT NULL,
    position    uuid NOT NULL,
    campaign    smallint NOT NULL,
    lo          smallint NOT NULL,
    hi          smallint NOT NULL,
    children    bigint[],
    parents     bigint[],
    CHECK (lo <= hi)
) WITH (fillfactor = 95);

-- Nodes whose hash was another's name already, with the names that were held. Those are kept when
-- their campaign is dropped, so that the search for the displaced node does not end there.
CREATE TABLE displaced_nodes (
    node        bigint NOT NULL,
    held        bigint NOT NULL,
    PRIMARY KEY (node, held)
);
CREATE INDEX displaced_nodes_held ON displaced_nodes (held);

-- What the value of a node depends on beyond its position, for games where the past matters.
CREATE TABLE histories (
    node        bigint PRIMARY KEY REFERENCES nodes,
    history     bytea NOT NULL
);

-- The tests at the root, one after the other: "is the score at least the threshold?"
CREATE TABLE tests (
    campaign    smallint NOT NULL REFERENCES campaigns,
    threshold   smallint NOT NULL,
    started_at  timestamptz NOT NULL DEFAULT now(),
    ended_at    timestamptz,
    answer      boolean,
    PRIMARY KEY (campaign, threshold),
    CHECK ((ended_at IS NULL) = (answer IS NULL))
);

-- -- work -----------------------------------------------------------------------------------

-- ready      may be leased                                       (generator, coordinator)
-- leased     a host works on it, or a hold keeps it for one       (coordinator)
-- returned   results wait for validation and assimilation        (coordinator)
-- answered   yes or no, and in the tree                          (assimilator)
-- exhausted  too hard for its node budget, to be split           (assimilator)
-- split      its node is expanded and the children are asked     (generator)
-- withdrawn  nobody needs the answer any more                    (generator)
CREATE TYPE workunit_state AS ENUM (
    'ready', 'leased', 'returned', 'answered', 'exhausted', 'split', 'withdrawn'
);

CREATE TABLE workunits (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    node        bigint NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    -- Most nodes to spend whatever the host's speed; NULL leaves it to the host's speed.
    node_budget bigint CHECK (node_budget > 0),
    state       workunit_state NOT NULL DEFAULT 'ready',
    -- Small numbers first: 0 is the cheapest proof, larger ones are more speculative.
    priority    real NOT NULL,
    -- What the cost model expected, in nodes.
    expected    real NOT NULL,
    campaign    smallint NOT NULL,
    threshold   smallint NOT NULL,
    guess       smallint NOT NULL,
    plies_left  smallint NOT NULL,
    ply         smallint NOT NULL,
    -- Bounds already proved below the node, to seed the client's table, and the results
    -- they rest on.
    known       bytea,
    known_from  bigint[],
    -- How many users must agree on the answer; more than 1 as soon as a second one is wanted.
    quorum      smallint NOT NULL DEFAULT 1 CHECK (quorum >= 1),
    -- Answers contradict each other: it is asked on until that is decided, needed or not.
    disputed    boolean NOT NULL DEFAULT false,
    -- What the engine thought that proving either answer takes: logarithms of nodes. NULL where
    -- nobody asked it about this very question; the cost model then learns nothing from it.
    effort_yes  real,
    effort_no   real,
    -- The expected nodes that a wrong answer could make the campaign skip.
    stakes      real NOT NULL DEFAULT 0,
    -- Its search takes a host too long: it may be leased to other users as well.
    overdue     boolean NOT NULL DEFAULT false
) WITH (fillfactor = 85);

-- One workunit at a time for a question; several would be paid for twice.
CREATE UNIQUE INDEX workunits_open ON workunits (node, threshold)
    WHERE state IN ('ready', 'leased', 'returned', 'exhausted');
-- What searches of questions that were given up had proved is looked for when the node is split.
CREATE INDEX workunits_given_up ON workunits (node) WHERE state IN ('split', 'withdrawn');
CREATE INDEX workunits_ready ON workunits (priority, id)
    WHERE state = 'ready' AND quorum = 1 AND NOT overdue;
-- Those that another user has or answered before, and those whose answer is well known.
CREATE INDEX workunits_again ON workunits (priority, id)
    WHERE state = 'ready' AND (quorum > 1 OR overdue);
CREATE INDEX workunits_crucial ON workunits (id) WHERE state = 'answered' AND stakes = 'Infinity';
CREATE INDEX workunits_confirmed ON workunits (id)
    WHERE state = 'answered' AND quorum > 1 AND NOT disputed;
CREATE INDEX workunits_known_from ON workunits USING gin (known_from)
    WHERE known_from IS NOT NULL;
CREATE INDEX workunits_exhausted ON workunits (campaign, id) WHERE state = 'exhausted';

-- Which campaigns have workunits among each 256 numbers, told by the last of these: so that those of
-- one campaign are found beside any number of others. An index of all workunits would cost each of
-- them several times as much.
CREATE TABLE workunit_blocks (
    campaign    smallint NOT NULL,
    last        bigint NOT NULL,
    PRIMARY KEY (campaign, last)
);

-- By the rights of its owner, as `count_contributions`.
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

CREATE TYPE lease_state AS ENUM ('open', 'returned', 'expired', 'abandoned', 'cancelled');

-- The last block of lease numbers that was reserved: one row. Each number is used once.
CREATE TABLE lease_blocks (
    reserved    bigint NOT NULL
);
INSERT INTO lease_blocks VALUES (0);

-- A lease ends in exactly one way. `nodes` is the work reported so far; `progress_at` when
-- it last grew, because a lease lives by progress, not by being alive.
CREATE TABLE leases (
    id          bigint PRIMARY KEY,
    workunit    bigint NOT NULL,
    leased_at   timestamptz NOT NULL DEFAULT now(),
    deadline    timestamptz NOT NULL,
    progress_at timestamptz NOT NULL DEFAULT now(),
    ended_at    timestamptz,
    node_budget bigint NOT NULL CHECK (node_budget > 0),
    nodes       bigint NOT NULL DEFAULT 0 CHECK (nodes >= 0),
    host        integer NOT NULL,
    state       lease_state NOT NULL DEFAULT 'open',
    -- Whether the totals of the campaign contain the nodes of this lease.
    counted     boolean NOT NULL DEFAULT false,
    -- Whether the answer was known when the question was handed out.
    probe       boolean NOT NULL DEFAULT false,
    CHECK ((state = 'open') = (ended_at IS NULL))
) WITH (fillfactor = 70);

CREATE INDEX leases_open ON leases (host) WHERE state = 'open';
CREATE INDEX leases_workunit ON leases (workunit);
CREATE INDEX leases_failed ON leases (host, id) WHERE state IN ('expired', 'abandoned');
-- Leases that ended without a result and whose nodes are still to be counted as wasted.
CREATE INDEX leases_uncounted ON leases (id)
    WHERE NOT counted AND state IN ('expired', 'abandoned', 'cancelled');

-- Workunits that a coordinator took out of the queue for calls to come. It ends its holds
-- itself; those of one that died end when `until` has passed, and what is left of them is ready
-- again.
CREATE TABLE holds (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workunits   bigint[] NOT NULL,
    until       timestamptz NOT NULL
);

CREATE TYPE answer AS ENUM ('yes', 'no', 'exhausted');

-- pending      waits for the validator                                  (coordinator)
-- unconfirmed  sound, waits for the answer of another user              (validator)
-- valid        accepted, waits for the assimilator                      (validator)
-- assimilated  its evidence is in the tree                              (assimilator)
-- doubted      was accepted, its host was found lying; to be taken out  (validator)
-- retracted    counts for nothing any more, whoever is to blame         (assimilator)
-- invalid      refused or outvoted; it changes nothing                  (validator)
-- quarantined  contradicts the tree; an alarm was raised                (assimilator)
CREATE TYPE result_state AS ENUM (
    'pending', 'unconfirmed', 'valid', 'assimilated', 'doubted', 'retracted', 'invalid',
    'quarantined'
);

-- One result per lease, so that sending it twice changes nothing.
CREATE TABLE results (
    lease       bigint PRIMARY KEY,
    workunit    bigint NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    nodes       bigint NOT NULL CHECK (nodes >= 0),
    host        integer NOT NULL,
    seconds     real NOT NULL CHECK (seconds >= 0),
    state       result_state NOT NULL DEFAULT 'pending',
    answer      answer NOT NULL,
    campaign    smallint NOT NULL,
    lo          smallint NOT NULL,
    hi          smallint NOT NULL,
    -- Whether the lease or the workunit had ended before the result came.
    late        boolean NOT NULL,
    -- Bounds of positions below the node that an exhausted search had settled; the validator
    -- leaves only what others confirm.
    proved      bytea,
    -- What of its bounds is believed; NULL: all of it.
    agreed_lo   smallint,
    agreed_hi   smallint,
    -- Granted for it, in nodes.
    credit      real NOT NULL DEFAULT 0 CHECK (credit >= 0),
    -- Whether the totals of the campaign contain its nodes.
    counted     boolean NOT NULL DEFAULT false,
    -- Of an exhausted answer: whether another user's answer showed that it is honest.
    shown       boolean,
    -- Of an answer that was taken out because its host was banned or found lying: what was granted
    -- for it before, 'Infinity' where nobody knows. When a ban is lifted, no more is granted again.
    former_credit real,
    CHECK ((agreed_lo IS NULL) = (agreed_hi IS NULL))
) WITH (fillfactor = 85);

CREATE INDEX results_pending ON results (lease) WHERE state = 'pending';
CREATE INDEX results_valid ON results (campaign, lease) WHERE state IN ('valid', 'doubted');
CREATE INDEX results_unconfirmed ON results (workunit) WHERE state = 'unconfirmed';
-- What a host that lied has to be asked about; empty where no answers are compared.
CREATE INDEX results_host ON results (host)
    WHERE state IN ('valid', 'assimilated') AND agreed_lo IS NOT NULL;
-- Those on their way into the tree are few, and found among all that are.
CREATE INDEX results_of_host ON results (host, lease) WHERE state NOT IN ('pending', 'valid');
CREATE INDEX results_workunit ON results (workunit);
CREATE INDEX results_uncounted ON results (campaign)
    WHERE NOT counted AND state IN ('invalid', 'retracted');

-- Those of one campaign among many, which have come to where they stay.
CREATE INDEX results_arrived ON results (campaign, lease)
    WHERE state IN ('assimilated', 'retracted', 'invalid', 'quarantined');

-- What came of the results of a host in a campaign, but for those on their way into the tree. Counted
-- where a result changes its state, so that nobody has to read all results to tell whose they are.
-- `nodes` are those of accepted results, `seconds` those of all.
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

-- By the rights of its owner: services need none of their own to it.
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

-- The few results that are still on their way into the tree, each part by the index that it has.
CREATE VIEW results_on_their_way AS
SELECT lease, workunit, campaign, host, state, seconds, received_at FROM results
WHERE state = 'pending'
UNION ALL
SELECT lease, workunit, campaign, host, state, seconds, received_at FROM results
WHERE state = 'unconfirmed'
UNION ALL
SELECT lease, workunit, campaign, host, state, seconds, received_at FROM results
WHERE state IN ('valid', 'doubted');

-- The provenance of every bound: this result proves `lo <= score(node) <= hi`.
CREATE TABLE evidence (
    node        bigint NOT NULL,
    result      bigint NOT NULL,
    lo          smallint NOT NULL,
    hi          smallint NOT NULL,
    PRIMARY KEY (node, result)
);
CREATE INDEX evidence_result ON evidence (result);

-- -- feeds and records ------------------------------------------------------------------------

-- Nodes whose bounds changed, for the generator, which deletes what it has read.
CREATE TABLE node_changes (
    id          bigint GENERATED ALWAYS AS IDENTITY,
    node        bigint NOT NULL,
    campaign    smallint NOT NULL
);
CREATE INDEX node_changes_campaign ON node_changes (campaign);

CREATE TYPE alarm_kind AS ENUM ('contradiction');

CREATE TABLE alarms (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    campaign    smallint NOT NULL REFERENCES campaigns,
    kind        alarm_kind NOT NULL,
    node        bigint,
    result      bigint,
    detail      text NOT NULL,
    raised_at   timestamptz NOT NULL DEFAULT now(),
    settled_at  timestamptz,
    settled_by  text,
    settled_reason text
);

-- How a campaign went, every few seconds while something happens. `remaining` is the median
-- of the estimated nodes still to search, the true number lies within a factor of
-- `remaining_factor` with 80 % probability.
CREATE TABLE progress (
    campaign            smallint NOT NULL REFERENCES campaigns,
    at                  timestamptz NOT NULL DEFAULT now(),
    lo                  smallint NOT NULL,
    hi                  smallint NOT NULL,
    threshold           smallint,
    open_questions      integer NOT NULL,
    ready               integer NOT NULL,
    leased              integer NOT NULL,
    tree_nodes          bigint NOT NULL,
    nodes               bigint NOT NULL,
    wasted_nodes        bigint NOT NULL,
    split_nodes         bigint NOT NULL,
    remaining           double precision,
    remaining_factor    double precision,
    PRIMARY KEY (campaign, at)
);

-- What questions cost, as learned from the results; the newest row of a campaign counts.
CREATE TABLE cost_models (
    campaign    smallint NOT NULL REFERENCES campaigns,
    fitted_at   timestamptz NOT NULL DEFAULT now(),
    samples     integer NOT NULL,
    parameters  double precision[] NOT NULL,
    PRIMARY KEY (campaign, fitted_at)
);

-- -- credit and the record of what operators did ---------------------------------------------------

-- Credit for validated work, in nodes as the cost model expected them. A row per host, month
-- and the team its user was in; everything else is a sum over these.
CREATE TABLE credits (
    host        integer NOT NULL REFERENCES hosts,
    user_id     integer NOT NULL REFERENCES users,
    team        integer REFERENCES teams,
    month       date NOT NULL,
    nodes       double precision NOT NULL DEFAULT 0,
    results     bigint NOT NULL DEFAULT 0,
    -- How many of the nodes are for work that ended without a result.
    partial     double precision NOT NULL DEFAULT 0,
    UNIQUE NULLS NOT DISTINCT (host, month, team)
) WITH (fillfactor = 50);
CREATE INDEX credits_user ON credits (user_id);
CREATE INDEX credits_team ON credits (team) WHERE team IS NOT NULL;

-- The same credit by day (UTC), for what was granted since days are counted.
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
RETURN nodes * (ln(2::float8) / 7)
       * exp(-ln(2::float8) / 7 * ((now() AT TIME ZONE 'UTC')::date - day));

-- What was granted for leases that ended without a result, so that a late one is not paid twice.
CREATE TABLE partial_credits (
    lease       bigint PRIMARY KEY,
    nodes       real NOT NULL CHECK (nodes > 0)
);

-- Whoever changes what others rely on leaves a line here: operators by their commands, the
-- services where they overrule what was believed before.
CREATE TABLE audit (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at          timestamptz NOT NULL DEFAULT now(),
    actor       text NOT NULL,
    action      text NOT NULL,
    subject     text NOT NULL,
    detail      text NOT NULL DEFAULT ''
);

-- Games that people and engines played, as `zermelo games` lists them.
CREATE TABLE games_played (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    spec        text NOT NULL,
    -- Where the game began, as the game writes it; NULL for its initial position.
    position    text,
    -- Who moved first and who second: a person's name, or how the program chose its moves.
    first       text NOT NULL,
    second      text NOT NULL,
    moves       text[] NOT NULL,
    final       text NOT NULL,
    -- For the first player.
    score       smallint NOT NULL,
    started_at  timestamptz NOT NULL,
    seconds     real NOT NULL CHECK (seconds >= 0),
    -- Of games with people: who sat there, and how the machine chose its moves; both empty in
    -- other games, the opponent also between two people.
    person      text NOT NULL DEFAULT '',
    opponent    text NOT NULL DEFAULT '',
    -- Such as phone or computer; empty where nobody told.
    device      text NOT NULL DEFAULT '',
    -- In plies, of an opponent that looks ahead by depth.
    depth       smallint CHECK (depth > 0),
    -- The sitting in which it was played: each stores one game.
    sitting     text UNIQUE
);
