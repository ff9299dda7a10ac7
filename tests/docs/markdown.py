"""Reading our own Markdown: the pages, their links, headings and console snippets."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACES = ("*.md", "docs/**/*.md", "tests/*.md", "benchmarks/**/*.md")
PAGES = sorted(page for place in PLACES for page in ROOT.glob(place))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Command:
    """A line after ``$`` in a console snippet, and what it is said to print."""

    page: Path
    line: str
    expected: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}: {self.line}"


def prose(page: Path) -> str:
    """The page without its fenced blocks and without code inside lines."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text("utf-8")))


def links(page: Path) -> list[str]:
    """Where the page's links and pictures lead."""
    return re.findall(r"\]\(([^)\s]+)\)", prose(page))


def anchors(page: Path) -> set[str]:
    """The names by which the page's headings can be linked to."""
    text = FENCE.sub("", page.read_text("utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def commands(page: Path) -> Iterator[Command]:
    """The commands in the page's ``console`` snippets."""
    for language, body in FENCE.findall(page.read_text("utf-8")):
        if language == "console":
            for line, expected in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", body, re.MULTILINE):
                yield Command(page, line, expected)
