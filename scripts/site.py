"""Hooks for MkDocs: pages of the repository that are not in ``docs/`` become pages of the site.

Links that lead to other files of the repository, such as examples, become plain text. Examples in
docstrings, which Markdown takes for quotations, become code.
"""

import re
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from typing import Any

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
PAGES = {
    "README.md": "project/readme.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changes.md",
    "tests/README.md": "project/tests.md",
    "benchmarks/README.md": "benchmarks/index.md",
    **{
        path.relative_to(ROOT).as_posix(): path.relative_to(ROOT).as_posix()
        for path in sorted(ROOT.glob("benchmarks/results/*.*"))
    },
}
"""Files of the repository, and where they are in the site."""

LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]+\.?[a-z]*)(#[^)\s]*)?\)")

FENCE, PROMPT = "```", ">>> "


class Fenced(Preprocessor):
    """Puts fences around examples that have none: from a prompt to the next empty line."""

    def run(self, lines: list[str]) -> list[str]:
        """The lines, with fences."""
        found: list[str] = []
        fenced = example = False
        for line in lines:
            if example and not line.strip():
                found.append(FENCE)
                example = False
            elif not (fenced or example) and line.startswith(PROMPT):
                found.append(f"{FENCE}pycon")
                example = True
            fenced ^= line.lstrip().startswith(FENCE)
            found.append(line)
        return [*found, FENCE] if example else found


class Examples(Extension):
    """Has :class:`Fenced` look at all text before fences are looked for."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Registers it."""
        md.preprocessors.register(Fenced(md), "falkirk-examples", 27)


def on_config(config: Any) -> Any:
    """Adds the extension, also for docstrings."""
    config.markdown_extensions.append(Examples())
    return config


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages."""
    for source, place in PAGES.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
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
