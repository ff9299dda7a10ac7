"""Hooks for MkDocs: pages of the repository that are not in ``docs/`` become pages of the site.

Links that lead to other files of the repository, such as examples, become plain text.
"""

import re
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
PAGES = {
    "README.md": "project/readme.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changes.md",
    "tests/README.md": "project/tests.md",
}
"""Files of the repository, and where they are in the site."""

LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]+\.?[a-z]*)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages."""
    for source, place in PAGES.items():
        text = (ROOT / source).read_text("utf-8")
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Turns links between files of the repository into links between pages."""
    here = page.file.src_uri
    source = {place: original for original, place in PAGES.items()}.get(here, join("docs", here))

    def turned(match: re.Match[str]) -> str:
        text, link, anchor = match[1], match[2], match[3] or ""
        if "://" in link:
            return match[0]
        target = normpath(join(dirname(source), link))
        place = PAGES.get(target) or (target[5:] if target.startswith("docs/") else "")
        if place and (files.get_file_from_path(place) is not None):
            return f"[{text}]({relpath(place, dirname(here) or '.')}{anchor})"
        return text

    return LINK.sub(turned, markdown)
