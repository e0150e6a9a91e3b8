"""Registries: who is found under which name, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from zermelo.games import GameError, open_game
from zermelo.games.registry import Registry, games


def install(folder: Path, package: str, group: str, *entries: str) -> None:
    """What pip leaves behind when it installs a package with entry points."""
    information = folder / f"{package}-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("\n".join([f"[{group}]", *entries]) + "\n")


@pytest.fixture
def registry() -> Registry[object]:
    return Registry("picture", "zermelo.test_pictures")


def test_what_was_registered_is_found(registry: Registry[object]) -> None:
    thing = object()
    registry.register("nim", thing)
    assert registry.find("nim") is thing
    assert registry.find("chess") is None
    assert registry.names() == ["nim"]
    with pytest.raises(ValueError, match="the picture of 'nim' is registered already"):
        registry.register("nim", object())


def test_a_reference_is_imported_when_it_is_used(registry: Registry[object]) -> None:
    registry.register("nim", "zermelo.games.reversi:Reversi.from_spec")
    registry.register("lost", "zermelo.games.nowhere:Nothing")
    assert registry.find("nim") == open_game("reversi:4x4").from_spec  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="nowhere"):
        registry.find("lost")


def test_a_family_serves_many_names_after_those_registered(registry: Registry[object]) -> None:
    asked: list[str] = []

    def resolve(name: str) -> object | None:
        asked.append(name)
        return f"family {name}" if name.startswith("data-") else None

    registry.register("data-own", "zermelo.games.reversi:PASS")
    registry.register_family(resolve, lambda: ["data-one", "data-two"])
    assert registry.find("data-one") == "family data-one"
    assert registry.find("data-one@0123abcd") == "family data-one@0123abcd"
    assert registry.find("data-own") == 64
    assert registry.find("chess") is None
    assert asked == ["data-one", "data-one@0123abcd", "chess"]
    assert registry.names() == ["data-one", "data-own", "data-two"]


@pytest.mark.parametrize("name", ["", "../secret", "a/b", "A", "a b", "a\n", "@12", "a@xyz",
                                  "a" * 41])
def test_what_is_no_name_reaches_no_resolver(registry: Registry[object], name: str) -> None:
    registry.register_family(lambda name: pytest.fail(f"asked for {name!r}"))
    assert registry.find(name) is None


def test_installed_packages_come_last(
    registry: Registry[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "pictures", registry.group,
            "nim = zermelo.games.reversi:PASS", "own = zermelo.games.reversi:STRIDE",
            "familiar = zermelo.games.reversi:STRIDE", "Bad Name = os:system")
    monkeypatch.syspath_prepend(tmp_path)
    registry.register("own", "mine")  # a reference that is not followed below
    registry.register_family({"familiar": "a family's"}.get)
    assert registry.find("nim") == 64
    assert registry.find("familiar") == "a family's"
    assert registry.names() == ["familiar", "nim", "own"]
    with pytest.raises(ModuleNotFoundError, match="mine"):
        registry.find("own")


def test_a_broken_package_and_two_of_a_name_are_told(
    registry: Registry[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "one", "one", registry.group, "nim = nowhere.to:find",
            "twice = zermelo.games.reversi:PASS")
    install(tmp_path / "two", "two", registry.group, "twice = zermelo.games.reversi:STRIDE")
    monkeypatch.syspath_prepend(tmp_path / "one")
    monkeypatch.syspath_prepend(tmp_path / "two")
    with pytest.raises(GameError, match=r"picture of 'nim', nowhere\.to:find, cannot be loaded"):
        registry.find("nim")
    with pytest.raises(GameError, match="two installed packages bring the picture of 'twice'"):
        registry.find("twice")


def test_nothing_installed_replaces_a_game_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "false", games.group, "reversi = os:system")
    monkeypatch.syspath_prepend(tmp_path)
    assert games.find("reversi") == open_game("reversi:4x4").from_spec  # type: ignore[attr-defined]
