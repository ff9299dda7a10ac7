"""What a benchmark returns, and how it is shown: tables in the terminal and in Markdown."""

import platform
import subprocess
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table as RichTable

from benchmarks.harness.plots import Figure, draw

ROOT = Path(__file__).parents[2]
LOOK_SECONDS = 2.0


@dataclass
class Table:
    """One table: a title, column heads, rows of text, and what to know when reading it."""

    title: str
    heads: list[str]
    rows: list[list[str]] = field(default_factory=list)
    note: str = ""


@dataclass
class Report:
    """All tables of one benchmark, its settings, its figures, and how its targets fared.

    ``facts`` are what ``falkirk check`` may advise by.
    """

    title: str
    settings: dict[str, str]
    tables: list[Table] = field(default_factory=list)
    targets: Table | None = None
    figures: list[Figure] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def all_tables(self) -> list[Table]:
        """The targets first."""
        return [*([self.targets] if self.targets else []), *self.tables]


def machine() -> dict[str, str]:
    """The versions that a figure depends on, and who else was at work."""
    return {
        "falkirk": version("falkirk"),
        "commit": _commit(),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}, {_processor()}",
        "load": "the machine was shared: others kept its processors"
        f" {psutil.cpu_percent(LOOK_SECONDS):.0f} % busy in the two seconds before it began",
    }


def _commit() -> str:
    """What of the source was measured: a commit, and whether anything but reports has changed."""
    code = ["--", "src", "benchmarks", ":!benchmarks/results"]
    try:
        commit = _git("rev-parse", "--short", "HEAD")
        return f"{commit} and changes" if _git("status", "--porcelain", *code) else commit
    except (OSError, subprocess.CalledProcessError):
        return "unknown, for this is no repository"


def _git(*arguments: str) -> str:
    told = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return told.stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} × {names[0]}" if names else "unknown processor"


def show(report: Report) -> None:
    """Prints a report; where nobody says how wide, wide enough for its tables."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    console.rule(report.title)
    for key, value in report.settings.items():
        console.print(f"[dim]{key}:[/dim] {value}", highlight=False)
    for table in report.all_tables():
        shown = RichTable(title=table.title, title_justify="left", caption=table.note or None)
        for i, head in enumerate(table.heads):
            shown.add_column(head, justify="right" if i else "left")
        for row in table.rows:
            shown.add_row(*row)
        console.print(shown)


def write(report: Report, path: Path) -> Path:
    """Writes a report as Markdown, with its figures beside: what was found, then how."""
    lines = [f"# {report.title}"]
    for table in report.all_tables():
        lines += ["", f"## {table.title}", ""]
        if table.note:
            lines += [table.note, ""]
        lines.append("| " + " | ".join(table.heads) + " |")
        lines.append("|" + " --- |" + " ---: |" * (len(table.heads) - 1))
        lines += ["| " + " | ".join(row) + " |" for row in table.rows]
    path.parent.mkdir(exist_ok=True)
    for figure in report.figures:
        drawn = draw(figure, path.with_name(f"{path.stem}-{figure.name}.svg"))
        lines += ["", f"![{figure.title}]({drawn.name})"]
    lines += ["", "## How it was measured", ""]
    lines += [f"- {key}: {value}" for key, value in report.settings.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
