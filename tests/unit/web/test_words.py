"""How pages write numbers and times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from zermelo.web.words import brief_moment


def test_a_moment_in_a_table_is_as_short_as_it_may_be() -> None:
    now = datetime.now(UTC).replace(hour=12, minute=5, second=9)
    assert ">12:05:09</time>" in brief_moment(now)
    assert f'title="{now:%Y-%m-%d} 12:05:09 UTC"' in brief_moment(now)
    assert ">2001-02-03</time>" in brief_moment(datetime(2001, 2, 3, tzinfo=UTC))
    # Another day is told, of this year or of the last.
    assert ">12:05:09<" not in brief_moment(now - timedelta(days=1))
