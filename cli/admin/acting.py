"""What operators do to hosts, users, workunits and campaigns."""

from __future__ import annotations

import sys

import click

from zermelo.cli.admin.asking import acting, admin, print_done
from zermelo.cli.doors import Ask
from zermelo.cli.game_files import CAMPAIGN
from zermelo.cli.options import option
from zermelo.cli.output import print_facts
from zermelo.cli.plain_errors import CommandError, agree
from zermelo.proto import operations_pb2 as pb

_yes = option("--yes", is_flag=True, help="Do not ask, and show no preview.")


def _agreed(ask: Ask, preview: pb.PreviewBanRequest, what: str, *, ask_first: bool) -> None:
    """Show what a ban takes and ask for a yes; `CommandError` without one."""
    if not ask_first:
        return
    found = ask(preview)
    print_facts([
        ("banned", f"{what} ({found.user}, hosts: {found.hosts})"),
        ("leases", f"{found.open_leases:,} end, and their work goes to others"),
        ("results", f"{found.results:,} count no more, and {found.results_of_others:,} of others"
                    " who agreed with them"),
        ("bounds", f"{found.bounds:,} nodes lose evidence and are asked again where needed"),
        ("credit", f"{found.credit_lost:,.1f} of {found.credit:,.1f} million nodes"),
    ])
    if not sys.stdin.isatty():
        raise CommandError("nothing was done; give --yes to ban without a question")
    agree("Ban it? `unban` brings back what can be brought back")


@admin.command("ban-host")
@click.argument("host", type=click.IntRange(1))
@_yes
@acting
def ban_host(ask: Ask, host: int, yes: bool, reason: str, as_json: bool) -> None:
    """Refuse a host's calls; what rests on its word is asked again.

    Shows what that takes and asks first. The volunteer is told the reason.
    """
    _agreed(ask, pb.PreviewBanRequest(host=host), f"host {host}", ask_first=not yes)
    reply = ask(pb.BanHostRequest(host=host, reason=reason))
    print_done(reply, f"host {host} is banned, {reply.doubted} results in doubt", as_json)


@admin.command("unban-host")
@click.argument("host", type=click.IntRange(1))
@acting
def unban_host(ask: Ask, host: int, reason: str, as_json: bool) -> None:
    """Let a host call again with its former record; its results are judged anew."""
    reply = ask(pb.UnbanHostRequest(host=host, reason=reason))
    print_done(
        reply, f"host {host} may call again; results to judge anew: {reply.judged_again}", as_json
    )


@admin.command("ban-user")
@click.argument("name")
@_yes
@acting
def ban_user(ask: Ask, name: str, yes: bool, reason: str, as_json: bool) -> None:
    """Refuse all calls of a user; what rests on its hosts' word is asked again.

    Shows what that takes and asks first. The volunteer is told the reason.
    """
    _agreed(ask, pb.PreviewBanRequest(name=name), f"user {name}", ask_first=not yes)
    reply = ask(pb.BanUserRequest(name=name, reason=reason))
    print_done(reply, f"{name} is banned, {reply.doubted} results in doubt", as_json)


@admin.command("unban-user")
@click.argument("name")
@acting
def unban_user(ask: Ask, name: str, reason: str, as_json: bool) -> None:
    """Let a user call again; the hosts get their former records, results are judged anew."""
    reply = ask(pb.UnbanUserRequest(name=name, reason=reason))
    print_done(
        reply, f"{name} may call again; results to judge anew: {reply.judged_again}", as_json
    )


@admin.command("ask-again")
@click.argument("workunit", type=click.IntRange(1))
@acting
def ask_again(ask: Ask, workunit: int, reason: str, as_json: bool) -> None:
    """Take the answers of a workunit out of the tree and ask it again."""
    reply = ask(pb.AskAgainRequest(workunit=workunit, reason=reason))
    print_done(reply, f"asked again; answers taken out of the tree: {reply.answers}", as_json)


@admin.command("pause")
@click.argument("campaign", type=CAMPAIGN)
@acting
def pause(ask: Ask, campaign: str, reason: str, as_json: bool) -> None:
    """Ask no more questions until the campaign is resumed."""
    reply = ask(pb.PauseCampaignRequest(campaign=campaign, reason=reason))
    print_done(reply, f"{campaign} is {reply.state}", as_json)


@admin.command("resume")
@click.argument("campaign", type=CAMPAIGN)
@acting
def resume(ask: Ask, campaign: str, reason: str, as_json: bool) -> None:
    """Go on with a paused campaign."""
    reply = ask(pb.ResumeCampaignRequest(campaign=campaign, reason=reason))
    print_done(reply, f"{campaign} is {reply.state}", as_json)


@admin.command("cancel")
@click.argument("campaign", type=CAMPAIGN)
@acting
def cancel(ask: Ask, campaign: str, reason: str, as_json: bool) -> None:
    """End a campaign for good; what is proved stays."""
    reply = ask(pb.CancelCampaignRequest(campaign=campaign, reason=reason))
    print_done(reply, f"{campaign} is {reply.state}", as_json)
