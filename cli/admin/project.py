"""What operators decide about the project as a whole."""

from __future__ import annotations

import click

from zermelo.cli.admin.asking import acting, admin, print_done
from zermelo.cli.doors import Ask
from zermelo.cli.options import option
from zermelo.cli.output import print_facts, print_json
from zermelo.cli.plain_errors import CommandError
from zermelo.proto import operations_pb2 as pb
from zermelo.research.plain import plain


@admin.command()
@option("--registration", type=click.Choice(["open", "closed"]), default=None,
        show_default="as it is", help="Whether strangers may open accounts.")
@option("--notice", default=None, show_default="as it is",
        help="One line that all volunteers are told; empty for none.")
@option("--web-url", default=None, show_default="as it is", metavar="URL",
        help="Where the pages are, for the links of `zermelo client open`; empty for nowhere.")
@acting
def project(
    ask: Ask, registration: str | None, notice: str | None, web_url: str | None, reason: str,
    as_json: bool,
) -> None:  # fmt: skip
    """Show or set who may register, the notice to volunteers and where the pages are."""
    registration_open = None if registration is None else registration == "open"
    if (registration_open, notice, web_url) == (None, None, None):
        found = ask(pb.ShowProjectRequest())
    else:
        found = ask(pb.SetProjectRequest(
            reason=reason, registration_open=registration_open, notice=notice, web_url=web_url
        ))  # fmt: skip
    if as_json:
        print_json(plain(found))
        return
    print_facts([
        ("registration", "open" if found.registration_open else "closed"),
        ("notice", found.notice or "none"),
        ("pages", found.web_url or "nowhere"),
    ])


@admin.command()
@click.argument("alarm", type=click.IntRange(1))
@acting
def settle(ask: Ask, alarm: int, reason: str, as_json: bool) -> None:
    """Note that you looked into an alarm; --reason says what came of it."""
    if not reason.strip():
        raise CommandError("say with --reason what came of it; the audit keeps that")
    reply = ask(pb.SettleAlarmRequest(alarm=alarm, reason=reason))
    print_done(reply, f"alarm {alarm} is settled", as_json)
