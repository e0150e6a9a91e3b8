"""`zermelo client hosts` and `results`: the volunteer's computers, what became of their work."""

from __future__ import annotations

import click

from zermelo.cli.client.asking import Ask, asks_as_volunteer
from zermelo.cli.messages import message_cells, print_messages
from zermelo.cli.options import option
from zermelo.cli.output import print_facts, short_count
from zermelo.proto import volunteers_pb2 as pb

TABS = ("in-progress", "pending", "inconclusive", "valid", "invalid", "error")


@click.command()
@click.argument("host", type=click.IntRange(1), required=False)
@option("--most", type=click.IntRange(1, 10_000), default=50, help="Rows to show.")
@asks_as_volunteer
def hosts(ask: Ask, host: int | None, most: int, as_json: bool) -> None:
    """Your hosts: what they are made of, their record, and why one has no work."""
    found = ask(pb.ListMyHostsRequest(host=host or 0, most=most)).hosts
    if host and not as_json:
        print_facts(message_cells(found[0]))
        return
    print_messages("hosts", found, as_json, (
        "id", "name", "platform", "cores", "streak", "errors", "in_progress", "credit", "seen_at",
    ))  # fmt: skip
    if not as_json:
        print_facts(
            (f"host {one.id}", f"no work: {one.no_work}") for one in found if one.no_work
        )


@click.command()
@click.argument("tab", type=click.Choice(TABS), default="valid", metavar="[STATE]")
@option("--host", type=click.IntRange(1), default=None, show_default="all",
        help="Only those of this host.")
@option("--most", type=click.IntRange(1, 1000), default=50, help="Rows to show.")
@option("--before", type=click.IntRange(0), default=0, show_default="the newest",
        help="Only those with a smaller number.")
@asks_as_volunteer
def results(
    ask: Ask, tab: str, host: int | None, most: int, before: int, as_json: bool
) -> None:
    """What became of your work, the newest first.

    in-progress: being searched. pending: not looked at yet. inconclusive: waits for another
    user's answer. valid: accepted. invalid: refused, outvoted or taken back. error: the lease
    ended without a result.
    """
    found = ask(pb.ListMyResultsRequest(tab=tab, host=host or 0, most=most, before=before)).results
    print_messages("results", found, as_json, (
        "lease", "host", "campaign", "threshold", "answer", "state", "nodes", "credit", "at",
    ))  # fmt: skip
    if not as_json and found:
        nodes = short_count(sum(one.nodes for one in found))
        click.echo(f"{len(found):,} {tab}, {nodes} nodes; older ones: --before {found[-1].lease}")
