"""`zermelo query`: asking the tree. What is not proved is called unknown, never guessed.

A command takes its options from the parameters of the query that it asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from zermelo.cli.charts import bar, sparkline
from zermelo.cli.doors import door_options, open_campaigns
from zermelo.cli.game_files import CAMPAIGN
from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_facts, print_table, short_count, short_time
from zermelo.cli.plain_errors import CommandError
from zermelo.cli.records import Printout, span, table, when
from zermelo.figures import signed
from zermelo.research.queries import OF_ONE_CAMPAIGN, Campaigns, Queries, declaration
from zermelo.server.vocabulary import CampaignState

if TYPE_CHECKING:
    from zermelo.research import replies

F = TypeVar("F", bound=Callable[..., Any])

#: The option of each parameter that a query may have.
_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "most": option("--most", type=click.IntRange(1, 10_000), default=20, help="Rows to print."),
    "before": option("--before", type=click.IntRange(0, 2**63 - 1), default=0,
                     help="Only those with a smaller number.  [default: the newest]",
                     show_default=False),
    "depth": option("--depth", type=click.IntRange(0, 1000), default=1000,
                    help="Plies to go down."),
    "position": option("--position", default=None, metavar="TEXT",
                       help="The position, as `zermelo engine solve` takes it."
                            "  [default: the root]"),
    "moves": option("--moves", default="", metavar="MOVES",
                    callback=lambda context, parameter, text: text.split(),
                    help="Moves to make from there first, such as 'd3 c5'."),
    "number": click.argument("number", type=click.IntRange(1, 2**63 - 1)),
}  # fmt: skip


@click.group()
def query() -> None:
    """Ask about campaigns, positions and people."""


def _asks(
    method: Callable[..., Any], **others: Callable[[Any], Any]
) -> Callable[[Callable[..., Printout]], click.Command]:
    """A command for a query: how to reach the campaign, if it is about one (or about a list of
    them), the query's parameters, what to print.

    The function gets what can be asked and the parameters. `others` are options in place of
    the usual ones, or besides the query's own.
    """
    asked = declaration(method)
    options = {name: _OPTIONS[name] for name in asked.parameters if name in _OPTIONS} | others

    named = asked in OF_ONE_CAMPAIGN or "name" in asked.parameters

    def decorate(gather: Callable[..., Printout]) -> click.Command:
        def command(
            as_json: bool, as_csv: bool, campaign: str | None = None, **given: Any
        ) -> None:
            arguments = {name: given.pop(name) for name in options}
            with _campaigns(as_json, as_csv, given) as opened:
                if campaign is None:
                    gather(opened, **arguments).print(as_json, as_csv)
                elif asked in OF_ONE_CAMPAIGN:
                    gather(opened.campaign(campaign), **arguments).print(as_json, as_csv)
                else:
                    gather(opened, campaign, **arguments).print(as_json, as_csv)

        for decorate_option in reversed([
            *([click.argument("campaign", type=CAMPAIGN)] if named else []),
            *options.values(), door_options,
            option("--csv", "as_csv", is_flag=True, help="Print the table as CSV, for programs."),
            json_option,
        ]):  # fmt: skip
            command = decorate_option(command)
        return query.command(name=gather.__name__, help=gather.__doc__)(command)

    return decorate


@contextmanager
def _campaigns(as_json: bool, as_csv: bool, door: dict[str, Any]) -> Iterator[Campaigns]:
    if as_json and as_csv:
        raise CommandError("--json and --csv exclude each other")
    with open_campaigns(**door) as opened:
        yield opened


_points = option("--points", "most", type=click.IntRange(1, 10_000), default=1000,
                 help="Points in time to show at most.")


@_asks(Queries.progress, most=_points)
def progress(queries: Queries, most: int) -> Printout:
    """How far CAMPAIGN is: bounds, open questions, remaining work, and how they changed."""
    from zermelo.cli.solve.live_view import remaining

    standing, history = queries.standing(), queries.progress(most)
    levels = queries.open_questions()

    def show() -> None:
        now = span(*standing.bounds)
        rest = "nothing" if standing.state == CampaignState.FINISHED else remaining(standing, 0.0)
        print_facts([
            ("campaign", f"{standing.campaign}, {standing.goal}, {standing.state}"),
            ("root", f"{now}{', ' + standing.outcome if standing.outcome else ''}"),
            ("searched", f"{short_count(standing.nodes)} nodes in"
                         f" {short_time(standing.engine_seconds)} of engine time,"
                         f" {standing.answered:,} workunits answered, {standing.splits:,} split"),
            ("remaining", rest),
        ])
        if history:
            _show_history(history)
        if levels:
            _show_open(levels)

    return Printout(
        {"standing": standing, "progress": history, "open_questions": levels}, history, show
    )


def _show_history(history: Sequence[replies.ProgressPoint]) -> None:
    widths = [point.hi - point.lo for point in history]
    print_facts([
        ("nodes", sparkline([point.nodes for point in history])),
        ("bounds", f"{sparkline(widths)} width {max(widths)} to {widths[-1]}"),
        ("open", sparkline([point.open_questions for point in history])),
        ("remaining", sparkline([point.remaining or 0.0 for point in history])),
    ])


def _show_open(levels: Sequence[replies.OpenLevel]) -> None:
    most = max(level.ready + level.leased for level in levels)
    print_table(
        "open questions by depth", ["ply", "", "ready", "leased", "expected nodes"],
        [[str(level.ply), bar(level.ready + level.leased, most), f"{level.ready:,}",
          f"{level.leased:,}", short_count(level.expected)] for level in levels],
        words=2,
    )


@_asks(Queries.position)
def position(queries: Queries, position: str | None, moves: list[str]) -> Printout:
    """What CAMPAIGN has proved about a position and about each move in it."""
    report = queries.position(position, moves)

    def show() -> None:
        click.echo(queries.game.draw(queries.find(position, moves)))
        click.echo()
        where = "not in the tree" if report.node is None else f"node {report.node}"
        print_facts([("score", f"{report.worth} for the side to move"), ("where", where)])
        if report.moves:
            print_table("moves", ["move", "", "score"], [
                [move.move, _note(move), str(move.worth)]
                for move in sorted(report.moves, key=lambda move: move.order)], words=2)
        if report.expanded:
            click.echo("rests on the moves above")
        if report.provenance:
            _show_provenance("and on" if report.expanded else "rests on", report.provenance)

    return Printout(report, report.moves, show)


def _note(move: replies.MoveWorth) -> str:
    if move.best:
        return "best"
    return "secures it" if move.secures else ""


def _show_provenance(title: str, provenance: Sequence[replies.Provenance]) -> None:
    print_table(
        title, ["user", "host", "proves", "workunit", "nodes", "time", "when"],
        [[item.user, item.host_name or str(item.host), span(item.lo, item.hi),
          str(item.workunit), short_count(item.nodes), short_time(item.seconds),
          when(item.received_at)] for item in provenance],
        words=2,
    )


@_asks(Queries.line)
def line(queries: Queries, position: str | None, moves: list[str]) -> Printout:
    """Best play in CAMPAIGN: from the tree, and below it from the engine if the score is proved."""
    steps = queries.line(position, moves)
    worth = None if steps else queries.position(position, moves).worth
    return table(
        "line", steps, ["move", "by", "found by", "score for that side"],
        lambda step: [step.move, step.side, str(step.source), str(step.worth)], words=3,
        nothing=f"unknown: no move is proved there; the score is {worth}",
    )


@_asks(Queries.levels)
def tree(queries: Queries, depth: int) -> Printout:
    """The tree of CAMPAIGN by distance from the root: how much is proved, how much open."""
    levels = queries.levels(depth)
    most = max(level.nodes for level in levels)
    return table(
        "tree", levels, ["ply", "", "nodes", "frontier", "proved", "bounded", "unknown"],
        lambda level: [str(level.ply), bar(level.nodes, most), f"{level.nodes:,}",
                       f"{level.frontier:,}", f"{level.proved:,}", f"{level.bounded:,}",
                       f"{level.unknown:,}"], words=2,
    )


@_asks(Queries.contributors)
def contributors(queries: Queries, most: int) -> Printout:
    """Who has done how much for CAMPAIGN."""
    people = queries.contributors(most)
    top = max((one.nodes for one in people), default=0)
    return table(
        "contributors", people,
        ["user", "", "nodes", "results", "refused", "hosts", "engine time", "last"],
        lambda one: [one.name, bar(one.nodes, top), short_count(one.nodes),
                     f"{one.accepted:,}", f"{one.refused:,}", str(one.hosts),
                     short_time(one.seconds), when(one.last_at)], words=2,
        nothing="nobody yet",
    )


@_asks(Queries.hosts)
def hosts(queries: Queries, most: int) -> Printout:
    """Which computers have done how much for CAMPAIGN."""
    return table(
        "hosts", queries.hosts(most),
        ["host", "user", "version", "nodes", "results", "refused", "engine time", "seen"],
        lambda one: [one.name or str(one.host), one.user, one.version, short_count(one.nodes),
                     f"{one.accepted:,}", f"{one.refused:,}", short_time(one.seconds),
                     when(one.seen_at)], words=3, nothing="none yet",
    )


_one_or_all = click.argument("number", type=click.IntRange(1, 2**63 - 1), required=False)


@_asks(Queries.workunits, number=_one_or_all)
def workunit(queries: Queries, number: int | None, most: int, before: int) -> Printout:
    """The workunit NUMBER of CAMPAIGN: what was asked, what came back. Without a number: which
    there are, the newest first.
    """
    if number is None:
        return table(
            "workunits", queries.workunits(most, before),
            ["question", "state", "workunit", "ply", "expected nodes", "results", "asked"],
            lambda one: [f"at least {signed(one.threshold)}?", one.state, str(one.workunit),
                         str(one.ply), short_count(one.expected), str(one.results),
                         when(one.created_at)], words=2, nothing="no workunits yet",
        )
    report = queries.workunit(number)
    came_back = _results(report.results)

    def show() -> None:
        click.echo(queries.game.draw(queries.find(report.position)))
        click.echo()
        print_facts([
            ("question", f"is the score at least {signed(report.threshold)}?"),
            ("state", report.state),
            ("expected", f"{short_count(report.expected)} nodes, {report.plies_left} plies left"),
            ("asked", when(report.created_at)),
        ])
        came_back.show()

    return Printout(report, report.results, show)


@_asks(Queries.results)
def results(queries: Queries, most: int, before: int) -> Printout:
    """The newest results of CAMPAIGN, including those that were refused."""
    return _results(queries.results(most, before))


def _results(records: Sequence[replies.ResultRecord]) -> Printout:
    return table(
        "results", records,
        ["user", "host", "answer", "state", "workunit", "proves", "nodes", "time", "when"],
        lambda one: [one.user, one.host_name or str(one.host), one.answer, one.state,
                     str(one.workunit), span(one.lo, one.hi), short_count(one.nodes),
                     short_time(one.seconds), when(one.received_at)], words=4,
        nothing="no results yet",
    )


@_asks(Campaigns.teams)
def teams(campaigns: Campaigns, most: int) -> Printout:
    """The teams, those with the most credit (in millions of nodes) first."""
    return table(
        "teams", campaigns.teams(most),
        ["team", "founder", "members", "credit", "this month", "a day"],
        lambda one: [one.name, one.founder or "-", f"{one.members:,}", f"{one.credit:,.1f}",
                     f"{one.month_credit:,.1f}", f"{one.average_credit:,.1f}"], words=2,
        nothing="no teams yet",
    )


@_asks(Campaigns.volunteers)
def volunteers(campaigns: Campaigns, most: int) -> Printout:
    """The volunteers, those with the most credit (in millions of nodes) first."""
    return table(
        "volunteers", campaigns.volunteers(most),
        ["volunteer", "team", "hosts", "results", "credit", "this month", "a day"],
        lambda one: [one.name, one.team or "-", f"{one.hosts:,}", f"{one.results:,}",
                     f"{one.credit:,.1f}", f"{one.month_credit:,.1f}",
                     f"{one.average_credit:,.1f}"], words=2, nothing="nobody has credit yet",
    )


_totals_only = option("--totals", is_flag=True,
                      help="Only how many are confirmed, refuted and open.")


@_asks(Campaigns.claim_totals, totals=_totals_only)
def claims(campaigns: Campaigns, name: str, totals: bool) -> Printout:
    """The claims imported under the name CAMPAIGN: confirmed, refuted or open."""
    count = campaigns.claim_totals(name)
    listed = table(
        "claims", [] if totals else campaigns.claims(name),
        ["campaign", "position", "state", "claim", "score"],
        lambda one: [one.campaign, one.position, one.state, span(one.lower, one.upper),
                     str(one.worth)], words=3,
    )

    def show() -> None:
        if not totals:
            listed.show()
        print_facts([
            ("claims", f"{count.claims:,}: {count.confirmed:,} confirmed, {count.refuted:,}"
                       f" refuted, {count.open:,} open"),
            ("searched", f"{short_count(count.nodes)} nodes"),
            ("work left", _work_left(count)),
        ])

    told = {"totals": count} if totals else {"totals": count, "claims": listed.rows}
    return Printout(told, [count] if totals else listed.rows, show)


def _work_left(count: replies.ClaimTotals) -> str:
    if not count.open:
        return "nothing"
    if count.without_estimate == count.open:
        return "not known yet"
    text = f"about {short_count(count.remaining)} nodes"
    if count.without_estimate:
        text += f", and {count.without_estimate:,} claims of which that is not known yet"
    return text
