"""`zermelo health`: whether a coordinator or the pages can serve, for probes and scripts."""

from __future__ import annotations

import ssl
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import click

from zermelo import ZermeloError
from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_json

#: How long to look for the reason why nobody answers.
REASON_SECONDS = 2.0
READY, ALIVE = "ready", "alive"


class UnhealthyError(ZermeloError):
    """Nobody answers, or with a no; the message says which."""

    exit_code = 1


@click.command()
@click.argument("address")
@option("--ca-file", type=click.Path(path_type=Path, exists=True, dir_okay=False), default=None,
        help="Certificates to trust, PEM; then the connection is encrypted.")
@option("--tls-name", default="", metavar="HOST", show_default="that of the address",
        help="The name in the certificate, if ADDRESS has another one.")
@option("--tls/--no-tls", default=None, show_default="with --ca-file or --tls-name",
        help="Encrypt the connection.")
@option("--only", type=click.Choice([READY, ALIVE]), default=READY,
        help="ready: calls are served and the database answers; alive: the process answers.")
@option("--timeout", type=click.FloatRange(0.1, 60), default=5.0,
        help="Seconds to wait for an answer.")
@json_option
def health(
    address: str, ca_file: Path | None, tls_name: str, tls: bool | None, only: str,
    timeout: float, as_json: bool,
) -> None:  # fmt: skip
    """Check whether ADDRESS works: HOST:PORT of a coordinator, or the URL of a page.

    Exit code 0 if it does, 1 if not.
    """
    if address.startswith(("http://", "https://")):
        _ask_page(address, ca_file, timeout)
    else:
        encrypted = bool(ca_file or tls_name) if tls is None else tls
        _ask_coordinator(address, ca_file, tls_name, encrypted, only, timeout)
    if as_json:
        print_json({"address": address, "healthy": True, "state": only})
    else:
        click.echo(f"{address} is {only}")


def _ask_coordinator(
    address: str, ca_file: Path | None, tls_name: str, encrypted: bool, only: str, timeout: float
) -> None:
    """By the standard protocol of gRPC; only its services wait for the database."""
    import grpc
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    from zermelo.proto.service import COORDINATOR

    if encrypted:
        roots = None if ca_file is None else ca_file.read_bytes()
        named = [("grpc.ssl_target_name_override", tls_name)] if tls_name else []
        channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(roots), options=named)
    else:
        channel = grpc.insecure_channel(address)
    service = COORDINATOR.full_name if only == READY else ""
    with channel:
        try:
            reply = health_pb2_grpc.HealthStub(channel).Check(
                health_pb2.HealthCheckRequest(service=service), timeout=timeout,
                wait_for_ready=True,
            )  # fmt: skip
        except grpc.RpcError as error:
            said = error.details() or error.code().name
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                said = f"no answer within {timeout:g} s"
                if reason := _reason(address, ca_file, tls_name, encrypted):
                    said += f": {reason}"
                elif not encrypted:
                    said += "; if it has a certificate, give --ca-file or --tls"
            raise UnhealthyError(f"{address} is not {only}: {said}") from None
    if reply.status != health_pb2.HealthCheckResponse.SERVING:
        raise UnhealthyError(f"{address} is not {only}: the database is away")


def _reason(address: str, ca_file: Path | None, tls_name: str, encrypted: bool) -> str:
    """Why there is no answer, which gRPC does not tell; empty if that cannot be found out."""
    import asyncio

    from zermelo.client.probe import find_out
    from zermelo.client.settings import ServerAddress

    tls = "on" if encrypted and not tls_name else "off"
    with suppress(TimeoutError, ValueError):
        where = ServerAddress(address, ca_file=ca_file, tls=tls)
        return asyncio.run(asyncio.wait_for(find_out(where), REASON_SECONDS))
    return ""


def _ask_page(url: str, ca_file: Path | None, timeout: float) -> None:
    context = ssl.create_default_context(cafile=ca_file) if url.startswith("https") else None
    try:
        with urllib.request.urlopen(url, timeout=timeout, context=context):  # noqa: S310
            pass
    except (urllib.error.URLError, OSError) as error:
        raise UnhealthyError(f"{url} is not ready: {error}") from None
