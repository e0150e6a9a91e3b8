"""Checks of everything a client depends on, each with a finding and a remedy in words."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from importlib import metadata
from pathlib import Path

import psutil

from zermelo import ZermeloError, __version__
from zermelo.client.caller import Given, owners_address
from zermelo.client.checkpoints import CheckpointFileError, Checkpoints
from zermelo.client.configuration import Configuration, read_configuration
from zermelo.client.control import NotRunningError, ask
from zermelo.client.files import write_atomically
from zermelo.client.folder import ClientFolder, why
from zermelo.client.logs import NAME as LOG_NAME
from zermelo.client.preferences import Preferences
from zermelo.client.sensors import SystemSensors
from zermelo.client.settings import ClientError, usable_cores
from zermelo.client.trial import try_server
from zermelo.engine import Status, open_engine
from zermelo.engine.dispatch import available_instructions
from zermelo.games import open_game

LIBRARIES = ("grpcio", "protobuf", "psutil", "click", "rich")
#: A game whose value is known, and a search long enough to tell the speed.
KNOWN_GAME, KNOWN_VALUE = "reversi:4x4", -8
SPEED_GAME, SPEED_NODES = "reversi:8x8", 1_000_000
LEAST_FREE_MB = 500
#: No computer that runs this release lives before it.
RELEASED = datetime(2026, 1, 1, tzinfo=UTC)
CLOCK_SECONDS = 0.5
MOST_DRIFT = 0.05
LAST_WARNINGS = 5


class Severity(Enum):
    GOOD = "good"
    NOTE = "note"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    check: str
    severity: Severity
    sentence: str


def examine(folder: ClientFolder, given: Given) -> Iterator[Finding]:
    """One finding after the other; `given` stands above the configured server."""
    yield _installation()
    yield from _guarded("processor", _processor)
    yield from _guarded("engine", _engine)
    configuration = Configuration(Preferences.default())
    try:
        configuration = read_configuration(folder.config)
        exists = folder.config.exists()
        yield Finding("config", Severity.GOOD if exists else Severity.NOTE,
                      f"{folder.config} is in order" if exists else
                      f"there is no {folder.config}; `zermelo client configure` makes one")
    except ClientError as error:
        yield Finding("config", Severity.BAD, str(error))
    yield from _guarded("disk", lambda: _disk(folder))
    yield from _guarded("saved", lambda: _saved_work(folder))
    yield from _guarded("clock", _clock)
    yield from _guarded("sensors", _sensors)
    yield from _guarded("daemon", lambda: _daemon(folder))
    yield from _guarded("network", lambda: _network(folder, configuration, given))
    yield from _guarded("log", lambda: _log(folder))


def _guarded(check: str, examine_one: Callable[[], Finding]) -> Iterator[Finding]:
    try:
        yield examine_one()
    except (ZermeloError, OSError) as error:
        yield Finding(check, Severity.BAD, str(error))


def _installation() -> Finding:
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in LIBRARIES)
    return Finding(
        "installed", Severity.GOOD,
        f"zermelo {__version__}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.release()} {platform.machine()}; {versions}",
    )  # fmt: skip


def _processor() -> Finding:
    available = available_instructions()
    used = os.environ.get("ZERMELO_INSTRUCTIONS", available[0])
    memory = psutil.virtual_memory()
    text = (
        f"{usable_cores()} of {os.cpu_count()} cores usable, instruction set {used} "
        f"(available: {', '.join(available)}), {memory.total >> 20:,} MB of memory, "
        f"{memory.available >> 20:,} MB free"
    )
    if used != available[0]:
        return Finding("processor", Severity.NOTE, f"{text}; {available[0]} would be faster")
    return Finding("processor", Severity.GOOD, text)


def _engine() -> Finding:
    game = open_game(KNOWN_GAME)
    found = open_engine(game, hash_mb=4).solve(game.initial())
    if found.status is not Status.SOLVED or found.bounds.lo != KNOWN_VALUE:
        return Finding(
            "engine", Severity.BAD,
            f"{KNOWN_GAME} came out as {found.bounds.lo}, but is {KNOWN_VALUE}: this computer "
            "makes errors; test its memory, lower its clock, or reinstall zermelo",
        )  # fmt: skip
    game = open_game(SPEED_GAME)
    engine = open_engine(game, hash_mb=16)
    # In processor time, as the daemon measures: beside other programs an engine is no slower.
    began = time.thread_time()
    timed = engine.solve(game.initial(), node_budget=SPEED_NODES)
    speed = timed.nodes / max(time.thread_time() - began, 1e-9)
    text = f"computes correctly, {speed / 1e6:.1f} M nodes/s a core"
    return Finding("engine", Severity.GOOD, text)


def _disk(folder: ClientFolder) -> Finding:
    folder.make()
    trial = folder.path / "doctor"
    started = time.perf_counter()
    try:
        write_atomically(trial, [bytes(1 << 20)], durable=True)
    except OSError as error:
        return Finding("disk", Severity.BAD, f"cannot write to {folder.path}: {why(error)}")
    finally:
        trial.unlink(missing_ok=True)
    seconds = time.perf_counter() - started
    free = shutil.disk_usage(folder.path).free >> 20
    text = f"{folder.path} writes a durable megabyte in {seconds * 1e3:.0f} ms; {free:,} MB free"
    if free < LEAST_FREE_MB:
        return Finding("disk", Severity.NOTE, f"{text}: make room, checkpoints need it")
    return Finding("disk", Severity.GOOD, text)


def _saved_work(folder: ClientFolder) -> Finding:
    size = folder.spool.stat().st_size if folder.spool.exists() else 0
    found = list(Checkpoints(folder.searches, durable=False).saved())
    damaged = [item for item in found if isinstance(item, CheckpointFileError)]
    text = f"{len(found) - len(damaged)} checkpoints, {size:,} bytes of results not yet sent"
    if damaged:
        return Finding("saved", Severity.NOTE, f"{text}; {damaged[0]}")
    return Finding("saved", Severity.GOOD, text)


def _clock() -> Finding:
    wall, steady = time.time(), time.monotonic()
    time.sleep(CLOCK_SECONDS)
    drift = abs((time.time() - wall) - (time.monotonic() - steady))
    now = datetime.now().astimezone()
    text = f"{now.isoformat(timespec='seconds')}"
    if now < RELEASED:
        return Finding("clock", Severity.BAD, f"{text} is in the past; set the clock, or "
                       "encrypted connections fail")
    if drift > MOST_DRIFT:
        return Finding("clock", Severity.NOTE, f"{text}, but it jumps; leases do not depend on it")
    return Finding("clock", Severity.GOOD, text + _synchronised())


def _synchronised() -> str:
    command = shutil.which("timedatectl")
    if command is None:
        return ""
    try:
        said = subprocess.run(  # noqa: S603
            [command, "show", "-p", "NTPSynchronized", "--value"],
            capture_output=True, text=True, timeout=2, check=False,
        ).stdout.strip()  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return {"yes": ", set by the network", "no": ", not set by the network"}.get(said, "")


def _sensors() -> Finding:
    sensors = SystemSensors()
    idle, battery, degrees = sensors.idle_seconds(), sensors.on_battery(), sensors.temperature()
    known = {
        "idleness": None if idle is None else f"untouched for {idle:.0f} s",
        "battery": None if battery is None else "on battery" if battery else "plugged in",
        "temperature": None if degrees is None else f"{degrees:.0f} °C",
    }
    told = [text for text in known.values() if text]
    silent = [name for name, text in known.items() if not text]
    text = "; ".join(told)
    if silent:
        nothing = f"this computer does not report {', '.join(silent)}"
        text = f"{text}; {nothing}" if text else nothing
    return Finding("sensors", Severity.GOOD, text)


def _daemon(folder: ClientFolder) -> Finding:
    try:
        status = ask(folder.control, "status")
    except NotRunningError:
        return Finding("daemon", Severity.NOTE, "is not running; `zermelo client run` starts it")
    reason = f": {status['reason']}" if status["reason"] else ""
    return Finding(
        "daemon", Severity.GOOD,
        f"runs as process {status['pid']}, {status['state']}{reason}; "
        f"{status['handed_in']:,} results handed in, {status['unsent_results']:,} to be sent",
    )  # fmt: skip


def _network(
    folder: ClientFolder, configuration: Configuration, given: Given
) -> Finding:
    address = owners_address(folder, configuration, given)
    if not address.server:
        return Finding("network", Severity.NOTE, "no server is configured")
    trial = try_server(address)
    encrypted = "encrypted" if address.encrypted else "not encrypted"
    if trial.works:
        return Finding("network", Severity.GOOD, f"{trial.sentence} ({encrypted})")
    return Finding("network", Severity.BAD, trial.sentence)


def _log(folder: ClientFolder) -> Finding:
    """The last warnings, for whoever reads the report."""
    warnings = []
    for line in _read(folder.logs / LOG_NAME).splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if record.get("level") in ("warning", "error"):
            warnings.append(f"{record.get('time')} {record.get('message')}")
    if not warnings:
        return Finding("log", Severity.GOOD, "no warnings")
    last = "; ".join(warnings[-LAST_WARNINGS:])
    return Finding("log", Severity.NOTE, f"{len(warnings)} warnings, the last: {last}")


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, ValueError):
        return ""
