"""The live view: regimes in colour, the frontier and the low-watermark of each processor.

Every column has its width and every line its place, so that nothing jumps. What a terminal has no
room for is left out: first the descriptions, then rows of the table.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from falkirk.demo.figure_1.clients import Query
from falkirk.demo.figure_1.curve import curve
from falkirk.demo.figure_1.story import Failure, Latency, Story, shown

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
    ("asked", "how often users were asked for"),
    ("statistics", "the database"),
    ("responses", "back to the user"),
)
"""The processors that are shown, and what they do; the others are inside the loop or between."""

HEADER_LINES, TITLE_LINES = 5, 1
WIDE = 110
"""From so many columns on there is room for what each processor does."""

RECENT_SECONDS = 5.0


def screen(
    story: Story, queries: Sequence[Query], phase: str, size: tuple[int, int] = (80, 24)
) -> Group:
    """All of the view, for a terminal of ``size``: columns and lines."""
    width, height = size
    room = height - HEADER_LINES - TITLE_LINES
    rows = min(len(ROWS), max(room - 1, 0))
    return Group(
        header(story, queries, phase, width),
        processors(story, rows, wide=width >= WIDE),
        *happened(story, max(room - rows, 1)),
    )


def header(story: Story, queries: Sequence[Query], phase: str, width: int) -> Panel:
    """What is going on, in three lines."""
    now = time.time()
    recent = [q for q in queries if q.answered is not None and q.answered > now - RECENT_SECONDS]
    latency = Latency.of(recent)
    waiting = sum(q.answer is None for q in queries)
    stored = story.progress.get("store_bytes", 0) / 1e6
    first = Text.assemble(
        (f"{story.rate('records'):>7,.0f}", "bold"),
        " records/s   ",
        (f"{len(queries) - waiting:>5,}", "bold"),
        " queries answered  ",
        (f"{waiting:>2}", "bold"),
        " wait   ",
        (f"{stored:>7,.1f}", "bold"),
        " MB stored",
        no_wrap=True,
        overflow="ellipsis",
    )
    none = (f"no answer in {RECENT_SECONDS:.0f} seconds", "red")
    if not queries:
        none = ("nobody has asked yet", "dim")
    second = Text.assemble(
        "latency    ",
        (str(latency), "bold") if latency else none,
        no_wrap=True,
        overflow="ellipsis",
    )
    title = f"[bold]Figure 1[/]  {phase}"
    label = "by second  "
    third = Text(label) + curve(queries, story.failures, now, width - 4 - len(label))
    lines = Group(first, second, third)
    return Panel(lines, title=title, title_align="left", border_style="dim", width=width)


def processors(story: Story, rows: int, wide: bool) -> Table:
    """A row for each processor that is shown."""
    table = Table(box=None, padding=(0, 1, 0, 0), expand=False, header_style="dim")
    columns = [("processor", 13), ("does", 31), ("regime", 13), ("complete", 15)]
    columns += [("low-watermark", 15), ("behind", 7), ("state", 9)]
    for name, width in columns:
        if wide or name != "does":
            side: Any = "right" if name in ("behind", "state") else "left"
            table.add_column(name, justify=side, width=width, no_wrap=True, overflow="ellipsis")
    found = story.progress.get("processors", {})
    for name, what in ROWS[:rows]:
        table.add_row(*row(name, what if wide else None, found.get(name)))
    return table


def row(name: str, what: str | None, each: dict[str, Any] | None) -> Iterator[Text]:
    """One processor; with dots while nobody has heard of it."""
    colour = COLOURS.get(each["policy"], "white") if each else "dim"
    suspected = bool(each and each["suspected"])
    yield Text.assemble(("▌", colour), (name, "bold red" if suspected else "bold"))
    if what is not None:
        yield Text(what, style="dim")
    if each is None:
        yield Text("…", style="dim")
        return
    yield Text(each["policy"], style=colour)
    yield Text(each["completed"])
    yield Text(each["watermark"], style="dim")
    yield Text(shown(each["lag"]) if each["lag"] > 0.05 else "", style="dim")
    yield Text(f"{each['state'] / 1e3:,.0f} kB" if each["state"] else "", style="dim")


def happened(story: Story, lines: int) -> list[Text]:
    """The last failures, and what came of them; at most so many ``lines``."""
    told = [one_line(failure, story) for failure in story.failures]
    if not told:
        told = [Text("nothing has failed yet", style="dim")]
    return told[-lines:]


def one_line(failure: Failure, story: Story) -> Text:
    """One failure, what went back and how long it took."""
    line = Text.assemble(("✗ ", "red"), failure.what, no_wrap=True, overflow="ellipsis")
    if failure.rollback is not None:
        everyone, kept = len(failure.rollback["frontiers"]), len(failure.rollback["kept"])
        went = f"{everyone - kept} of {everyone} went back" if kept else "all went back"
        line.append(f": {went}", style="dim")
    if failure.over is not None:
        line.append(f", for {shown(failure.over - failure.at)}", style="dim")
    return line
