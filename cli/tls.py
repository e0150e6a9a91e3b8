"""`zermelo tls`: certificates for those who run their own project."""

from __future__ import annotations

from pathlib import Path

import click

from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_json


@click.group()
def tls() -> None:
    """Certificates for the coordinator and its operators."""


_folder = click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
_days = option("--days", type=click.IntRange(1, 3650), default=825,
               help="Days for which they are valid; their authority is for ten years.")


@tls.command()
@_folder
@option("--host", "hosts", multiple=True, default=("localhost", "127.0.0.1"),
        help="A name or address of the coordinator; may be repeated.")
@option("--operator", "name", default="operator", show_default=True,
        help="The operator's account, whose name the certificate has.")
@_days
@json_option
def make(folder: Path, hosts: tuple[str, ...], name: str, days: int, as_json: bool) -> None:
    """Make an authority, a server's and an operator's certificate in FOLDER.

    Volunteers need ca.pem; keep the files with `key` in their name secret.
    """
    from zermelo.server.trust.certificates import make_certificates

    files = make_certificates(folder, hosts, days, name)
    if as_json:
        print_json({"files": [str(file) for file in files], "hosts": hosts, "days": days})
        return
    for file in files:
        click.echo(str(file))
    click.echo(
        f"zermelo serve coordinator --certificate {folder / 'server.pem'}"
        f" --key {folder / 'server-key.pem'} --listen HOST:PORT"
        f" --client-ca {folder / 'ca.pem'} --operator-listen HOST:PORT"
    )


@tls.command()
@_folder
@click.argument("name")
@_days
@json_option
def operator(folder: Path, name: str, days: int, as_json: bool) -> None:
    """Make a certificate for another operator, whose account is called NAME.

    The authority in FOLDER signs it.
    """
    from zermelo.server.trust.certificates import add_operator

    files = add_operator(folder, name, days)
    if as_json:
        print_json({"files": [str(file) for file in files], "name": name, "days": days})
        return
    for file in files:
        click.echo(str(file))


@tls.command()
@_folder
@click.argument("name", default="server")
@_days
@json_option
def renew(folder: Path, name: str, days: int, as_json: bool) -> None:
    """Renew the server's certificate, or that of the operator NAME.

    The authority in FOLDER signs it anew, so volunteers keep their ca.pem. Services that read the
    files there need no restart.
    """
    from zermelo.server.trust.certificates import renew as renew_certificate

    end = renew_certificate(folder, name, days)
    if as_json:
        print_json({"name": name, "valid_until": end.isoformat()})
    else:
        click.echo(f"{folder / name}.pem is valid until {end:%Y-%m-%d}")
