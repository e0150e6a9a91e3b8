"""Regenerate the Python modules of the `.proto` files: ``python -m zermelo.proto.generate``.

The modules are committed, so that nobody needs the compiler to install Zermelo; a test
says when they no longer agree with their source.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

FOLDER = Path(__file__).parent
SOURCES = (
    "limits.proto", "coordinator.proto", "operations.proto", "research.proto",
    "volunteers.proto", "worker.proto",
)  # fmt: skip


def generate(target: Path) -> None:
    """Write the modules of all sources into `target`, laid out from the import root."""
    root = FOLDER.parent.parent
    well_known = str(files("grpc_tools") / "_proto")
    arguments = [
        "protoc",
        f"-I{root}",
        f"-I{well_known}",
        f"--python_out={target}",
        f"--pyi_out={target}",
        *(str(root / "zermelo" / "proto" / source) for source in SOURCES),
    ]
    if protoc.main(arguments) != 0:
        raise SystemExit("protoc failed")


if __name__ == "__main__":
    generate(FOLDER.parent.parent)
