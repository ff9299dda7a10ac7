"""The live view: regimes in colour, the frontier and the low-watermark of each processor."""

import time
from collections.abc import Sequence
from typing import Any

from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from falkirk.demo.figure_1.clients import Query
from falkirk.demo.figure_1.story import Latency, Story, shown

COLOURS = {
    "ephemeral": "cyan",
    "batch": "yellow",
    "lazy": "green",
    "eager": "magenta",
    "at-least-once": "blue",
}
ROWS: tuple[tuple[str, str], ...] = (
    ("records", "the record stream"),
    ("views", "views by user, each epoch"),
    ("friendships", "who befriended whom"),
    ("window", "windows of records"),
    ("totals", "views by user, each window"),
    ("ranks", "users by rank"),
    ("known", "all friendships so far"),
    ("min", "the loop: least neighbour"),
    ("circles", "connected components"),
    ("queries", "users ask over HTTP"),
    ("with-rank", "joined with the newest ranks"),
    ("with-circle", "joined with the newest circles"),
    ("once", "answers by key"),
    ("asked", "how often each circle was asked for"),
    ("statistics", "the database"),
    ("responses", "back to the user"),
)
"""The processors that are shown, and what they do; the others are inside the loop or between."""


def screen(story: Story, queries: Sequence[Query], phase: str, notes: Sequence[str]) -> Group:
    """All of the view."""
    return Group(header(story, queries, phase), processors(story), happened(notes))


def header(story: Story, queries: Sequence[Query], phase: str) -> Panel:
    """What is going on, in one line each."""
    now = time.time()
    recent = [q for q in queries if q.answered is not None and q.answered > now - 5]
    latency = Latency.of(recent)
    waiting = sum(q.answer is None for q in queries)
    answered = len(queries) - waiting
    line = Text.assemble(
        (f"{story.rate('records'):>9,.0f}", "bold"),
        " records/s   ",
        (f"{answered:,}", "bold"),
        f" queries answered, {waiting} wait   ",
        ("latency ", "dim"),
        (str(latency) if latency else "no answer in five seconds", "bold" if latency else "red"),
        ("   store ", "dim"),
        (f"{story.progress.get('store_bytes', 0) / 1e6:,.1f} MB", "bold"),
    )
    return Panel(line, title=f"[bold]Figure 1[/]  {phase}", title_align="left", border_style="dim")


def processors(story: Story) -> Table:
    """A row for each processor that is shown."""
    table = Table(box=None, padding=(0, 2), expand=False, header_style="dim")
    for column in ("processor", "regime", "complete", "low-watermark", "lag", "state"):
        table.add_column(column, justify="right" if column in ("lag", "state") else "left")
    found = story.progress.get("processors", {})
    for name, what in ROWS:
        if name in found:
            table.add_row(*row(name, what, found[name]))
    return table


def row(name: str, what: str, each: dict[str, Any]) -> list[Text]:
    """One processor."""
    colour = COLOURS.get(each["policy"], "white")
    state = f"{each['state'] / 1e3:,.0f} kB" if each["state"] else ""
    return [
        Text.assemble(
            ("▌", colour), (name, "bold red" if each["suspected"] else "bold"), f"  {what}"
        ),
        Text(each["policy"], style=colour),
        Text(each["completed"]),
        Text(each["watermark"], style="dim"),
        Text(shown(each["lag"]) if each["lag"] > 0.05 else "", style="dim"),
        Text(state, style="dim"),
    ]


def happened(notes: Sequence[str]) -> Panel:
    """The last few things that happened."""
    text = Text("\n".join(notes[-6:]) or "nothing has failed yet")
    return Panel(text, title="what happened", title_align="left", border_style="dim")
