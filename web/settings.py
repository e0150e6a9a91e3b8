"""What an operator decides about the pages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from zermelo import ZermeloError
from zermelo.server.ports import is_loopback

DEFAULT_LISTEN = "127.0.0.1:8080"


class WebError(ZermeloError, ValueError):
    """The pages cannot be served as asked; the message says why."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class WebSettings:
    listen: str = DEFAULT_LISTEN
    #: The chain and the key of the server, both PEM; without them plain HTTP.
    certificate: Path | None = None
    key: Path | None = None
    #: Addresses of reverse proxies that tell the visitor's address and whether HTTPS was used.
    trusted_proxies: tuple[str, ...] = ()
    #: The coordinator that signs visitors in and does what they ask for; empty for none.
    coordinator: str = ""
    #: Certificates to trust instead of the usual ones when calling the coordinator, PEM.
    coordinator_ca: Path | None = None
    #: Encrypts the cookies of visitors; empty for a random one that ends with the process.
    secret: str = ""
    #: A replica to read from; empty for the database itself.
    read_database: str = ""
    #: Requests a second of one address in the long run, and at once.
    requests_per_second: float = 20.0
    request_burst: float = 200.0
    #: Moves of machines for one address, a second in the long run and at once.
    plays_per_second: float = 2.0
    play_burst: float = 60.0
    #: Live streams of one address at the same time.
    streams_per_address: int = 40
    #: The longest statement for a page.
    statement_seconds: float = 8.0

    @property
    def address(self) -> tuple[str, int]:
        """Host and port to listen on."""
        host, _, port = self.listen.rpartition(":")
        if not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
            raise WebError(
                f"cannot listen on {self.listen!r}; write HOST:PORT, such as {DEFAULT_LISTEN}"
            )
        return host.strip("[]"), int(port)

    @property
    def url(self) -> str:
        """Where the pages are, as this machine sees them."""
        host, port = self.address
        scheme = "https" if self.certificate else "http"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}/"

    def check(self) -> None:
        """`WebError` for what must not be: plain text to strangers, half a certificate."""
        host, _ = self.address
        if (self.certificate is None) != (self.key is None):
            raise WebError("a certificate and its key go together; give both or neither")
        if self.certificate is None and not self.trusted_proxies and not is_loopback(host):
            raise WebError(
                f"{self.listen} is no loopback address: give --certificate and --key, or"
                " --trusted-proxy if a reverse proxy encrypts"
            )

