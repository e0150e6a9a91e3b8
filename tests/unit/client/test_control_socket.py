"""The control socket of a client whose folder has a longer name than sockets may have."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest

from zermelo.client.control import LONGEST_PATH, ControlServer, ask


def test_a_long_path_is_reached_whatever_folder_for_temporary_files_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / ("x" * LONGEST_PATH) / "control"
    path.parent.mkdir()
    # As a batch system sets it: the folder of the job itself.
    monkeypatch.setattr(tempfile, "tempdir", str(path.parent))

    async def talk() -> dict[str, object]:
        server = ControlServer(path, {"greet": lambda _: {"said": "hello"}})
        await server.start()
        # Whoever asks has another one.
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        try:
            return await asyncio.to_thread(ask, path, "greet")
        finally:
            await server.close()

    assert asyncio.run(talk()) == {"said": "hello"}
