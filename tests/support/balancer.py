"""A real HAProxy with the configuration that the repository offers, at ports of our own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.coordinator import listens, wait_until
from tests.support.places import REPOSITORY
from zermelo.server.ports import free_port
from zermelo.server.trust.certificates import make_certificates

CONFIGURATION = REPOSITORY / "deploy" / "haproxy" / "haproxy.cfg"


@contextmanager
def balancing(folder: Path, coordinators: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """The address before two coordinators, and the certificate to trust there."""
    if not shutil.which("haproxy"):
        pytest.skip("needs haproxy")
    make_certificates(folder / "tls", ["localhost"], 10)
    pair = [(folder / "tls" / name).read_text() for name in ("server.pem", "server-key.pem")]
    (folder / "zermelo.pem").write_text("".join(pair))
    address = f"127.0.0.1:{free_port()}"
    text = CONFIGURATION.read_text().partition("frontend operators")[0]
    if os.geteuid() != 0:  # only root changes accounts
        text = re.sub(r"^ +(user|group) haproxy\n", "", text, flags=re.M)
    for ours, theirs in (
        ("bind :1913", f"bind {address}"), ("/etc/haproxy/", f"{folder}/"),
        *zip(("127.0.0.1:1921", "127.0.0.1:1922"), coordinators, strict=True),
    ):
        assert ours in text
        text = text.replace(ours, theirs)
    file = folder / "haproxy.cfg"
    file.write_text(text)
    with (folder / "haproxy.log").open("wb") as output:
        process = subprocess.Popen(
            ["haproxy", "-db", "-f", str(file)], stdout=output, stderr=output
        )
    try:
        wait_until(lambda: process.poll() is not None or listens(address), 60)
        assert process.poll() is None, (folder / "haproxy.log").read_text()
        yield address, folder / "tls" / "ca.pem"
    finally:
        process.terminate()
        process.wait(60)
