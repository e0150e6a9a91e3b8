"""Statistics for other sites, in the form that BOINC projects publish them.

`user.gz`, `host.gz`, `team.gz` and `tables.xml`. Users and hosts are in them only with the
user's consent. Credit is in millions of nodes, `expavg_credit` the average by day with a
half-life of a week.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from xml.sax.saxutils import escape

from psycopg.rows import dict_row
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zermelo.server.database import Connection
from zermelo.sql import query
from zermelo.texts import one_line
from zermelo.web.errors import Offer, TroubleError
from zermelo.web.site import site_of

#: How old the files may be.
KEEP_SECONDS = 3600.0
TABLES = {"user": "exported_users", "host": "exported_hosts", "team": "exported_teams"}
#: What a column is called in the files; those that are not named here are left out.
ELEMENTS = {
    "id": "id", "name": "name", "description": "description", "user_id": "userid",
    "founder": "userid", "team": "teamid", "created_at": "create_time", "seen_at": "rpc_time",
    "credit": "total_credit", "average_credit": "expavg_credit", "platform": "os_name",
    "cores": "p_ncpus", "memory_mb": "m_nbytes", "members": "nusers",
}  # fmt: skip


def routes() -> list[Route]:
    return [
        Route("/stats/tables.xml", tables),
        Route("/stats/{table}.gz", table),
    ]


async def table(request: Request) -> Response:
    name = request.path_params["table"]
    if name not in TABLES:
        raise TroubleError(404, "No such file", f"There is no file {name}.gz.", [
            *(Offer(f"{each}.gz", f"/stats/{each}.gz") for each in TABLES),
            Offer("tables.xml", "/stats/tables.xml"),
        ])  # fmt: skip
    library = site_of(request).library

    async def make() -> bytes:
        return await library.read(lambda connection: _table(connection, name))

    packed = await library.keep(("statistics", name), KEEP_SECONDS, make)
    return Response(packed, media_type="application/gzip")


async def tables(request: Request) -> Response:
    library = site_of(request).library

    async def make() -> str:
        (found,) = await library.read(lambda connection: _rows(connection, "exported_totals"))
        return _element("tables", [
            _element("update_time", str(round(time.time()))),
            *(_element(f"n{each}s_total", str(found[f"{each}s"])) for each in TABLES),
            _element("total_credit", f"{found['credit']:.6f}"),
        ])  # fmt: skip

    text = await library.keep(("statistics", "tables"), KEEP_SECONDS, make)
    return Response(_HEAD + text, media_type="application/xml")


_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def _table(connection: Connection, name: str) -> bytes:
    now = time.time()
    rows = [_row(name, row, now) for row in _rows(connection, TABLES[name])]
    return gzip.compress((_HEAD + _element(f"{name}s", rows)).encode())


def _rows(connection: Connection, asked: str) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query(asked)).fetchall()


def _row(name: str, row: Mapping[str, Any], now: float) -> str:
    told = [
        _element(ELEMENTS[column], _text(column, value))
        for column, value in row.items() if column in ELEMENTS and value is not None
    ]  # fmt: skip
    told.append(_element("expavg_time", f"{now:.0f}"))
    return _element(name, told)


def _text(column: str, value: Any) -> str:
    if isinstance(value, datetime):
        return f"{value.timestamp():.0f}"
    if isinstance(value, float):
        return f"{value:.6f}"
    if column == "memory_mb":
        return str(value * 1_000_000)
    # XML has no place for control characters, not even escaped ones.
    return escape(one_line(str(value)))


def _element(name: str, content: str | Iterable[str]) -> str:
    if isinstance(content, str):
        return f"<{name}>{content}</{name}>\n"
    return f"<{name}>\n{''.join(content)}</{name}>\n"
