"""Backups of every version of PostgreSQL that is installed, restored into the same version."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from tests.support.postgres_versions import installed_servers, running_server
from zermelo.server.check import check_database
from zermelo.server.database import connect_once, ensure_schema, schema_version
from zermelo.server.dumps import DumpError, back_up_database, restore_database

OTHERS = installed_servers()


@pytest.mark.skipif(not OTHERS, reason="no other version of PostgreSQL is installed")
@pytest.mark.parametrize(
    "version",
    [
        pytest.param(version, marks=[] if version == min(OTHERS) else [pytest.mark.long])
        for version in sorted(OTHERS)
    ],
)
def test_backup_and_restore_into_the_same_version(version: str, tmp_path: Path) -> None:
    with running_server(OTHERS[version]) as url:
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute("CREATE DATABASE original")
            admin.execute("CREATE DATABASE copy")
        original, copy = (url.replace("/postgres?", f"/{name}?") for name in ("original", "copy"))
        ensure_schema(original)
        with connect_once(original) as connection:
            connection.execute("INSERT INTO users (name) VALUES ('SET transaction_timeout = 0;')")
            users = connection.execute("SELECT * FROM users ORDER BY id").fetchall()
        file = tmp_path / "backup"
        back_up_database(original, file)
        assert file.stat().st_mode & 0o777 == 0o600

        damaged = tmp_path / "damaged"
        damaged.write_bytes(file.read_bytes()[:-2000])
        with pytest.raises(DumpError):
            restore_database(copy, damaged)
        with connect_once(copy) as connection:  # nothing of it, so that a sound one fits
            assert schema_version(connection) == 0

        restore_database(copy, file)
        with connect_once(copy) as connection:
            assert connection.execute("SELECT * FROM users ORDER BY id").fetchall() == users
            assert check_database(connection) == []
