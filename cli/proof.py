"""`zermelo proof`: certificates that strangers can check."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from zermelo.checker.limits import DEFAULT_MEMORY_BYTES, DEFAULT_SECONDS
from zermelo.cli.game_files import CAMPAIGN
from zermelo.cli.options import database_options, json_option, open_connection, option
from zermelo.cli.output import print_facts, print_json, short_count, short_time
from zermelo.cli.plain_errors import CommandError
from zermelo.cli.watch import Ticker
from zermelo.client.settings import usable_cores
from zermelo.proof.statement import statement

if TYPE_CHECKING:
    from zermelo.checker import Header, Refusal, Report

#: Exit codes of `verify`, besides those of the errors: it does not prove what it says, or
#: nothing was found wrong but not everything was looked at.
REFUSED = 1
PARTLY_CHECKED = 4
_SAMPLE = re.compile(r"sample:([0-9]{1,9})", re.ASCII)


@click.group()
def proof() -> None:
    """Export and verify proofs."""


@proof.command()
@click.argument("campaign", type=CAMPAIGN)
@option("--output", "-o", type=click.Path(path_type=Path, dir_okay=False), required=True,
        help="The file to write.")
@option("--to-depth", type=click.IntRange(0, 1000), default=None,
        help="Go on below the frontier, to this number of plies from the root.")
@option("--full", is_flag=True, help="Go on to the end of every game; no leaves remain.")
@database_options
@json_option
def export(
    campaign: str, output: Path, to_depth: int | None, full: bool, data_dir: Path,
    database: str | None, as_json: bool,
) -> None:
    """Write what CAMPAIGN has proved about its root into a file that anybody can verify.

    For each bound of the root the file has the strategy of the side that secures it. An
    unfinished campaign is exported as far as it is.
    """
    from zermelo.proof.export import export_proof
    from zermelo.server.campaigns import find_campaign

    if not output.absolute().parent.is_dir():
        raise CommandError(f"there is no folder {str(output.parent)!r} to write into")
    with open_connection(data_dir, database) as connection, Ticker() as ticker:
        exported = export_proof(
            connection, find_campaign(connection, campaign), output, to_depth=to_depth, full=full,
            report=lambda stage, count: ticker.show(f"{stage}: {count:,} positions"),
        )
    if as_json:
        print_json({
            "file": str(output), "bytes": exported.size, **_header_facts(exported.header),
            "unproved": exported.unproved or None,
        })
        return
    facts = [
        ("proves", statement(exported.header)),
        ("positions", f"{exported.entries:,}, of them {exported.leaves:,} leaves"),
        ("file", f"{output}, {exported.size:,} bytes"),
    ]
    if exported.unproved:
        facts.insert(1, ("not proved", exported.unproved))
    print_facts(facts)


@proof.command()
@click.argument("file", type=click.Path(path_type=Path))
@option("--leaves", default="all", metavar="all|sample:N|none",
        help="Which leaves to search again: all, a number of them chosen at random, or none.")
@option("--seed", type=click.IntRange(0), default=None,
        help="Repeat the choice of an earlier sample.")
@option("--threads", type=click.IntRange(1, 1024), default=None, show_default="one per core",
        help="Searches that run at the same time.")
@option("--max-memory", type=click.IntRange(1, 1 << 20), default=DEFAULT_MEMORY_BYTES >> 20,
        metavar="MIB", help="What the entries of the file may take, in MiB.")
@option("--max-seconds", type=click.FloatRange(0, min_open=True), default=DEFAULT_SECONDS,
        help="Seconds that the check may take.")
@json_option
def verify(
    file: Path, leaves: str, seed: int | None, threads: int | None, max_memory: int,
    max_seconds: float, as_json: bool,
) -> None:
    """Check a certificate with a program that shares nothing with the engine.

    Every position must be legal and every reply answered, every bound must follow from the
    positions after it, and leaves are searched again.

    Exit codes: 0 verified, 1 refused, 2 wrong input, 3 damaged or no certificate, 4 partly
    checked (some leaves were believed), 5 beyond --max-memory or --max-seconds.
    """
    from zermelo.checker import DamagedError, LimitError, RefusedError
    from zermelo.checker.verify import verify as check

    sample = _sample_size(leaves)
    try:
        with Ticker() as ticker:
            report = check(
                file, sample=sample, threads=threads or usable_cores(), seed=seed,
                max_memory=max_memory << 20, max_seconds=max_seconds,
                progress=lambda stage, done, total: ticker.show(
                    f"{stage}: {done:,} of {total:,}" if total else f"{stage}: {done:,}"
                ),
            )
    except RefusedError as error:
        _refuse(error.refusal, as_json)
    except DamagedError as error:
        if error.board and not as_json:
            click.echo(error.board)
        raise
    except MemoryError:
        raise LimitError("this computer has too little memory for the check") from None
    if as_json:
        print_json(_as_json(report))
    else:
        print_facts(_facts(report))
    if not report.complete:
        sys.exit(PARTLY_CHECKED)


def _sample_size(leaves: str) -> int | None:
    """How many leaves to check; None for all of them."""
    if leaves == "all":
        return None
    if leaves == "none":
        return 0
    matched = _SAMPLE.fullmatch(leaves)
    if matched is None:
        raise CommandError(f"--leaves {leaves!r}: write all, none or sample:N, e.g. sample:100")
    return int(matched[1])


def _refuse(refusal: Refusal, as_json: bool) -> NoReturn:
    if as_json:
        print_json({
            "verdict": "refused", "accepted": False, "fault": refusal.fault.name.lower(),
            "entry": refusal.entry, "reason": refusal.reason, "position": refusal.position,
        })
    else:
        click.echo(refusal.board)
        click.secho(f"REFUSED: {refusal.reason}", fg="red", bold=True)
    sys.exit(REFUSED)


def _header_facts(header: Header) -> dict[str, Any]:
    """The header for programs; a definition is named by the digest in its spec."""
    told = asdict(header)
    del told["definition"]
    return told


def _facts(report: Report) -> list[tuple[str, str]]:
    if report.complete:
        verdict = "VERIFIED: every step was checked"
    else:
        verdict = "PARTLY CHECKED: leaves were believed, so nothing is proved"
    return [
        ("verdict", verdict),
        ("proves" if report.complete else "states", statement(report.header)),
        ("made by", f"zermelo {report.header.version}, campaign {report.header.campaign},"
                    f" {report.header.created}"),
        ("positions", f"{report.entries:,} in {short_time(report.structure_seconds)}"),
        ("leaves", _leaves_in_words(report)),
        ("digest", report.digest),
    ]


def _leaves_in_words(report: Report) -> str:
    if report.complete:
        text = f"all {report.leaves:,} searched again"
    elif not report.leaves_checked:
        return f"none of {report.leaves:,} searched again: their bounds are believed"
    else:
        share = report.leaves_checked / report.leaves
        text = (
            f"{report.leaves_checked:,} of {report.leaves:,} searched again (seed {report.seed}),"
            f" all right; with {report.confidence:.0%} confidence at most"
            f" {report.most_wrong:,} of them ({report.most_wrong / report.leaves:.1%}) are wrong;"
            f" a single wrong one would have been found with {share:.1%} probability"
        )
    return f"{text}; {short_count(report.nodes)} nodes in {short_time(report.leaf_seconds)}"


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "verdict": "verified" if report.complete else "partly checked",
        "accepted": report.complete,
        "complete": report.complete,
        **_header_facts(report.header),
        "digest": report.digest,
        "leaves_checked": report.leaves_checked,
        "seed": report.seed,
        "confidence": report.confidence if not report.complete else 1.0,
        "most_wrong_leaves": report.most_wrong,
        "nodes": report.nodes,
        "structure_seconds": round(report.structure_seconds, 6),
        "leaf_seconds": round(report.leaf_seconds, 6),
    }
