"""`zermelo client team`: found, join, leave, describe and list teams."""

from __future__ import annotations

import click

from zermelo.cli.client.asking import Ask, asks_as_volunteer
from zermelo.cli.messages import print_messages
from zermelo.cli.options import option
from zermelo.cli.output import print_json
from zermelo.proto import volunteers_pb2 as pb
from zermelo.research.plain import plain


@click.group()
def team() -> None:
    """Work for a team: its credit is what its members earn while they are in it."""


@team.command()
@click.argument("name")
@option("--description", default="", help="One line about the team.")
@asks_as_volunteer
def found(ask: Ask, name: str, description: str, as_json: bool) -> None:
    """Make the team NAME; you are its founder and its first member."""
    reply = ask(pb.FoundTeamRequest(name=name, description=description))
    _tell(reply, f"you founded {reply.name}", as_json)


@team.command()
@click.argument("name")
@asks_as_volunteer
def join(ask: Ask, name: str, as_json: bool) -> None:
    """Work for the team NAME from now on."""
    reply = ask(pb.JoinTeamRequest(name=name))
    _tell(reply, f"you work for {reply.name} from now on", as_json)


@team.command()
@asks_as_volunteer
def leave(ask: Ask, as_json: bool) -> None:
    """Work for no team; what you earned for it stays there."""
    reply = ask(pb.LeaveTeamRequest())
    _tell(reply, f"you left {reply.name}", as_json)


@team.command()
@click.argument("description")
@asks_as_volunteer
def describe(ask: Ask, description: str, as_json: bool) -> None:
    """Say in one line what your team is about; for its founder."""
    reply = ask(pb.DescribeTeamRequest(description=description))
    _tell(reply, f"{reply.name} is described", as_json)


@team.command("list")
@option("--most", type=click.IntRange(1, 10_000), default=50, help="Rows to show.")
@asks_as_volunteer
def list_(ask: Ask, most: int, as_json: bool) -> None:
    """The teams, those with the most credit (in millions of nodes) first."""
    found = ask(pb.ListTeamsRequest(most=most)).teams
    print_messages("teams", found, as_json, (
        "name", "founder", "members", "credit", "month_credit", "description",
    ))  # fmt: skip


def _tell(reply: pb.TeamReply, sentence: str, as_json: bool) -> None:
    if as_json:
        print_json(plain(reply))
    else:
        click.echo(sentence)
