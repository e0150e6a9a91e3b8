"""`zermelo query`: asking the tree. What is not proved is called unknown, never guessed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from zermelo.cli.charts import bar, sparkline
from zermelo.cli.doors import door_options, open_campaigns
from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_facts, print_json, print_table, short_count, short_time
from zermelo.cli.plain_errors import CommandError
from zermelo.cli.records import plain, print_csv, print_records, print_results, span, when

if TYPE_CHECKING:
    from zermelo.research.questions import Campaigns, Questions

F = TypeVar("F", bound=Callable[..., Any])


@click.group()
def query() -> None:
    """Ask about campaigns, positions and people."""


def _asking(command: F) -> F:
    """What every question has: the campaign, where it is, and how to print."""
    as_csv = option("--csv", "as_csv", is_flag=True, help="Print the table as CSV, for programs.")
    campaign = click.argument("campaign")
    return campaign(door_options(as_csv(json_option(command))))


def _position_options(command: F) -> F:
    text = option("--position", default=None, metavar="TEXT",
                  help="The position, as `zermelo engine solve` takes it.  [default: the root]")
    moves = option("--moves", default="", metavar="MOVES",
                   help="Moves to make from there first, such as 'd3 c5'.")
    return text(moves(command))


_most = option("--most", type=click.IntRange(1, 10_000), default=20, help="Rows to print.")


@contextmanager
def _campaigns(as_json: bool, as_csv: bool, door: dict[str, Any]) -> Iterator[Campaigns]:
    if as_json and as_csv:
        raise CommandError("--json and --csv exclude each other")
    with open_campaigns(**door) as opened:
        yield opened


@contextmanager
def _questions(
    campaign: str, as_json: bool, as_csv: bool, door: dict[str, Any]
) -> Iterator[Questions]:
    with _campaigns(as_json, as_csv, door) as opened:
        yield opened.campaign(campaign)


@query.command()
@_asking
@option("--points", type=click.IntRange(1, 10_000), default=1000,
        help="At most so many points in time.")
def progress(
    campaign: str, points: int, as_json: bool, as_csv: bool, **door: Any
) -> None:
    """How far CAMPAIGN is: bounds, open questions, remaining work, and how they changed."""
    from zermelo.cli.solve.live_view import remaining

    with _questions(campaign, as_json, as_csv, door) as questions:
        standing, history = questions.standing(), questions.progress(points)
        levels = questions.open_questions()
    if as_json:
        print_json({"standing": standing.as_dict(), "progress": plain(history),
                    "open_questions": plain(levels)})
        return
    if as_csv:
        print_csv(history)
        return
    now = span(*standing.bounds)
    rest = "nothing" if standing.state == "finished" else remaining(standing, 0.0)
    print_facts([
        ("campaign", f"{standing.campaign}, {standing.goal}, {standing.state}"),
        ("root", f"{now}{', ' + standing.outcome if standing.outcome else ''}"),
        ("searched", f"{short_count(standing.nodes)} nodes in {short_time(standing.engine_seconds)}"
                     f" of engine time, {standing.answered:,} workunits answered,"
                     f" {standing.splits:,} split"),
        ("remaining", rest),
    ])
    if history:
        width = max((point.hi - point.lo for point in history), default=0)
        print_facts([
            ("nodes", sparkline([point.nodes for point in history])),
            ("bounds", f"{sparkline([point.hi - point.lo for point in history])}"
                       f" width {width} to {history[-1].hi - history[-1].lo}"),
            ("open", sparkline([point.open_questions for point in history])),
            ("remaining", sparkline([point.remaining or 0.0 for point in history])),
        ])
    if levels:
        most = max(level.ready + level.leased for level in levels)
        print_table(
            "open questions by depth", ["ply", "", "ready", "leased", "expected nodes"],
            [[str(level.ply), bar(level.ready + level.leased, most), f"{level.ready:,}",
              f"{level.leased:,}", short_count(level.expected)] for level in levels],
            words=2,
        )


@query.command()
@_asking
@_position_options
def position(
    campaign: str, position: str | None, moves: str, as_json: bool, as_csv: bool,
    **door: Any,
) -> None:
    """What CAMPAIGN has proved about a position and about each move in it."""
    with _questions(campaign, as_json, as_csv, door) as questions:
        report = questions.position(position, moves.split())
        board = questions.game.draw(questions.find(position, moves.split()))
    if as_json:
        print_json(plain(report))
        return
    if as_csv:
        print_csv(report.moves)
        return
    click.echo(board)
    click.echo()
    where = "not in the tree" if report.node is None else f"node {report.node}"
    print_facts([("score", f"{report.worth} for the side to move"), ("where", where)])
    if report.moves:
        notes = {True: "best", False: ""}
        print_table("moves", ["move", "", "score"], [
            [move.move, notes[move.best] or ("secures it" if move.secures else ""),
             str(move.worth)] for move in sorted(report.moves, key=_move_order)], words=2)
    if report.expanded:
        click.echo("rests on the moves above")
    if report.provenance:
        print_table(
            "and on" if report.expanded else "rests on",
            ["user", "host", "proves", "workunit", "nodes", "time", "when"],
            [[item.user, item.host_name or str(item.host), span(item.lo, item.hi),
              str(item.workunit), short_count(item.nodes), short_time(item.seconds),
              when(item.received_at)] for item in report.provenance],
            words=2,
        )


def _move_order(move: Any) -> tuple[bool, bool, int, str]:
    return not move.best, not move.secures, -move.worth.lo, move.move


@query.command()
@_asking
@_position_options
def line(
    campaign: str, position: str | None, moves: str, as_json: bool, as_csv: bool,
    **door: Any,
) -> None:
    """Best play in CAMPAIGN as far as it is proved."""
    with _questions(campaign, as_json, as_csv, door) as questions:
        steps = questions.line(position, moves.split())
        worth = None if steps else questions.position(position, moves.split()).worth
    print_records(
        steps, as_json, as_csv, "line", ["move", "by", "score for that side"],
        lambda step: [step.move, step.side, str(step.worth)], words=2,
        nothing=f"unknown: no move is proved there; the score is {worth}",
    )


@query.command()
@_asking
@option("--depth", type=click.IntRange(0, 1000), default=1000, help="Plies to go down.")
def tree(
    campaign: str, depth: int, as_json: bool, as_csv: bool, **door: Any
) -> None:
    """The tree of CAMPAIGN by distance from the root: how much is proved, how much open."""
    with _questions(campaign, as_json, as_csv, door) as questions:
        levels = questions.levels(depth)
    most = max(level.nodes for level in levels)
    print_records(
        levels, as_json, as_csv, "tree",
        ["ply", "", "nodes", "frontier", "proved", "bounded", "unknown"],
        lambda level: [str(level.ply), bar(level.nodes, most), f"{level.nodes:,}",
                       f"{level.frontier:,}", f"{level.proved:,}", f"{level.bounded:,}",
                       f"{level.unknown:,}"], words=2,
    )


@query.command()
@_asking
@_most
def contributors(
    campaign: str, most: int, as_json: bool, as_csv: bool, **door: Any
) -> None:
    """Who has done how much for CAMPAIGN."""
    with _questions(campaign, as_json, as_csv, door) as questions:
        people = questions.contributors(most)
    top = max((one.nodes for one in people), default=0)
    print_records(
        people, as_json, as_csv, "contributors",
        ["user", "", "nodes", "results", "refused", "hosts", "engine time", "last"],
        lambda one: [one.name, bar(one.nodes, top), short_count(one.nodes),
                     f"{one.accepted:,}", f"{one.refused:,}", str(one.hosts),
                     short_time(one.seconds), when(one.last_at)], words=2,
        nothing="nobody yet",
    )


@query.command()
@_asking
@_most
def hosts(
    campaign: str, most: int, as_json: bool, as_csv: bool, **door: Any
) -> None:
    """Which computers have done how much for CAMPAIGN."""
    with _questions(campaign, as_json, as_csv, door) as questions:
        records = questions.hosts(most)
    print_records(
        records, as_json, as_csv, "hosts",
        ["host", "user", "version", "nodes", "results", "refused", "engine time", "seen"],
        lambda one: [one.name or str(one.host), one.user, one.version, short_count(one.nodes),
                     f"{one.accepted:,}", f"{one.refused:,}", short_time(one.seconds),
                     when(one.seen_at)], words=3, nothing="none yet",
    )


@query.command()
@_asking
@click.argument("number", type=click.IntRange(1, 2**63 - 1))
def workunit(
    campaign: str, number: int, as_json: bool, as_csv: bool, **door: Any
) -> None:
    """The workunit NUMBER of CAMPAIGN: what was asked, what came back."""
    with _questions(campaign, as_json, as_csv, door) as questions:
        report = questions.workunit(number)
        board = questions.game.draw(questions.find(report.position))
    if as_json:
        print_json(plain(report))
        return
    if not as_csv:
        click.echo(board)
        click.echo()
        print_facts([
            ("question", f"is the score at least {report.threshold:+d}?"),
            ("state", report.state),
            ("expected", f"{short_count(report.expected)} nodes, {report.plies_left} plies left"),
            ("asked", when(report.created_at)),
        ])
    print_results(report.results, False, as_csv)


@query.command()
@_asking
@_most
def results(
    campaign: str, most: int, as_json: bool, as_csv: bool, **door: Any
) -> None:
    """The newest results of CAMPAIGN, whatever became of them."""
    with _questions(campaign, as_json, as_csv, door) as questions:
        records = questions.results(most)
    print_results(records, as_json, as_csv)


@query.command()
@_asking
def claims(
    campaign: str, as_json: bool, as_csv: bool, **door: Any
) -> None:
    """The claims imported under the name CAMPAIGN: confirmed, refuted or open."""
    with _campaigns(as_json, as_csv, door) as opened:
        found = opened.claims(campaign)
    print_records(
        found, as_json, as_csv, "claims", ["campaign", "position", "verdict", "claim", "score"],
        lambda one: [one.campaign, one.position, one.verdict, span(one.lower, one.upper),
                     str(one.worth)], words=3,
    )
