"""What operators look at."""

from __future__ import annotations

import click

from zermelo.cli.admin.asking import admin, looking, most_option
from zermelo.cli.doors import Ask
from zermelo.cli.messages import print_message, print_messages
from zermelo.cli.options import option
from zermelo.cli.output import print_facts, print_json, print_table, short_time
from zermelo.proto import operations_pb2 as pb
from zermelo.research.plain import plain
from zermelo.server.trust.operations import SUMS


@admin.command()
@most_option
@looking
def users(ask: Ask, most: int, as_json: bool) -> None:
    """The users, those with the most credit first."""
    print_messages("users", ask(pb.ListUsersRequest(most=most)).users, as_json)


@admin.command()
@most_option
@looking
def hosts(ask: Ask, most: int, as_json: bool) -> None:
    """The hosts, those seen last first."""
    found = ask(pb.ListHostsRequest(most=most)).hosts
    print_messages("hosts", found, as_json, ("id", "user", "name", "streak", "confirmed", "errors",
                                          "quota", "open_leases", "credit", "banned_at"))


@admin.command()
@click.argument("host", type=click.IntRange(1))
@most_option
@looking
def host(ask: Ask, host: int, most: int, as_json: bool) -> None:
    """One host: its record and its latest results."""
    found = ask(pb.ShowHostRequest(host=host, most=most))
    print_message(found.host, "results", found.results, as_json)


@admin.command()
@click.argument("workunit", type=click.IntRange(1))
@looking
def workunit(ask: Ask, workunit: int, as_json: bool) -> None:
    """One workunit: its question, and everybody who was asked."""
    found = ask(pb.ShowWorkunitRequest(workunit=workunit))
    print_message(found.workunit, "history", found.history, as_json)


@admin.command()
@option("--by", type=click.Choice(SUMS), default="user", help="What to sum by.")
@most_option
@looking
def credit(ask: Ask, by: str, most: int, as_json: bool) -> None:
    """Credit for validated work in millions of nodes; `partial` ended without a result."""
    print_messages("credit", ask(pb.ListCreditRequest(by=by, most=most)).credit, as_json)


@admin.command()
@looking
def campaigns(ask: Ask, as_json: bool) -> None:
    """The campaigns and their states."""
    print_messages("campaigns", ask(pb.ListCampaignsRequest()).campaigns, as_json)


@admin.command()
@option("--subject", default="", help="Only what was done to this, such as 'host 17'.")
@most_option
@looking
def audit(ask: Ask, subject: str, most: int, as_json: bool) -> None:
    """What was done, by whom and why; the latest first."""
    found = ask(pb.ListAuditRequest(subject=subject, most=most)).audit
    print_messages("audit", found, as_json)


@admin.command()
@option("--all", "settled", is_flag=True, help="Also those that are settled.")
@most_option
@looking
def alarms(ask: Ask, settled: bool, most: int, as_json: bool) -> None:
    """What went wrong and needs somebody to look into it; `settle` when that is done."""
    found = ask(pb.ListAlarmsRequest(settled=settled, most=most)).alarms
    columns = ["id", "campaign", "kind", "raised_at", "detail"]
    if settled:
        columns += ["settled_at", "settled_by", "settled_reason"]
    print_messages("alarms", found, as_json, columns)


@admin.command()
@looking
def queue(ask: Ask, as_json: bool) -> None:
    """What waits, for which service, and since when."""
    found = ask(pb.ShowQueueRequest())
    if as_json:
        print_json(plain(found))
        return
    print_table(
        "open workunits", ["campaign", "state", "workunits", "oldest"],
        [[one.campaign, one.state, f"{one.workunits:,}", short_time(one.oldest_seconds)]
         for one in found.queue], words=2,
    )  # fmt: skip
    print_table(
        "results that wait", ["for", "results", "oldest"],
        [[one.service, f"{one.waiting:,}", short_time(one.oldest_seconds)]
         for one in found.backlog],
    )  # fmt: skip
    print_facts([
        ("disputes", f"{found.disputes:,}"),
        ("alarms", f"{found.alarms:,}" + ("; see `zermelo admin alarms`" if found.alarms else "")),
    ])
