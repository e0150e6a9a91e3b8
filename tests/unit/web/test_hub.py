"""Live news: the end of the hub."""

from __future__ import annotations

import asyncio

from zermelo.web.hub import Hub


async def nothing(_: str) -> dict[str, str]:
    return {}


def test_the_hub_ends_though_a_cancellation_is_lost() -> None:
    """As `asyncio.wait_for` of Python 3.11 loses one that comes together with its result."""
    lost: list[bool] = []

    class Deaf(Hub):
        async def _run(self) -> None:
            while True:
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    if lost:
                        raise
                    lost.append(True)

    async def live() -> None:
        hub = Deaf("postgresql://", nothing, 1)
        hub.start()
        await asyncio.sleep(0)
        await asyncio.wait_for(hub.close(), 30)

    asyncio.run(live())
    assert lost
