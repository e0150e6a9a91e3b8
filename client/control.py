"""The control socket: how commands of the same owner talk to the running daemon.

One JSON object a line in, one out. The socket is in the client's folder, which only the
owner can enter; where the system tells who is calling, that is checked as well.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import socket
import struct
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from zermelo.client.settings import ClientError

log = logging.getLogger(__name__)

#: What the kernel takes as the name of a socket, with some room.
LONGEST_PATH = 100
#: Where stand-ins for longer ones are, in a folder that is private.
SHARED = Path("/tmp")  # noqa: S108
LONGEST_REQUEST = 4096
ANSWER_SECONDS = 5.0

Reply = dict[str, Any]
Command = Callable[[dict[str, Any]], Reply | Awaitable[Reply]]


class NotRunningError(ClientError):
    """No daemon answers on the control socket."""


class ControlServer:
    def __init__(self, path: Path, commands: dict[str, Command]) -> None:
        self._path = reachable(path)
        self._commands = commands
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._path.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            self._server = await asyncio.start_unix_server(
                self._serve, self._path, limit=LONGEST_REQUEST
            )
        finally:
            os.umask(before)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Cancelled with a question open when the daemon ends, which asyncio would call an error.
        ends = (asyncio.CancelledError, ConnectionError, ValueError, asyncio.IncompleteReadError)
        with suppress(*ends):
            if _is_owner(writer.get_extra_info("socket")):
                while line := await reader.readline():
                    writer.write(json.dumps(await self._answer(line)).encode() + b"\n")
                    await writer.drain()
        writer.close()

    async def _answer(self, line: bytes) -> Reply:
        try:
            request = json.loads(line)
            command = self._commands[request["command"]]
        except (ValueError, KeyError, TypeError):
            known = ", ".join(sorted(self._commands))
            return {"error": f"not understood; a request is an object with a command of {known}"}
        try:
            answer = command(request)
            return answer if isinstance(answer, dict) else await answer
        except (ValueError, TypeError) as error:
            return {"error": str(error)}


def ask(path: Path, command: str, **fields: Any) -> dict[str, Any]:
    """What the daemon answers to a command."""
    try:
        with socket.socket(socket.AF_UNIX) as stream:
            stream.settimeout(ANSWER_SECONDS)
            stream.connect(str(reachable(path)))
            stream.sendall(json.dumps({"command": command, **fields}).encode() + b"\n")
            with stream.makefile("rb") as lines:
                line = lines.readline()
    except (FileNotFoundError, ConnectionError):
        line = b""
    except PermissionError:
        raise ClientError(f"the client in {path.parent} belongs to somebody else") from None
    except TimeoutError:
        raise ClientError(f"the client in {path.parent} does not answer; is it stopped?") from None
    if not line:
        raise NotRunningError(
            f"no client runs in {path.parent}; start one with `zermelo client run`"
        )
    answer: dict[str, Any] = json.loads(line)
    if "error" in answer:
        raise ClientError(str(answer["error"]))
    return answer


def reachable(path: Path) -> Path:
    """The path itself, or a short stand-in in a private folder if it is too long a name."""
    path = path.absolute()
    if len(os.fsencode(path)) <= LONGEST_PATH:
        return path
    name = hashlib.blake2b(os.fsencode(path), digest_size=8).hexdigest()
    # Not TMPDIR: whoever asks may have another one, and that of a batch system is long itself.
    shared = SHARED if os.access(SHARED, os.W_OK) else Path(tempfile.gettempdir())
    folder = shared / f"zermelo-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise ClientError(f"{folder} is not private to you; remove it, or shorten --data-dir")
    return folder / name


def _is_owner(stream: socket.socket) -> bool:
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    size = struct.calcsize("3i")
    _, uid, _ = struct.unpack("3i", stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    return uid in (os.getuid(), 0)
