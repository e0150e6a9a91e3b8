"""What is kept: asked once however many ask, and for a while."""

from __future__ import annotations

import asyncio

import pytest

from zermelo.web.library import Library


def test_many_who_ask_at_once_share_an_answer() -> None:
    async def scenario() -> None:
        library = Library("postgresql://nowhere", 1.0)
        asked = 0

        async def find() -> int:
            nonlocal asked
            asked += 1
            await asyncio.sleep(0)
            return asked

        found = await asyncio.gather(*(library.keep("key", 60.0, find) for _ in range(50)))
        assert set(found) == {1}
        assert await library.keep("key", 60.0, find) == 1
        assert await library.keep("other", 60.0, find) == 2
        await library.close()

    asyncio.run(scenario())


def test_a_failure_is_not_kept() -> None:
    async def scenario() -> None:
        library = Library("postgresql://nowhere", 1.0)

        async def fail() -> int:
            raise ValueError("not now")

        async def succeed() -> int:
            return 5

        with pytest.raises(ValueError, match="not now"):
            await library.keep("key", 60.0, fail)
        assert await library.keep("key", 60.0, succeed) == 5
        await library.close()

    asyncio.run(scenario())
