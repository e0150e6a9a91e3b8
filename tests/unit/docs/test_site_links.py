"""The hook of the documentation site tells of every file that a page names in vain."""

from __future__ import annotations

import importlib.util
import logging
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

DOCS = Path(__file__).parents[3] / "docs"
REPOSITORY = SimpleNamespace(repo_url="https://code.example/zermelo")


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_links", DOCS / "site_links.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def render(hook: ModuleType, markdown: str) -> str:
    page = SimpleNamespace(file=SimpleNamespace(abs_src_path=str(DOCS / "client.md")))
    rendered: str = hook.on_page_markdown(markdown, page, REPOSITORY)
    return rendered


def test_links_that_leave_docs_go_to_the_repository(
    hook: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    assert render(hook, "[setup](../setup.py#L3), [tests](../tests)") == (
        "[setup](https://code.example/zermelo/blob/main/setup.py#L3),"
        " [tests](https://code.example/zermelo/tree/main/tests)"
    )
    inside = "[go](go.md#rules), [elsewhere](https://example.org), [here](#start)"
    assert render(hook, inside) == inside
    assert not caplog.records


@pytest.mark.parametrize(
    ("markdown", "named"),
    [
        ("[x](../server/nowhere.py)", "../server/nowhere.py"),
        ("see `cext/nowhere.h`", "cext/nowhere.h"),
    ],
)
def test_a_missing_file_is_a_warning(
    hook: ModuleType, caplog: pytest.LogCaptureFixture, markdown: str, named: str
) -> None:
    render(hook, markdown)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.name.startswith("mkdocs."), "strict builds count only warnings of mkdocs"
    assert named in record.getMessage()


def test_code_blocks_may_name_anything(
    hook: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    render(hook, "```\n`cext/nowhere.h`\n```")
    assert not caplog.records
