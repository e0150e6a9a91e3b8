"""What is done between the imports of a module."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

from zermelo.cli.solve.imports import between_imports


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module that imports two others."""
    name = "between_imports_example"
    (tmp_path / f"{name}.py").write_text(f"import {name}_a, {name}_b\n")
    for letter in "ab":
        (tmp_path / f"{name}_{letter}.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    for module in (name, f"{name}_a", f"{name}_b"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    return name


def test_the_action_is_taken_before_each_module(package: str) -> None:
    loaded: list[int] = []
    with between_imports(lambda: loaded.append(sum(package in name for name in sys.modules))):
        import_module(package)
    assert loaded == [0, 1, 2]


def test_an_action_may_import_a_module_itself(package: str) -> None:
    calls = []

    def act() -> None:
        calls.append(1)
        import_module(f"{package}_b")

    with between_imports(act):
        import_module(package)
    assert len(calls) == 2


def test_an_action_that_fails_is_heard_of(package: str) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    before = list(sys.meta_path)
    with pytest.raises(ZeroDivisionError), between_imports(fail):
        import_module(package)
    assert sys.meta_path == before
