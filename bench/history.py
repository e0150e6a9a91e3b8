"""What the past costs: services, commands and pages beside workunits that were answered long ago.

For every size a new database: a tree, its volunteers with ten weeks of credit by day, and so many
answered workunits, each with its lease, result and evidence. One volunteer gave a tenth of all
answers. Then what happens every day is done there: workunits live their lives, operators and
volunteers look, pages are shown. Processor time of the program and of its connection; pages by the
clock, the slowest of five.

    python -m bench.history [--past 100000,1000000] [--volunteers 1000] [--folder DIR] [--json]
    python -m bench.history --past 10000000 --folder /large/disk        10 GB, a quarter of an hour
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Any

from bench.fresh import fresh_database
from bench.options import bench_parser
from bench.pipeline import Feeder, plant
from bench.virtual.services import ServiceTime
from bench.web import load, site
from zermelo.engine import open_engine
from zermelo.proto import operations_pb2 as operations
from zermelo.proto import volunteers_pb2 as own
from zermelo.server.assimilator import assimilate
from zermelo.server.campaigns import Campaign, campaign_summary
from zermelo.server.check import check_database
from zermelo.server.coordinator.in_process import InProcessCoordinator, Returned
from zermelo.server.database import Connection, connect_once
from zermelo.server.planning.campaign_plan import CampaignPlan, Demand
from zermelo.server.trust import operations as operators
from zermelo.server.trust import volunteers
from zermelo.server.trust.accounts import Account, Role, UserId
from zermelo.server.validator import validate
from zermelo.sql import query

FRONTIER = 10_000
#: Workunits that live their lives a round, and rounds.
BATCH, ROUNDS = 200, 20
#: How often what takes milliseconds is done; the median counts.
TIMES = 9
#: Days that every volunteer was granted credit for.
DAYS = 70
#: The volunteer who gave a tenth of all answers, and one of the others.
HEAVY, USUAL = 1, 7
PAGES = (
    "/", "/status.json", "/volunteers", "/volunteers/volunteer%201", "/volunteers/volunteer%207",
    "/stats/user.gz", "/feed.atom",
)  # fmt: skip
CAMPAIGN_PAGES = ("", "/position", "/tree", "/results", "/workunits/1")

#: The past, one statement after the other. It is consistent: each answer is a yes to the lowest
#: score there is, which the rules give, too.
PAST = (
    """
    INSERT INTO users (name, look)
    SELECT 'volunteer ' || i, 'volunteer ' || i FROM generate_series(1, %(volunteers)s) AS i
    """,
    """
    INSERT INTO hosts (user_id, host_key_digest, name, streak, confirmed)
    SELECT id, gen_random_uuid(), name, 100, 100 FROM users ORDER BY id
    """,
    """
    INSERT INTO consents (user_id, show_hosts, export_statistics) SELECT id, true, true FROM users
    """,
    """
    CREATE TEMPORARY TABLE frontier AS
    SELECT row_number() OVER (ORDER BY id) - 1 AS number, id FROM nodes WHERE children IS NULL
    """,
    """
    CREATE TEMPORARY TABLE past AS
    SELECT i, frontier.id AS node,
           CASE WHEN i %% 10 = 0 THEN 1 ELSE 1 + i %% %(volunteers)s END AS host
    FROM generate_series(1, %(past)s) AS i
    JOIN frontier ON frontier.number = i %% (SELECT count(*) FROM frontier)
    """,
    """
    INSERT INTO workunits (node, state, priority, expected, campaign, threshold, guess, plies_left,
                           ply, created_at, stakes)
    SELECT node, 'answered', 0, 1e6, %(campaign)s, -%(top)s, 0, 50, 8,
           now() - (%(past)s - i) * interval '1 second', 1e6
    FROM past ORDER BY i
    """,
    """
    INSERT INTO leases (id, workunit, host, leased_at, deadline, ended_at, node_budget, nodes,
                        state, counted)
    SELECT i, i, host, now() - interval '1 day', now(), now() - interval '1 hour', 2000000, 1000000,
           'returned', true
    FROM past ORDER BY i
    """,
    """
    INSERT INTO results (lease, workunit, host, nodes, seconds, state, answer, campaign, lo, hi,
                         late, agreed_lo, agreed_hi, credit, counted)
    SELECT i, i, host, 1000000, 1, 'assimilated', 'yes', %(campaign)s, -%(top)s, %(top)s, false,
           -%(top)s, %(top)s, 1e6, true
    FROM past ORDER BY i
    """,
    """
    INSERT INTO daily_credits (host, day, user_id, nodes, results)
    SELECT host, (now() AT TIME ZONE 'UTC')::date - d, user_id, nodes / %(days)s, results / %(days)s
    FROM generate_series(0, %(days)s - 1) AS d, (
        SELECT host, sum(credit::float8) AS nodes, count(*) AS results FROM results GROUP BY host
    ) AS granted JOIN hosts ON hosts.id = granted.host
    """,
    """
    INSERT INTO credits (host, user_id, month, nodes, results)
    SELECT host, user_id, date_trunc('month', day)::date, sum(nodes), sum(results)
    FROM daily_credits GROUP BY 1, 2, 3
    """,
    """
    INSERT INTO evidence (node, result, lo, hi)
    SELECT node, i, -%(top)s, %(top)s FROM past ORDER BY i
    """,
    """
    INSERT INTO contributions (campaign, host, results, accepted, refused, nodes, seconds, last_at)
    SELECT campaign, host, count(*), count(*), 0, sum(nodes), sum(seconds), max(received_at)
    FROM results GROUP BY campaign, host
    """,
    "UPDATE lease_blocks SET reserved = %(past)s",
    """
    UPDATE totals SET workunits = %(past)s, answered = %(past)s, nodes = %(past)s * 1000000::bigint,
                      seconds = %(past)s
    WHERE campaign = %(campaign)s
    """,
    "DROP TABLE past, frontier",
)  # fmt: skip


class Measures:
    """What was done, and what it took, in milliseconds."""

    def __init__(self, connection: Connection) -> None:
        self._clock = ServiceTime(connection).read
        self.found: dict[str, float] = {}

    def of(
        self, name: str, do: Callable[[], Any], times: int = TIMES, parts: int = 1
    ) -> None:
        """The median, of one of `parts` that are done together."""
        taken = []
        for _ in range(times):
            started = self._clock()
            do()
            taken.append(1000 * (self._clock() - started))
        self.note(name, median(taken) / parts)

    def note(self, name: str, number: float) -> None:
        self.found[name] = number
        print(f"  {name}: {number:,.2f}", file=sys.stderr, flush=True)


def plant_past(connection: Connection, campaign: Campaign, past: int, count: int) -> None:
    values = {"past": past, "volunteers": count, "days": DAYS, "campaign": campaign.id,
              "top": campaign.max_score}  # fmt: skip
    with connection.transaction():
        for statement in PAST:
            connection.execute(statement, values)
    connection.execute("VACUUM (ANALYZE)")


def measure(url: str, past: int, count: int) -> dict[str, float]:
    with connect_once(url) as connection:
        connection.execute(query("commit_lazily"))
        campaign = plant(connection, FRONTIER)
        plant_past(connection, campaign, past, count)
        measures = Measures(connection)
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        measures.note("database, MB", (row[0] if row else 0) / 1e6)
        _look(connection, campaign, measures)
        _show(connection, url, campaign, measures)
        measures.of("db check", lambda: _check(connection), times=1)
        measures.of("planning starts", lambda: CampaignPlan(
            connection, campaign, open_engine(campaign.game)
        ).step(Demand(64, 1e6, 0.0)), times=1)  # fmt: skip
        connection.execute("UPDATE workunits SET state = 'withdrawn' WHERE state = 'ready'")
        _live(connection, campaign, measures)
    return measures.found


def _look(connection: Connection, campaign: Campaign, measures: Measures) -> None:
    """What operators and volunteers ask."""
    measures.of("campaign show", lambda: campaign_summary(connection, campaign.name))
    operate = partial(operators.perform, connection, actor="bench")
    for name, request in (
        ("admin queue", operations.ShowQueueRequest()),
        ("admin hosts", operations.ListHostsRequest(most=100)),
        ("admin host", operations.ShowHostRequest(host=USUAL, most=20)),
        ("admin host, a tenth of all", operations.ShowHostRequest(host=HEAVY, most=20)),
        ("admin workunit", operations.ShowWorkunitRequest(workunit=4711)),
        ("admin credit --by user", operations.ListCreditRequest(by="user", most=100)),
    ):  # fmt: skip
        measures.of(name, partial(operate, request))
    for name, host in (("", USUAL), (", a tenth of all", HEAVY)):
        measures.of(f"preview of a ban{name}",
                    partial(operate, operations.PreviewBanRequest(host=host)), times=1)  # fmt: skip
        measures.of(f"ban{name}", partial(_ban_and_undo, connection, host), times=1)
        account = Account(UserId(host), Role.VOLUNTEER, f"volunteer {host}", banned=False)
        ask = partial(volunteers.perform, connection, account=account)
        measures.of(f"client hosts{name}", partial(ask, own.ListMyHostsRequest(most=100)))
        mine = own.ListMyResultsRequest(tab="valid", most=50)
        measures.of(f"client results{name}", partial(ask, mine))


def _ban_and_undo(connection: Connection, host: int) -> None:
    """What the ban itself takes; nothing of it stays, but for dead rows."""
    with connection.transaction(force_rollback=True):
        operators.perform(connection, operations.BanHostRequest(host=host), actor="bench")


def _show(connection: Connection, url: str, campaign: Campaign, measures: Measures) -> None:
    """Pages; the campaign is finished meanwhile, so that profiles tell who helped to solve it."""
    finish = (
        "UPDATE campaigns SET state = %(state)s, finished_at = %(at)s, revision = revision + 1"
        " WHERE id = %(campaign)s"
    )
    ended = {"state": "finished", "at": datetime.now(UTC), "campaign": campaign.id}
    connection.execute(finish, ended)
    paths = [*PAGES, *(f"/campaigns/{campaign.name}{path}" for path in CAMPAIGN_PAGES)]
    with site(url) as chosen:
        client = HTTPConnection(*chosen.address)
        for path in paths:
            measures.note(f"page {path}", max(load(client, path) for _ in range(5)))
    connection.execute(finish, ended | {"state": "running", "at": None})


def _check(connection: Connection) -> None:
    if found := check_database(connection):
        raise SystemExit(f"{len(found)} violations, such as: {found[0]}")


def _live(connection: Connection, campaign: Campaign, measures: Measures) -> None:
    """Workunits are leased, answered, judged and put into the tree."""
    Feeder(connection, campaign)
    coordinator = InProcessCoordinator(connection)
    host = coordinator.register("fleet", speed=1e6)

    def live() -> None:
        leased = coordinator.request(host, BATCH)
        if len(leased) != BATCH:
            raise SystemExit(f"{len(leased)} instead of {BATCH} leases")
        top = campaign.max_score
        coordinator.submit([
            Returned(host.id, each.lease, "yes", each.threshold, top, nodes=1000, seconds=0.1)
            if each.threshold <= 0 else
            Returned(host.id, each.lease, "no", -top, each.threshold - 1, nodes=1000, seconds=0.1)
            for each in leased
        ])  # fmt: skip
        while validate(connection):
            pass
        while assimilate(connection, campaign):
            pass

    measures.of(f"the life of a workunit, in batches of {BATCH}", live, ROUNDS, BATCH)


def main() -> None:
    parser = bench_parser(__doc__)
    parser.add_argument("--past", default="100000,1000000", help="answered workunits")
    parser.add_argument("--volunteers", type=int, default=1000)
    parser.add_argument("--folder", type=Path, help="where the databases are for the time being")
    options = parser.parse_args()
    runs: dict[int, dict[str, float]] = {}
    for past in map(int, options.past.split(",")):
        print(f"{past:,} workunits", file=sys.stderr)
        with fresh_database("history", options.folder) as fresh:
            runs[past] = measure(fresh.url, past, options.volunteers)
    if options.json:
        print(json.dumps(runs))
        return
    print(f"{'milliseconds':44}" + "".join(f"{past:>14,}" for past in runs))
    for name in next(iter(runs.values())):
        print(f"{name:44}" + "".join(f"{run[name]:>14,.2f}" for run in runs.values()))


if __name__ == "__main__":
    main()
