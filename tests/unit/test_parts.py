"""What is not there is named with the command that brings it."""

from __future__ import annotations

import pytest

from zermelo import parts
from zermelo.parts import MissingPartError, is_installed, missing_part, require


@pytest.mark.parametrize(
    ("module", "remedy"),
    [
        ("zermelo.cext.go_search", "make .venv/.built"),
        ("zermelo.checker.reversi", "make .venv/.built"),
        ("starlette.routing", "pip install 'zermelo[web]'"),
        ("matplotlib", "pip install 'zermelo[plot]'"),
    ],
)
def test_a_missing_module_is_named_with_its_remedy(module: str, remedy: str) -> None:
    missing = missing_part(ModuleNotFoundError(name=module))
    assert missing is not None
    assert remedy in str(missing)


def test_any_other_module_is_a_defect() -> None:
    assert missing_part(ModuleNotFoundError(name="zermelo.nothing")) is None


def test_a_part_is_required_before_it_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    require("web")
    monkeypatch.setitem(parts.PARTS, "web", ("starlette", "no_such_module"))
    assert not is_installed("web")
    with pytest.raises(MissingPartError, match=r"no_such_module.*zermelo\[web\]"):
        require("web")
