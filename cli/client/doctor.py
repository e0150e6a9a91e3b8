"""`zermelo client doctor`: what works here, what does not, and what to do about it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from zermelo.cli.client.options import data_dir_option, server_options
from zermelo.cli.options import json_option
from zermelo.cli.output import print_facts, print_json
from zermelo.client.caller import Given
from zermelo.client.doctor import Finding, Severity, examine
from zermelo.client.folder import ClientFolder

MARKS = {Severity.GOOD: "", Severity.NOTE: "note: ", Severity.BAD: "BAD: "}
EXIT_BAD = 1


@click.command()
@server_options
@data_dir_option
@json_option
def doctor(
    server: str | None,
    token: str | None,
    ca_file: Path | None,
    tls: str | None,
    data_dir: Path,
    as_json: bool,
) -> None:
    """Check installation, processor, clock, disk, network and token.

    The output tells no secrets: paste it into a bug report as it is.
    """
    findings: list[Finding] = []
    for finding in examine(ClientFolder(data_dir), Given(server, token, ca_file, tls)):
        findings.append(finding)
        if not as_json:
            print_facts([(f"{finding.check} ", MARKS[finding.severity] + finding.sentence)])
    bad = [finding for finding in findings if finding.severity is Severity.BAD]
    if as_json:
        print_json({
            "well": not bad,
            "findings": [
                {"check": finding.check, "severity": finding.severity.value,
                 "sentence": finding.sentence}
                for finding in findings
            ],
        })  # fmt: skip
    elif bad:
        click.secho(f"{len(bad)} things to mend", fg="red", err=True)
    else:
        click.secho("everything is well", fg="green", err=True)
    if bad:
        sys.exit(EXIT_BAD)
