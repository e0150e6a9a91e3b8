"""The configuration file: one commented TOML file, checked key by key.

One list of keys says what may be read, and comments what is written.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from zermelo.client.files import write_atomically
from zermelo.client.folder import why
from zermelo.client.preferences import PRIORITIES, Hours, Limits, PreferenceError, Preferences
from zermelo.client.settings import TLS, ClientError

MOST_CORES = 1024
MOST_MEMORY_MB = 1 << 20
LONGEST_NAME = 64
LONGEST_USER_NAME = 40
LONGEST_STORE = 3600
_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:]+\]|[^:\s\[\]/]+):([0-9]{1,5})")


class ConfigurationError(ClientError):
    """The configuration is wrong; the message names file, line, key and remedy."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Configuration:
    preferences: Preferences
    server: str = ""
    #: The volunteer; empty for anonymous.
    name: str = ""
    host_name: str = ""
    token: str = ""
    ca_file: Path | None = None
    tls: str = "auto"
    store_seconds: float = 0.0
    quit_seconds: float = 10.0
    checkpoint_seconds: float = 60.0


def address(text: object) -> str:
    """HOST:PORT, checked, and in one way of writing: an account belongs to a server."""
    matched = _ADDRESS.fullmatch(text.strip().lower()) if isinstance(text, str) else None
    if not matched or not 0 < int(matched[2]) < 65536:
        remedy = "; leave out what is before the name" if "://" in str(text) else ""
        raise ValueError(f"{text!r} is not HOST:PORT{remedy}")
    return matched[0]


# -- the keys -----------------------------------------------------------------------------


class Key(NamedTuple):
    name: str
    check: Callable[[Any], Any]
    comment: str


def _text(most: int) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if not isinstance(value, str) or len(value.encode()) > most or not value.isprintable():
            raise ValueError(f"{value!r} is not one printable line of at most {most} bytes")
        return value

    return check


def _number(low: float, high: float) -> Callable[[Any], float]:
    def check(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{value!r} is not a number")
        if not low <= value <= high:
            raise ValueError(f"{value} is not between {low:g} and {high:g}")
        return value

    return check


def _whole(low: int, high: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"{value!r} is not a whole number")
        return int(_number(low, high)(value))

    return check


def _choice(*words: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in words:
            raise ValueError(f"{value!r} is not one of {', '.join(words)}")
        return str(value)

    return check


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is not true or false")
    return value


def _hours(value: Any) -> Hours:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a text like \"22:00-07:00\"")
    return Hours.parse(value)


def _path(value: Any) -> Path | None:
    return Path(_text(4096)(value)) if value else None


def _server(value: Any) -> str:
    return address(value) if value else ""


def _or_none(check: Callable[[Any], float], none: float) -> Callable[[Any], float | None]:
    return lambda value: None if check(value) == none else value


def user_name(text: str) -> str:
    """A name that a server could accept and the file can hold; empty for anonymous."""
    return _text(LONGEST_USER_NAME)(text.strip())


GENERAL = (
    Key("server", _server, "The coordinator to work for, as HOST:PORT."),
    Key("name", _text(LONGEST_USER_NAME), "Your name in the statistics; empty for anonymous."),
    Key("host_name", _text(LONGEST_NAME), "Name of this computer there; may be empty."),
    Key("token", _text(256), "Your secret; empty: the client opens an account."),
    Key("ca_file", _path,
        "Certificates to trust instead of the system's; empty for those. Relative to this file."),
    Key("tls", _choice(*TLS), '"on", "off", or "auto": encrypt unless it is this computer.'),
    Key("store_seconds", _number(0, LONGEST_STORE),
        "Seconds of work kept ahead for when the server is away; 0: as the server wishes."),
    Key("quit_seconds", _number(0, 3600),
        "Seconds within which the client stops; searches get most of them."),
    Key("checkpoint_seconds", _number(1, 86400), "Seconds between two checkpoints of a search."),
    Key("idle_minutes", _number(0.1, 1440),
        "Minutes without input after which the computer counts as idle."),
)

LIMITS = (
    Key("cores", _whole(0, MOST_CORES), "Searches at the same time; 0 for none."),
    Key("cpu_share", _number(0.01, 1), "Share of the time that they run: 0.5 is half of it."),
    Key("memory_mb", _whole(1, MOST_MEMORY_MB),
        "Memory for the tables of all searches together, in MB."),
    Key("on_battery", _switch, "Whether to work on battery."),
    Key("hours", _hours, 'Part of the day, such as "22:00-07:00".'),
    Key("load_by_others", _or_none(_number(0, 1), 1),
        "Pause while other programs use more than this share of the computer; 1: never."),
    Key("max_temperature", _or_none(_number(0, 150), 0),
        "Pause while the processor is hotter (degrees Celsius); 0: never."),
    Key("priority", _choice(*PRIORITIES),
        f"Priority beside other programs: {', '.join(PRIORITIES)}."),
)  # fmt: skip

SECTIONS = {
    "in_use": "While somebody uses the computer.",
    "idle": "While nobody does.",
}


# -- reading ------------------------------------------------------------------------------


def read_configuration(path: Path) -> Configuration:
    """What the file says; everything it does not say is as by default."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Configuration(Preferences.default())
    except UnicodeDecodeError:
        raise ConfigurationError(
            f"{path} is no text file; correct it, or delete it and run `zermelo client configure`"
        ) from None
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {why(error)}") from error
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(_syntax(path, text, str(error))) from None
    return _Reader(path, text).configuration(table)


class _Reader:
    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text

    def configuration(self, table: Mapping[str, Any]) -> Configuration:
        general = {key: value for key, value in table.items() if key not in SECTIONS}
        found = dict(self._checked("", general, GENERAL))
        default = Preferences.default()
        idle_minutes = found.pop("idle_minutes", default.idle_minutes)
        sections = {}
        for name in SECTIONS:
            section = table.get(name, {})
            if not isinstance(section, dict):
                raise self._wrong("", name, f"is a section; write it as [{name}]")
            limits: Limits = getattr(default, name)
            sections[name] = replace(limits, **dict(self._checked(name, section, LIMITS)))
        return Configuration(Preferences(**sections, idle_minutes=idle_minutes), **found)

    def _checked(
        self, section: str, table: Mapping[str, Any], keys: tuple[Key, ...]
    ) -> Iterator[tuple[str, Any]]:
        known = {key.name: key for key in keys}
        for name, value in table.items():
            if name not in known:
                raise self._wrong(section, name, f"is unknown; known are {', '.join(known)}")
            try:
                yield name, known[name].check(value)
            except (ValueError, PreferenceError) as error:
                raise self._wrong(section, name, f"cannot be used: {error}") from None

    def _wrong(self, section: str, name: str, what: str) -> ConfigurationError:
        key = f"{section}.{name}" if section else name
        line = _line_of(self._text, section, name)
        return ConfigurationError(f"{self._path}, line {line}: {key} {what}")


def _line_of(text: str, section: str, name: str) -> int:
    """Where a key is written, counted from 1."""
    within = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line):
            within = header[1].strip("\"'")
            if not section and within == name:
                return number
        elif within == section and re.match(rf"\s*[\"']?{re.escape(name)}[\"']?\s*[=.]", line):
            return number
    return 1


def _syntax(path: Path, text: str, message: str) -> str:
    """What the TOML parser says, with the key on that line."""
    at = re.search(r"at line (\d+)", message)
    number = int(at[1]) if at else len(text.splitlines())
    what = re.sub(r"\s*\(at .*\)", "", message).lower()
    lines = text.splitlines()
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    key = re.match(r"\s*[\"']?([A-Za-z_]+)", line)
    subject = f" {key[1]}" if key else ""
    return f"{path}, line {number}:{subject} is not written as TOML wants it: {what}"


# -- writing ------------------------------------------------------------------------------


def write_configuration(path: Path, configuration: Configuration) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, [render(configuration).encode()], durable=True)
    except OSError as error:
        raise ConfigurationError(f"cannot write {path}: {why(error)}") from error


def render(configuration: Configuration) -> str:
    """The whole file, every key with its comment."""
    lines = [
        "# What the Zermelo client on this computer may do; made by `zermelo client configure`.",
        "# Change it as you like; a running client follows its limits at once, the rest later.",
    ]
    for key in GENERAL:
        holder: object = configuration
        if key.name == "idle_minutes":
            holder = configuration.preferences
        lines += ["", f"# {key.comment}", f"{key.name} = {_toml(getattr(holder, key.name))}"]
    for name, comment in SECTIONS.items():
        lines += ["", "", f"# {comment}", f"[{name}]"]
        limits = getattr(configuration.preferences, name)
        for key in LIMITS:
            value = getattr(limits, key.name)
            if value is None:
                value = {"load_by_others": 1, "max_temperature": 0}[key.name]
            lines += [f"# {key.comment}", f"{key.name} = {_toml(value)}"]
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if value is None:
        return '""'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value:g}" if isinstance(value, float) else str(value)
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
