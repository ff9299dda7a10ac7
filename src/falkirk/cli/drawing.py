"""A rollback drawn in the terminal: a bar of times for each processor, and the reasons."""

import re
from textwrap import TextWrapper

from rich.console import Console
from rich.text import Text

from falkirk.cli.axis import Axis, Row, axes
from falkirk.cli.outcome import Fate, Outcome
from falkirk.core.domain import Sequence
from falkirk.core.times import ProcessorId

BARS = {Fate.KEPT: "━", Fate.UNDONE: "░", Fate.NOT_REACHED: " "}
STYLES = {Fate.KEPT: "green", Fate.UNDONE: "yellow", Fate.NOT_REACHED: "dim"}
END_OF_FRONTIER, END_OF_TOP, RESENT, FAILED, NOTHING_YET = "┫", "▶", "↻", "✗", "·"
RESENT_STYLE, FAILED_STYLE = "bold cyan", "bold red"
INDENT = 2
ASCII = str.maketrans(
    dict(zip("━┫▶░↻✗─→└–·", "=|>xr!->`-,", strict=True))
    | {"↓": "v", "∅": "{}", "⊤": "T", "∞": "inf", "⊄": "not inside", "…": "..."}
)
"""For terminals that can show nothing else."""


def draw(console: Console, title: str, caption: str, outcome: Outcome) -> None:
    """Draws one problem and its answer, as wide as the console allows."""
    console.rule(Text(title, "bold"), align="left", style="cyan")
    wrapped(console, caption)
    console.print()
    for path in _paths(outcome):
        console.print(path)
    found = axes(outcome)
    layouts = [_Layout(axis, outcome, console.width) for axis in found]
    beside = all(layout.policy_fits for layout in layouts)
    for layout in layouts:
        console.print()
        layout.draw(console, beside)
    console.print()
    _summary(console, found, outcome)


def legend(console: Console) -> None:
    """Says what the signs mean."""
    signs = [
        (f"━━{END_OF_FRONTIER}", STYLES[Fate.KEPT], "kept"),
        ("░░░", STYLES[Fate.UNDONE], "undone"),
        (RESENT, RESENT_STYLE, "sent again from a log"),
        (FAILED, FAILED_STYLE, "failed"),
        ("∅", "bold", "nothing"),
        ("⊤", "bold", "everything"),
        ("↓t", "bold", "all times up to t"),
    ]
    line = Text()
    for sign, style, meaning in signs:
        entry = Text.assemble((sign, style), f" {meaning}   ")
        if line and len(line) + len(entry) > console.width:
            console.print(_stripped(line))
            line = Text()
        line.append_text(entry)
    console.print(_stripped(line))


def wrapped(console: Console, said: str, by: int = INDENT, hang: int = 0, style: str = "") -> None:
    """Prints a paragraph, indented, and never breaks a line inside a time."""
    wrapper = TextWrapper(
        width=max(console.width, by + hang + 1),
        initial_indent=" " * by,
        subsequent_indent=" " * (by + hang),
        break_on_hyphens=False,
    )
    whole = re.sub(r"[({\[][^(){}\[\]]*[)}\]]", lambda m: m[0].replace(" ", "\0"), said)
    for line in wrapper.wrap(whole):
        console.print(Text(line.replace("\0", " "), style), overflow="fold")


class _Layout:
    """Where the columns of one axis go: names, times, frontier and, if there is room, policy."""

    def __init__(self, axis: Axis, outcome: Outcome, width: int) -> None:
        rows = axis.rows
        names = max(len(axis.title), *(len(_name(row, outcome)) for row in rows))
        self.outcome = outcome
        self.names = INDENT + names + INDENT
        self.chosen = max(len(repr(outcome.frontier(row.processor))) for row in rows) + INDENT
        room = width - self.names - self.chosen - INDENT
        self.axis = axis if axis.cell(room) else axis.narrowed()
        self.cell = self.axis.cell(room)
        self.policy_at = self.names + self.cell * len(self.axis.labels) + self.chosen + INDENT
        policies = max(len(outcome.policy(row.processor)) for row in rows)
        self.policy_fits = self.policy_at + policies <= width

    def draw(self, console: Console, beside: bool) -> None:
        rows, outcome = self.axis.rows, self.outcome
        if self.cell:
            labels = "".join(label.ljust(self.cell) for label in self.axis.labels)
            title = " " * INDENT + self.axis.title.ljust(self.names - INDENT)
            console.print(_stripped(Text(title + labels, "dim")))
        for i, row in enumerate(rows):
            p = row.processor
            first = i == 0 or rows[i - 1].processor != p
            last = i + 1 == len(rows) or rows[i + 1].processor != p
            console.print(self.line(row, first, outcome.policy(p) if beside else ""))
            if last and not beside:
                wrapped(console, outcome.policy(p), 2 * INDENT, style="dim")
            for why in outcome.why(p) if last else []:
                wrapped(console, f"└ {why}", 2 * INDENT, hang=2)

    def line(self, row: Row, first: bool, policy: str) -> Text:
        p = row.processor
        line = Text(" " * INDENT)
        line.append(_name(row, self.outcome, first), _style(p, self.outcome))
        line.append(" " * (self.names - len(line)))
        if self.cell:
            line.append_text(self.bar(row)).append(" " * INDENT)
        if first:
            line.append(repr(self.outcome.frontier(p)), "bold")
            line.append(" " * (self.policy_at - len(line))).append(policy, "dim")
        return _stripped(line)

    def bar(self, row: Row) -> Text:
        if isinstance(self.outcome.graph.domains[row.processor], Sequence) and row.edge is None:
            return Text("no input".ljust(self.cell * len(row.fates)), "dim")
        bar = Text()
        kept = [i for i, fate in enumerate(row.fates) if fate is Fate.KEPT]
        end = END_OF_TOP if self.outcome.frontier(row.processor).is_top else END_OF_FRONTIER
        for i, (fate, resent) in enumerate(zip(row.fates, row.resent, strict=True)):
            filling = BARS[fate] * (self.cell - 1)
            start = NOTHING_YET if fate is Fate.NOT_REACHED else BARS[fate]
            piece = start + filling[1:] + (end if kept and i == kept[-1] else BARS[fate])
            if resent:
                middle = (self.cell - 1) // 2
                bar.append(piece[:middle], STYLES[fate]).append(RESENT, RESENT_STYLE)
                piece = piece[middle + 1 :]
            bar.append(piece, STYLES[fate])
        return bar


def _name(row: Row, outcome: Outcome, first: bool = True) -> str:
    failed = FAILED if row.processor in outcome.failed else " "
    name = f"{row.processor}{failed}" if first else " " * (len(row.processor) + 1)
    return f"{name} {row.edge}" if row.edge else name


def _style(p: ProcessorId, outcome: Outcome) -> str:
    if p in outcome.failed:
        return FAILED_STYLE
    return STYLES[Fate.KEPT if outcome.frontier(p).is_top else Fate.UNDONE]


def _paths(outcome: Outcome) -> list[Text]:
    """The graph as walks that take every edge once."""
    left = dict(outcome.graph.edges)
    found = []
    while left:
        source = next(iter(left.values())).source
        walk = Text(" " * INDENT).append(source, _style(source, outcome))
        while following := [e for e in outcome.graph.outputs(source) if e.name in left]:
            edge = left.pop(following[0].name)
            walk.append(f" ─{edge.name}→ ", "dim")
            walk.append(edge.target, _style(edge.target, outcome))
            source = edge.target
        found.append(walk)
    return found


def _summary(console: Console, found: list[Axis], outcome: Outcome) -> None:
    """Says who keeps everything, who goes back, and what is sent again."""
    whole = [str(p) for p in outcome.graph.domains if outcome.frontier(p).is_top]
    back = [f"{p} to {f!r}" for p, f in outcome.solution.frontiers.items() if not f.is_top]
    again = []
    for resend in outcome.resends():
        edge = resend.edge
        times = next(filter(None, (axis.resent_on(edge) for axis in found)), "messages")
        again.append(f"{times} on {edge.name} from {edge.source} to {edge.target}")
    for what, who in (("keep all", whole), ("go back", back), ("send again", again)):
        wrapped(console, f"{what:11} {'; '.join(who) or 'none'}", hang=12, style="bold")


def _stripped(line: Text) -> Text:
    line.rstrip()
    return line
