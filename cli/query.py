"""`zermelo query`: asking the tree. What is not proved is called unknown, never guessed."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from zermelo.cli.charts import bar, sparkline
from zermelo.cli.doors import door_options, open_campaigns
from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_facts, print_json, print_table, short_count, short_time
from zermelo.cli.plain_errors import CommandError

if TYPE_CHECKING:
    from zermelo.research.questions import Questions

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
        print_json({"standing": standing.as_dict(), "progress": _plain(history),
                    "open_questions": _plain(levels)})
        return
    if as_csv:
        _print_csv(history)
        return
    lo, hi = standing.bounds
    now = f"{lo:+d}" if lo == hi else f"{lo:+d} to {hi:+d}"
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
        print_json(_plain(report))
        return
    if as_csv:
        _print_csv([{"move": move.move, "known": str(move.worth.known), "lo": move.worth.lo,
                     "hi": move.worth.hi, "best": move.best, "secures": move.secures}
                    for move in report.moves])
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
    if report.provenance:
        print_table(
            "rests on", ["user", "host", "proves", "workunit", "nodes", "time", "when"],
            [[item.user, item.host_name or str(item.host), f"{item.lo:+d} to {item.hi:+d}",
              str(item.workunit), short_count(item.nodes), short_time(item.seconds),
              _when(item.received_at)] for item in report.provenance],
            words=2,
        )
    elif report.expanded:
        click.echo("rests on the moves above")


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
    _print(steps, as_json, as_csv, "line", ["move", "by", "score for that side"],
           lambda step: [step.move, step.side, str(step.worth)], words=2,
           nothing="unknown: nothing is proved there yet")


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
    _print(levels, as_json, as_csv, "tree",
           ["ply", "", "nodes", "frontier", "proved", "bounded", "unknown"],
           lambda level: [str(level.ply), bar(level.nodes, most), f"{level.nodes:,}",
                          f"{level.frontier:,}", f"{level.proved:,}", f"{level.bounded:,}",
                          f"{level.unknown:,}"], words=2)


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
    _print(people, as_json, as_csv, "contributors",
           ["user", "", "nodes", "results", "refused", "hosts", "engine time", "last"],
           lambda one: [one.name, bar(one.nodes, top), short_count(one.nodes),
                        f"{one.accepted:,}", f"{one.refused:,}", str(one.hosts),
                        short_time(one.seconds), _when(one.last_at)], words=2,
           nothing="nobody yet")


@query.command()
@_asking
@_most
def hosts(
    campaign: str, most: int, as_json: bool, as_csv: bool, **door: Any
) -> None:
    """Which computers have done how much for CAMPAIGN."""
    with _questions(campaign, as_json, as_csv, door) as questions:
        records = questions.hosts(most)
    _print(records, as_json, as_csv, "hosts",
           ["host", "user", "version", "nodes", "results", "refused", "engine time", "seen"],
           lambda one: [one.name or str(one.host), one.user, one.version, short_count(one.nodes),
                        f"{one.accepted:,}", f"{one.refused:,}", short_time(one.seconds),
                        _when(one.seen_at)], words=3, nothing="none yet")


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
        print_json(_plain(report))
        return
    if not as_csv:
        click.echo(board)
        click.echo()
        print_facts([
            ("question", f"is the score at least {report.threshold:+d}?"),
            ("state", report.state),
            ("expected", f"{short_count(report.expected)} nodes, {report.plies_left} plies left"),
            ("asked", _when(report.created_at)),
        ])
    _print_results(report.results, as_csv)


@query.command()
@_asking
@_most
def results(
    campaign: str, most: int, as_json: bool, as_csv: bool, **door: Any
) -> None:
    """The newest results of CAMPAIGN, whatever became of them."""
    with _questions(campaign, as_json, as_csv, door) as questions:
        records = questions.results(most)
    if as_json:
        print_json({"results": _plain(records)})
    else:
        _print_results(records, as_csv)


@query.command()
@_asking
def claims(
    campaign: str, as_json: bool, as_csv: bool, **door: Any
) -> None:
    """The claims imported under the name CAMPAIGN: confirmed, refuted or open."""
    with open_campaigns(**door) as opened:
        found = opened.claims(campaign)
    _print(found, as_json, as_csv, "claims", ["campaign", "position", "verdict", "claim", "score"],
           lambda one: [one.campaign, one.position, one.verdict,
                        f"{one.lower:+d} to {one.upper:+d}", str(one.worth)], words=3)


# -- printing ---------------------------------------------------------------------------------


@contextmanager
def _questions(
    campaign: str, as_json: bool, as_csv: bool, door: dict[str, Any]
) -> Iterator[Questions]:
    if as_json and as_csv:
        raise CommandError("--json and --csv exclude each other")
    with open_campaigns(**door) as opened:
        yield opened.campaign(campaign)


def _print(
    rows: Sequence[Any], as_json: bool, as_csv: bool, title: str, columns: Sequence[str],
    cells: Callable[[Any], list[str]], *, words: int = 1, nothing: str = "none",
) -> None:
    if as_json:
        print_json({title: _plain(list(rows))})
    elif as_csv:
        _print_csv(rows)
    elif rows:
        print_table(title, columns, [cells(row) for row in rows], words=words)
    else:
        click.echo(nothing)


def _print_results(records: Sequence[Any], as_csv: bool) -> None:
    _print(records, False, as_csv, "results",
           ["user", "host", "answer", "state", "workunit", "proves", "nodes", "time", "when"],
           lambda one: [one.user, one.host_name or str(one.host), one.answer, one.state,
                        str(one.workunit), f"{one.lo:+d} to {one.hi:+d}", short_count(one.nodes),
                        short_time(one.seconds), _when(one.received_at)], words=4,
           nothing="no results yet")


def _print_csv(rows: Sequence[Any]) -> None:
    flat = [_flat(_plain(row)) for row in rows]
    if flat:
        writer = csv.DictWriter(sys.stdout, list(flat[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(flat)


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """One level of names: a worth becomes its parts."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            found |= {"known": value["known"], "lo": value["bounds"][0], "hi": value["bounds"][1]}
        else:
            found[name] = value
    return found


def _plain(value: Any) -> Any:
    from zermelo.research.answers import plain

    return plain(value)


def _move_order(move: Any) -> tuple[bool, bool, int, str]:
    return not move.best, not move.secures, -move.worth.lo, move.move


def _when(at: Any) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S}"
