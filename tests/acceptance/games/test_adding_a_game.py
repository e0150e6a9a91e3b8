"""docs/adding-a-game.md, done: the code on the page is installed in a folder and used."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.effort import first_of, long
from tests.support.harness import Solve
from tests.support.minimax import minimax
from tests.support.places import REPOSITORY
from zermelo.checker import (
    CertificateError,
    Entry,
    Header,
    Leaf,
    RefusedError,
    verify,
    write_certificate,
)
from zermelo.checker.refusals import Fault
from zermelo.checker.registry import open_checker
from zermelo.engine import EngineError, open_engine
from zermelo.engine.portable import PortableEngine
from zermelo.games import Bounds, GameError, game_names, open_game
from zermelo.proof.export import export_proof
from zermelo.server.campaigns import create_campaign, find_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection

PAGE = REPOSITORY / "docs" / "adding-a-game.md"
SUITE = "tests/unit/games/test_every_game.py"
COMMAND = "from zermelo.cli import main; main()"
MODULES = ["notakto", "notakto_engine", "notakto_checker"]


def code_on_the_page() -> dict[str, str]:
    """What stands between fences that have a title, by title."""
    fence = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.DOTALL | re.MULTILINE)
    return dict(fence.findall(PAGE.read_text()))


def install(folder: Path) -> None:
    """What pip makes of the page's pyproject.toml: modules, and entry points beside them."""
    blocks = code_on_the_page()
    project = tomllib.loads(blocks["pyproject.toml"])
    for module in project["tool"]["setuptools"]["py-modules"]:
        (folder / f"{module}.py").write_text(blocks[f"{module}.py"])
    told = project["project"]
    information = folder / f"{told['name'].replace('-', '_')}-{told['version']}.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {told['name']}\nVersion: {told['version']}\n"
    )
    (information / "entry_points.txt").write_text("".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in told["entry-points"].items()
    ))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    packages = tmp_path / "packages"
    packages.mkdir()
    install(packages)
    return packages


@pytest.fixture
def installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The package can be imported by this process, and is forgotten afterwards."""
    open_game.cache_clear()
    monkeypatch.syspath_prepend(folder)
    yield folder
    open_game.cache_clear()
    for module in MODULES:
        sys.modules.pop(module, None)


def process(*command: str, folder: Path, **environment: str) -> str:
    """What a process says that has the package installed."""
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    told = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=False, cwd=REPOSITORY,
        env=os.environ | environment | {"PYTHONPATH": path},
    )
    assert told.returncode == 0, told.stdout + told.stderr
    return told.stdout


def test_the_game_is_unknown_until_it_is_installed(folder: Path) -> None:
    with pytest.raises(GameError, match="unknown game 'notakto'"):
        open_game("notakto:3x3")
    code = "from zermelo.games import game_names; print(*game_names())"
    assert "notakto" in process("-c", code, folder=folder).split()


@long
def test_the_rules_pass_the_suite_of_every_game(folder: Path, tmp_path: Path) -> None:
    blocks = code_on_the_page()
    data = tmp_path / "data" / "notakto"
    data.mkdir(parents=True)
    for name in ("specs.txt", "perft.txt"):
        (data / name).write_text(blocks[name])
    record = process("tests/support/playthrough.py", "notakto:3x3", "1", folder=folder)
    assert "\nscore: 1\n" in record
    (data / "playthrough-3x3.txt").write_text(record)
    told = process("-m", "pytest", "-n", "0", SUITE, "-k", "notakto", folder=folder,
                   ZERMELO_GAME_DATA=str(data.parent))
    passed = re.search(r"(\d+) passed", told)
    assert passed, told
    assert int(passed[1]) > 40
    assert not re.search(r"\d+ skipped", told), told


def test_each_layer_finds_its_part(installed: Path) -> None:
    game = open_game("notakto:3x3")
    engine, checker = open_engine(game), open_checker(game)
    assert "notakto" in game_names()
    assert type(engine) is importlib.import_module("notakto_engine").NotaktoEngine
    assert type(checker) is importlib.import_module("notakto_checker").NotaktoChecker
    with pytest.raises(EngineError, match="2 threads"):
        open_engine(game, threads=2)
    with pytest.raises(GameError, match="each side must be 3 to 5"):
        open_game("notakto:9x9")


@pytest.mark.parametrize("spec", first_of(["notakto:3x3", "notakto:3x4"]))
def test_the_engine_finds_the_value(installed: Path, spec: str) -> None:
    game = open_game(spec)
    value = minimax(game, game.initial())
    for engine in (open_engine(game), PortableEngine(game)):
        assert engine.solve(game.initial()).bounds == Bounds(value, value)
    if spec == "notakto:3x3":  # published: the first player wins, and by the centre only
        assert value == 1
        winning = [move for move in game.moves(0) if minimax(game, game.play(0, move)) == -1]
        assert game.line_names(winning) == ["b2"]


@long
def test_the_commands_on_the_page_run(folder: Path, open_path: Path) -> None:
    """As processes: an embedded database, clients that find the package, a proof."""
    commands = re.findall(r"^\$ zermelo (.*)$", PAGE.read_text(), re.MULTILINE)
    assert [command.split()[0] for command in commands] == [
        "engine", "engine", "solve", "proof", "proof",
    ]
    told = [
        process("-c", COMMAND, *command.replace("notakto.proof", str(open_path / "proof")).split(),
                folder=folder, ZERMELO_DATA_DIR=str(open_path / "data"))
        for command in commands
    ]
    assert "wins\n" in told[0]
    assert "2,784" in told[1]
    assert told[2].startswith("notakto:3x4: -1")
    assert "VERIFIED" in told[-1]


def test_the_command_line_knows_the_game(folder: Path) -> None:
    solved = json.loads(
        process("-c", COMMAND, "engine", "solve", "notakto:3x3", "--json", folder=folder)
    )
    assert (solved["value"], solved["move"]) == (1, "b2")
    counted = json.loads(
        process("-c", COMMAND, "engine", "perft", "notakto:3x3", "4", "--json", folder=folder)
    )
    assert counted["counts"] == [1, 9, 72, 504, 2784]


@pytest.mark.parametrize("spec", first_of(["notakto:3x3", "notakto:3x4"]))
def test_clients_solve_it_and_the_proof_is_accepted(
    installed: Path, tmp_path: Path, connection: Connection, spec: str
) -> None:
    game = open_game(spec)
    value = minimax(game, game.initial())
    campaign = create_campaign(connection, spec, node_budget=20, replication="none")
    assert Solve(connection, campaign, clients=3).run() == Bounds(value, value)
    assert check_database(connection) == []

    path = tmp_path / "notakto.proof"
    exported = export_proof(connection, find_campaign(connection, campaign.name), path)
    report = verify(path)
    assert not exported.unproved
    assert report.complete
    assert report.header.bounds == Bounds(value, value)
    assert report.entries > report.leaves > 0
    assert report.nodes > 0, "the leaves were not searched"

    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises((CertificateError, RefusedError)):
        verify(path)


def test_a_false_leaf_is_refused(installed: Path, tmp_path: Path) -> None:
    """The first player loses 3x3, says a certificate; the game's own solver knows better."""
    game = open_game("notakto:3x3")
    start = game.initial()
    path = tmp_path / "false.proof"
    header = Header(game.spec, "score", "false", game.format(start), -1, -1, 1, 1, "", "")
    entry = Entry(game.encode(start), b"", False, -1, None, Leaf(1, 1, 1))
    write_certificate(path, header, [entry])
    with pytest.raises(RefusedError) as refused:
        verify(path)
    assert refused.value.refusal.fault is Fault.WRONG_LEAF


@pytest.mark.parametrize(("imported", "absent"), [
    ("zermelo.games", ("zermelo.games.reversi", "zermelo.games.go", "zermelo.engine")),
    ("zermelo.engine", ("zermelo.engine.reversi", "zermelo.engine.go", "zermelo.cext")),
    ("zermelo.checker", ("zermelo.checker.reversi", "zermelo.checker.go", "zermelo.engine",
                         "zermelo.cext", "zermelo.server", "notakto")),
])
def test_importing_a_layer_imports_no_game(
    folder: Path, imported: str, absent: tuple[str, ...]
) -> None:
    loaded = process("-c", f"import sys, {imported}; print(*sys.modules)", folder=folder).split()
    assert imported in loaded
    assert not set(absent) & set(loaded)
