"""`zermelo campaign`: what is to be solved."""

from __future__ import annotations

import getpass
import json
from pathlib import Path
from typing import Any

import click

from zermelo.cli.game_files import CAMPAIGN, open_local_game
from zermelo.cli.options import (
    database_options,
    json_option,
    node_budget_option,
    open_connection,
    option,
    target_seconds_option,
)
from zermelo.cli.plain_errors import CommandError, agree
from zermelo.engine import open_engine
from zermelo.server.campaigns import (
    DEFAULT_PROBE_RATE,
    Summary,
    campaign_summary,
    create_campaign,
    find_campaign,
    set_share,
)
from zermelo.server.dropping import droppable
from zermelo.server.goals import Goal
from zermelo.server.growth import grow as grow_tree
from zermelo.server.trust.administration import drop_campaigns, steer
from zermelo.server.vocabulary import DEFAULT_REPLICATION, CampaignState, Replication


@click.group()
def campaign() -> None:
    """Create, list, show and steer campaigns."""


_replication_option = option(
    "--replication", default=str(DEFAULT_REPLICATION), metavar="none|adaptive|quorum=N",
    help="Whose answers are checked: nobody's, those of new hosts and some of trusted ones,"
         " or every one until N users agree.",
)  # fmt: skip

_SHARES = click.FloatRange(0, 1000, min_open=True)
_share_option = option(
    "--share", type=_SHARES, default=1.0,
    help="Share of the clients, relative to other campaigns.",
)


@campaign.command()
@click.argument("spec")
@option("--name", default=None, help="Name of the campaign.  [default: the spec]")
@option("--goal", type=click.Choice([str(goal) for goal in Goal]), default=str(Goal.SCORE),
        help="What to prove: the exact score, or only who wins.")
@option("--position", default=None, help="Where to start.  [default: the initial position]")
@target_seconds_option
@node_budget_option(type=click.IntRange(1), default=None,
                    help="Most nodes of a workunit, whatever the client's speed.")
@_replication_option
@option("--probe-rate", type=click.FloatRange(0, 1), default=DEFAULT_PROBE_RATE,
        help="Share of the questions handed out whose answer is already known.")
@_share_option
@database_options
@json_option
def create(
    spec: str, name: str | None, goal: str, position: str | None, target_seconds: float | None,
    node_budget: int | None, replication: str, probe_rate: float, share: float, data_dir: Path,
    database: str | None, as_json: bool,
) -> None:
    """Start a campaign for the game SPEC, such as reversi:6x6, or of a definition FILE.toml."""
    spec = open_local_game(spec).spec
    policy, quorum = _replication(replication)
    with open_connection(data_dir, database, create=True) as connection:
        made = create_campaign(
            connection, spec, name=name, goal=goal, position=position,
            target_seconds=target_seconds, node_budget=node_budget, replication=policy,
            quorum=quorum, probe_rate=probe_rate, share=share,
        )
        summary = campaign_summary(connection, made.name)
    if as_json:
        click.echo(json.dumps({"created": made.is_new, **summary.as_dict()}))
        return
    if not made.is_new:
        click.echo(
            f"campaign {made.name!r} exists already; it stays as it is, whatever the options say",
            err=True,
        )
    _show(summary, as_json)


def _replication(text: str) -> tuple[Replication, int]:
    """The policy and its quorum, such as ``quorum=3``."""
    policy, _, number = text.partition("=")
    if policy == Replication.QUORUM and number.isdecimal() and 2 <= int(number) <= 20:
        return Replication.QUORUM, int(number)
    if policy in (Replication.NONE, Replication.ADAPTIVE) and not number:
        return Replication(policy), 1
    raise CommandError(f"--replication {text!r}: say none, adaptive or quorum=N, N from 2 to 20")


@campaign.command(name="list")
@database_options
@json_option
def list_(data_dir: Path, database: str | None, as_json: bool) -> None:
    """All campaigns and how far they are."""
    from zermelo.research.api import TreeCampaigns

    with open_connection(data_dir, database) as connection:
        summaries = TreeCampaigns(connection).standings()
    if as_json:
        told = [summary.as_dict() for summary in summaries]
        for one in told:
            del one["line"]  # `campaign show` and `query line` tell it; thousands take too long
        click.echo(json.dumps({"campaigns": told}))
        return
    click.echo("".join(
        f"{summary.campaign:24} {summary.goal:8} {summary.state:10} {_standing(summary)}\n"
        for summary in summaries
    ), nl=False)  # fmt: skip
    if not summaries:
        click.echo("no campaigns; start one with `zermelo campaign create SPEC`")


@campaign.command()
@click.argument("name", type=CAMPAIGN)
@database_options
@json_option
def show(name: str, data_dir: Path, database: str | None, as_json: bool) -> None:
    """Show state, bounds and progress of the campaign NAME."""
    with open_connection(data_dir, database) as connection:
        _show(campaign_summary(connection, name), as_json)


@campaign.command()
@click.argument("name", type=CAMPAIGN)
@option("--moves", type=click.IntRange(1, 30), required=True,
        help="Depth in moves; passes do not count.")
@database_options
@json_option
def grow(
    name: str, moves: int, data_dir: Path, database: str | None, as_json: bool
) -> None:
    """Expand the tree of the new campaign NAME before anything is asked.

    For games so large that their first positions are surely too hard for any client.
    """
    with open_connection(data_dir, database) as connection:
        chosen = find_campaign(connection, name)
        engine = open_engine(chosen.game)
        counts: list[int] = []
        nodes = grow_tree(connection, chosen, engine, moves, lambda _, count: counts.append(count))
    if as_json:
        click.echo(json.dumps({"nodes": nodes, "positions_by_moves": counts}))
        return
    for made, count in enumerate(counts):
        click.echo(f"{made:3} moves {count:12,} positions")


@campaign.command(name="import")
@click.argument("file", type=click.Path(path_type=Path))
@option("--game", "spec", default=None, metavar="SPEC",
        help="The game, if the file does not name it.")
@option("--name", default=None, help="Name of the list.  [default: the file's name]")
@target_seconds_option
@_replication_option
@_share_option
@database_options
@json_option
def import_(
    file: Path, spec: str | None, name: str | None, target_seconds: float | None,
    replication: str, share: float, data_dir: Path, database: str | None, as_json: bool,
) -> None:
    """Check the claims of FILE, a campaign for each: lines POSITION,LOWER,UPPER.

    `zermelo query claims NAME` tells which are confirmed, refuted or open. The campaigns of a list
    together get the share of one.
    """
    from zermelo.server.claims import import_claims, read_claims

    game, claims = read_claims(file, None if spec is None else open_local_game(spec))
    name = name or file.stem
    policy, quorum = _replication(replication)
    with open_connection(data_dir, database, create=True) as connection:
        made = import_claims(
            connection, game, name, claims, target_seconds=target_seconds, replication=policy,
            quorum=quorum, share=share,
        )
    if as_json:
        click.echo(json.dumps({"name": name, "game": game.spec,
                               "campaigns": [campaign.name for campaign in made]}))
        return
    click.echo(f"{len(made):,} campaigns, {made[0].name} to {made[-1].name};"
               f" `zermelo query claims {name}` tells how they stand")


@campaign.command(name="share")
@click.argument("name", type=CAMPAIGN)
@click.argument("share", type=_SHARES)
@database_options
@json_option
def share_(
    name: str, share: float, data_dir: Path, database: str | None, as_json: bool
) -> None:
    """Give the campaign NAME, or each of the list of claims NAME, another SHARE of the clients."""
    with open_connection(data_dir, database) as connection:
        changed = set_share(connection, name, share)
    if as_json:
        click.echo(json.dumps({"name": name, "share": share, "campaigns": changed}))
        return
    click.echo(f"{name}: share {share:g}" + (f" for {changed:,} campaigns" if changed > 1 else ""))


@campaign.command()
@click.argument("name", type=CAMPAIGN)
@option("--yes", is_flag=True, help="Do not ask, and show no preview.")
@database_options
@json_option
def drop(name: str, yes: bool, data_dir: Path, database: str | None, as_json: bool) -> None:
    """Delete the ended campaign NAME, or the list of claims NAME, with its tree and answers.

    It is gone at once; the services remove its rows afterwards. Credit stays. What is proved is
    lost, except in certificates that you exported.
    """
    with open_connection(data_dir, database) as connection:
        ended = droppable(connection, name)
        nodes = sum(campaign.tree_nodes for campaign in ended)
        workunits = sum(campaign.workunits for campaign in ended)
        if not yes:
            if as_json:
                raise CommandError("nothing was done; give --yes to drop without a question")
            click.echo(
                f"{len(ended):,} campaign{'s' * (len(ended) > 1)} with {nodes:,} nodes and"
                f" {workunits:,} workunits; `zermelo proof export {ended[0].name}` keeps what is"
                " proved", err=True,
            )  # fmt: skip
            agree("Drop all of it? This cannot be undone")
        drop_campaigns(connection, name, actor=getpass.getuser())
    if as_json:
        click.echo(json.dumps({
            "dropped": [campaign.name for campaign in ended], "nodes": nodes,
            "workunits": workunits,
        }))  # fmt: skip
        return
    click.echo(f"dropped {name}")


def _steering(command: str, state: CampaignState, help_text: str) -> None:
    @campaign.command(name=command, help=help_text)
    @click.argument("name", type=CAMPAIGN)
    @database_options
    @json_option
    def steering(name: str, data_dir: Path, database: str | None, as_json: bool) -> None:
        with open_connection(data_dir, database) as connection:
            steer(connection, name, state, reason="", actor=getpass.getuser())
            _show(campaign_summary(connection, name), as_json)


_steering("pause", CampaignState.PAUSED, "Ask no more questions until the campaign is resumed.")
_steering("resume", CampaignState.RUNNING, "Go on with a paused campaign.")
_steering(
    "cancel", CampaignState.CANCELLED, "End a campaign for good; what is proved stays."
)


def _show(summary: Summary, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(summary.as_dict()))
        return
    rows: dict[str, Any] = {
        "campaign": summary.campaign,
        "goal": summary.goal,
        "state": summary.state,
        "root": _standing(summary),
        "line": " ".join(summary.line) or "unknown",
        "tree": f"{summary.tree_nodes:,} nodes, {summary.open_questions:,} open questions",
        "workunits": (
            f"{summary.workunits:,}: {summary.ready:,} ready, {summary.leased:,} leased,"
            f" {summary.returned:,} returned, {summary.answered:,} answered,"
            f" {summary.splits:,} split, {summary.withdrawn:,} withdrawn"
        ),
        "searched": f"{summary.nodes:,} nodes, {_share(summary)} of them unneeded",
        "remaining": _remaining(summary),
        "alarms": summary.alarms,
    }
    for title, text in rows.items():
        click.echo(f"{title:10} {text}")


def _standing(summary: Summary) -> str:
    lo, hi = summary.bounds
    score = f"value {lo}" if lo == hi else f"between {lo} and {hi}"
    if summary.outcome:
        return f"{score}, {summary.outcome}"
    if summary.threshold is not None:
        return f"{score}, testing {summary.threshold}"
    return score


def _share(summary: Summary) -> str:
    return f"{summary.wasted_nodes / summary.nodes:.1%}" if summary.nodes else "none"


def _remaining(summary: Summary) -> str:
    if summary.state in (CampaignState.FINISHED, CampaignState.CANCELLED):
        return "nothing"
    if summary.remaining is None or summary.remaining_factor is None:
        return "unknown"
    if summary.remaining < 1:  # proved, and the campaign ends in a moment
        return "nothing"
    low = summary.remaining / summary.remaining_factor
    high = summary.remaining * summary.remaining_factor
    return f"about {summary.remaining:.1e} nodes, 80 % likely between {low:.1e} and {high:.1e}"
