"""Who imports whom: the contracts of pyproject.toml hold, and would notice if they did not."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grimp
import pytest
from importlinter.api import read_configuration
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract

import zermelo

ROOT = Path(zermelo.__file__).resolve().parent
PROJECT = ROOT.parents[1] / "pyproject.toml"
TYPES = {"layers": LayersContract, "forbidden": ForbiddenContract}

#: Folders that may import a compiled module of another folder.
USERS_OF_COMPILED = {"cext": {"cext", "engine"}, "checker": {"checker", "proof"}}

#: An import that some contract must refuse: who, whom, which contract.
PLANTED = [
    ("zermelo.server.coordinator.research", "zermelo.research.serving", "folders"),
    ("zermelo.server.campaigns", "zermelo.proof.export", "folders"),
    ("zermelo.client.daemon", "zermelo.server.database", "folders"),
    ("zermelo.checker.verify", "zermelo.engine.go", "folders"),
    ("zermelo.games.go", "zermelo.engine.go", "folders"),
    ("zermelo.retry", "zermelo.server.database", "folders"),
    ("zermelo.server.campaigns", "zermelo.server.planning.planner", "server"),
    ("zermelo.server.trust.comparison", "zermelo.server.coordinator.settings", "server"),
    ("zermelo.server.tree.tree", "zermelo.server.campaigns", "server"),
    ("zermelo.server.validator", "zermelo.server.assimilator", "server"),
    ("zermelo.client.doctor", "zermelo.cext", "cext"),
]


def contracts() -> dict[str, dict[str, Any]]:
    found = read_configuration(str(PROJECT))["contracts_options"]
    return {contract["id"]: contract for contract in found}


def kept(name: str, graph: grimp.ImportGraph) -> bool:
    options = {key: value for key, value in contracts()[name].items() if key not in ("id", "type")}
    contract = TYPES[contracts()[name]["type"]](
        name=options.pop("name"),
        session_options={"root_packages": ["zermelo"]},
        contract_options=options,
    )
    return bool(contract.check(graph, verbose=False).kept)


@pytest.fixture(scope="module")
def built() -> grimp.ImportGraph:
    return grimp.build_graph("zermelo", cache_dir=None)


@pytest.fixture
def graph(built: grimp.ImportGraph) -> grimp.ImportGraph:
    """A graph of its own for every test: contracts take the ignored imports out of it."""
    return copy.deepcopy(built)


def sources() -> Iterator[Path]:
    """Every Python file of the package; its folders are symbolic links."""
    yield from ROOT.glob("*.py")
    for folder in sorted(path for path in ROOT.iterdir() if path.is_dir()):
        yield from (ROOT / folder.name / path.relative_to(folder.resolve())
                    for path in sorted(folder.resolve().rglob("*.py")))  # fmt: skip


def module_name(path: Path) -> str:
    parts = ("zermelo", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_the_linter_sees_every_module_behind_the_links(graph: grimp.ImportGraph) -> None:
    assert graph.modules == {module_name(path) for path in sources()}


@pytest.mark.parametrize("name", contracts())
def test_the_contracts_are_kept(name: str, graph: grimp.ImportGraph) -> None:
    assert kept(name, graph)


@pytest.mark.parametrize(("importer", "imported", "name"), PLANTED)
def test_a_planted_import_breaks_its_contract(
    importer: str, imported: str, name: str, graph: grimp.ImportGraph
) -> None:
    assert {importer, imported} <= graph.modules
    graph.add_import(importer=importer, imported=imported)
    assert not kept(name, graph)


@pytest.mark.parametrize("parent", ["zermelo", "zermelo.server"])
def test_a_module_without_a_place_breaks_a_contract(parent: str, graph: grimp.ImportGraph) -> None:
    graph.add_module(f"{parent}.newcomer")
    assert not kept("folders" if parent == "zermelo" else "server", graph)


def compiled_imports() -> Iterator[tuple[str, str]]:
    """Who imports which compiled module, also where a function does or a string names it."""
    modules = {
        f"zermelo.{folder}.{path.stem}": folder
        for folder in USERS_OF_COMPILED for path in (ROOT / folder).resolve().glob("*.pyx")
    }  # fmt: skip
    for path in sources():
        text = path.read_text()
        if not any(folder in text for folder in USERS_OF_COMPILED):
            continue  # nothing there to be parsed for
        for node in ast.walk(ast.parse(text)):
            named: list[str] = []
            if isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                named = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                named = [node.value.rstrip(".")]
            for name in named:
                if name in modules:
                    yield module_name(path), modules[name]


def test_compiled_modules_are_imported_by_their_users_only() -> None:
    found = set(compiled_imports())
    strangers = {
        (importer, folder) for importer, folder in found
        if importer.split(".")[1] not in USERS_OF_COMPILED[folder]
    }  # fmt: skip
    assert not strangers
    assert {folder for _, folder in found} == set(USERS_OF_COMPILED)
