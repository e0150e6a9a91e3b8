"""New clusters are copies of one that is kept aside, each with a password of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.support.databases import open_folder
from zermelo.server.database import check_schema, connect_once, init_schema, migrate_schema
from zermelo.server.embedded import EmbeddedError, EmbeddedPostgres, running
from zermelo.server.embedded.passwords import ROLE, ensure_password
from zermelo.sql import migrations, new_database


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the template is kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "zermelo" / "clusters"


@contextmanager
def new_cluster(contents: str = "") -> Iterator[tuple[Path, str]]:
    with open_folder() as folder, running(EmbeddedPostgres(folder, contents=contents)) as url:
        yield folder, url


def log_of(folder: Path) -> str:
    return (folder / "postgres.log").read_text()


def works(url: str) -> bool:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT 1").fetchone() == (1,)


def password_works(url: str, password: str) -> bool:
    try:
        psycopg.connect(url, user=ROLE, password=password, passfile="/dev/null").close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.mark.slow
def test_a_copy_has_a_password_of_its_own(kept: Path) -> None:
    with new_cluster() as (first, url):
        assert works(url)
        assert "bootstrap" in log_of(first)
        former = ensure_password(first)
    (template,) = kept.iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    assert not list(template.rglob("*.password"))
    with new_cluster() as (second, url):
        assert works(url)
        assert "bootstrap" not in log_of(second)
        own = ensure_password(second)
        assert own != former
        assert password_works(url, own)
        assert not password_works(url, former)
    assert list(kept.iterdir()) == [template]


@pytest.mark.slow
def test_a_template_that_is_no_use_is_not_used(kept: Path) -> None:
    with new_cluster():
        pass
    (template,) = kept.iterdir()
    (template / "global" / "pg_control").unlink()
    with new_cluster() as (folder, url):
        assert works(url)
        assert "bootstrap" in log_of(folder)


@pytest.mark.slow
def test_what_others_could_have_written_is_not_used(kept: Path) -> None:
    with new_cluster():
        pass
    kept.chmod(0o777)
    with new_cluster() as (folder, url):
        assert works(url)
        assert "bootstrap" in log_of(folder)


@pytest.mark.slow
def test_without_a_place_for_it_all_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = tmp_path / "a file"
    taken.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(taken))
    with new_cluster() as (_, url):
        assert works(url)


@pytest.mark.slow
def test_a_new_database_has_its_contents_from_the_first_connection_on(kept: Path) -> None:
    for origin in ("made", "copied"):
        with new_cluster(new_database()) as (folder, url), connect_once(url) as connection:
            assert ("bootstrap" in log_of(folder)) == (origin == "made")
            check_schema(connection)
            assert not init_schema(connection)
            assert migrate_schema(connection) == []
            found = connection.execute("SELECT version, name, serves FROM schema_migrations")
            assert found.fetchall() == [(m.version, m.name, m.serves) for m in migrations()]
    assert len(list(kept.iterdir())) == 1
    with new_cluster() as (folder, url):  # which is another template
        assert "bootstrap" in log_of(folder)
        assert works(url)
    assert len(list(kept.iterdir())) == 2


@pytest.mark.slow
def test_contents_that_fail_leave_nothing_behind(kept: Path) -> None:
    with open_folder() as folder:
        postgres = EmbeddedPostgres(folder, contents="CREATE TABLE one ();\n\nCREATE TABLE one ();")
        with pytest.raises(EmbeddedError, match="already exists"), running(postgres):
            pass
        assert not postgres.cluster.exists()
    assert not kept.exists()
