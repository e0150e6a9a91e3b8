"""Links from the documentation to the repository, for `mkdocs build --strict`.

A page links to source files relatively (`../server/database.py`), which works in an editor and
on a code host. In the site such a link goes to the repository. A warning, which strict builds
take for an error, says which page names a file that does not exist, be it as a link or as a
path in backticks. The Markdown files beside `docs/` are checked in the same way.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

LOG = logging.getLogger("mkdocs.hooks.site_links")
ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

FOLDERS = (
    "bench", "cext", "checker", "cli", "client", "deploy", "docs", "engine", "examples", "games",
    "proof", "proto", "research", "server", "sql", "src", "tests",
)  # fmt: skip
LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?(?=\))")
NAMED_FILE = re.compile(rf"`((?:{'|'.join(FOLDERS)})/[\w./-]*\.\w+)`")
FENCE = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)


def on_pre_build(config: Any) -> None:
    """Check the pages that are no part of the site."""
    for page in sorted(ROOT.glob("*.md")):
        text = FENCE.sub("", page.read_text())
        _check_named_files(page, text)
        for link in LINK.finditer(text):
            if not (page.parent / link[1]).exists():
                LOG.warning("%s links to %s, which does not exist", page.name, link[1])


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Let links that leave `docs/` go to the repository."""
    source = Path(page.file.abs_src_path)
    _check_named_files(source, FENCE.sub("", markdown))

    def repository_link(link: re.Match[str]) -> str:
        target = (source.parent / link[1]).resolve()
        if target.is_relative_to(DOCS) or not target.is_relative_to(ROOT):
            return link[0]
        if not target.exists():
            LOG.warning("%s links to %s, which does not exist", source.name, link[1])
        kind = "tree" if target.is_dir() else "blob"
        return f"{config.repo_url}/{kind}/main/{target.relative_to(ROOT)}{link[2] or ''}"

    return LINK.sub(repository_link, markdown)


def _check_named_files(page: Path, text: str) -> None:
    for path in sorted({match[1] for match in NAMED_FILE.finditer(text)}):
        if not (ROOT / path).exists():
            LOG.warning("%s names %s, which does not exist", page.name, path)
