"""Static files: read once, compressed once, named by their content so that browsers keep them."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

FOLDER = Path(__file__).parent / "static"
SUFFIXES = (".css", ".js", ".svg")
#: For names that are not made from the content.
DAY = 86400
FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Asset:
    url: str
    kind: str
    body: bytes
    compressed: bytes


class Assets:
    """Every file of the static folder."""

    def __init__(self) -> None:
        files = sorted(path for path in FOLDER.rglob("*") if path.suffix in SUFFIXES)
        self._by_name = {path.relative_to(FOLDER).as_posix(): _read(path) for path in files}
        self._by_url = {asset.url: asset for asset in self._by_name.values()}

    def url(self, name: str) -> str:
        return self._by_name[name].url

    @property
    def routes(self) -> list[Route]:
        return [Route("/static/{path:path}", self._serve), Route("/favicon.ico", self._icon)]

    async def _serve(self, request: Request) -> Response:
        asset = self._by_url.get(request.url.path)
        return Response("no such file\n", 404) if asset is None else _send(request, asset, FOR_EVER)

    async def _icon(self, request: Request) -> Response:
        return _send(request, self._by_name["icon.svg"], f"public, max-age={DAY}")


def _read(path: Path) -> Asset:
    body = path.read_bytes()
    digest = hashlib.sha256(body).hexdigest()[:16]
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    name = path.relative_to(FOLDER).as_posix()
    return Asset(f"/static/{digest}/{name}", kind, body, gzip.compress(body, 9, mtime=0))


def _send(request: Request, asset: Asset, keep: str) -> Response:
    headers = {"cache-control": keep, "vary": "accept-encoding"}
    body = asset.body
    if "gzip" in request.headers.get("accept-encoding", ""):
        body, headers["content-encoding"] = asset.compressed, "gzip"
    return Response(body, headers=headers, media_type=asset.kind)
