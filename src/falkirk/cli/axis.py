"""Times from left to right, and what becomes of each processor's work at each of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from falkirk.cli.outcome import Fate, Outcome
from falkirk.core.domain import Structured
from falkirk.core.graph import Edge
from falkirk.core.times import INF, EdgeId, ProcessorId, SequenceNumber, Time

CELL_WIDTH = 5


@dataclass(frozen=True, slots=True)
class Row:
    """One processor or, for sequence numbers, one of its input edges; an entry for each time."""

    processor: ProcessorId
    edge: EdgeId | None
    fates: tuple[Fate, ...]
    resent: tuple[bool, ...]

    def at(self, positions: list[int]) -> "Row":
        """This row at some of its times only."""
        fates = tuple(self.fates[i] for i in positions)
        return Row(self.processor, self.edge, fates, tuple(self.resent[i] for i in positions))


@dataclass(frozen=True, slots=True)
class Axis:
    """The times of one domain, and the processors that live in it.

    There are no times where they are not totally ordered: those do not fit on a line.
    """

    title: str
    labels: tuple[str, ...]
    rows: tuple[Row, ...]

    def cell(self, room: int) -> int:
        """How wide one time is drawn so that all fit into ``room``; 0 if they do not."""
        needed = max(map(len, self.labels), default=room) + 1
        if needed * len(self.labels) > room:
            return 0
        return max(needed, min(CELL_WIDTH, room // max(1, len(self.labels))))

    def narrowed(self) -> "Axis":
        """The same axis with neighbouring times joined where they fare alike in every row.

        A joined stretch is labelled with its last time, as in ``–(1,3)``.
        """

        def column(i: int) -> list[tuple[Fate, bool]]:
            return [(row.fates[i], row.resent[i]) for row in self.rows]

        runs = [list(run) for _, run in groupby(range(len(self.labels)), key=column)]
        labels = tuple("–" * (len(run) > 1) + self.labels[run[-1]] for run in runs)
        return Axis(
            self.title, labels, tuple(row.at([run[0] for run in runs]) for row in self.rows)
        )

    def resent_on(self, edge: Edge) -> str:
        """What is sent again on ``edge``, for instance ``messages 6–9``; "" if unknown here."""
        for row in self.rows:
            if row.processor == edge.target and row.edge in (None, edge.name):
                marked = [label for label, m in zip(self.labels, row.resent, strict=True) if m]
                plural = "s" if len(marked) > 1 else ""
                times = _range(marked[0], marked[-1]) if marked else ""
                return f"{self.title}{plural} {times}" if marked else ""
        return ""


def axes(outcome: Outcome) -> list[Axis]:
    """One axis for each domain of the problem, in the order in which its processors appear."""
    found = []
    for domain in dict.fromkeys(outcome.graph.domains.values()):
        members = [p for p, d in outcome.graph.domains.items() if d == domain]
        if not isinstance(domain, Structured):
            found.append(_sequence_axis(outcome, members))
        elif domain.total:
            found.append(_total_axis(outcome, domain, members))
        else:
            found.append(Axis("time", (), tuple(Row(p, None, (), ()) for p in members)))
    return found


def _total_axis(outcome: Outcome, domain: Structured, members: list[ProcessorId]) -> Axis:
    mentioned = [time for p in members for f in _frontiers(outcome, p) for time in f.maximal]
    times = [*_spelled_out((), mentioned, domain.depth), (INF,) * domain.depth]
    rows = [_row(outcome, p, None, times) for p in members]
    if all(row.fates[-1] is Fate.NOT_REACHED and not row.resent[-1] for row in rows):
        times.pop()
        rows = [row.at(list(range(len(times)))) for row in rows]
    title = "epoch" if domain.depth == 1 else "time"
    return Axis(title, tuple(map(_label, times)), tuple(rows))


def _sequence_axis(outcome: Outcome, members: list[ProcessorId]) -> Axis:
    inputs = [edge for p in members for edge in outcome.graph.inputs(p)]
    counts = [outcome.reached(edge.target).count(edge.name) for edge in inputs]
    counts += [r.sent[0] for r in outcome.resends() if r.edge in inputs]
    numbers = range(1, int(max((n for n in counts if n < INF), default=0)) + 1)
    rows = []
    for p in members:
        for edge in outcome.graph.inputs(p):
            times = [SequenceNumber(edge.name, n) for n in numbers]
            rows.append(_row(outcome, p, edge.name, times))
        if not outcome.graph.inputs(p):
            rows.append(_row(outcome, p, None, [SequenceNumber(EdgeId(""), 1) for _ in numbers]))
    return Axis("message", tuple(map(str, numbers)), tuple(rows))


def _row(outcome: Outcome, p: ProcessorId, edge: EdgeId | None, times: list[Any]) -> Row:
    resends = [r for r in outcome.resends() if r.edge.target == p and edge in (None, r.edge.name)]
    parts = [(t.number,) if isinstance(t, SequenceNumber) else t for t in times]
    return Row(
        p,
        edge,
        tuple(outcome.fate(p, time) for time in times),
        tuple(any(part in resend for resend in resends) for part in parts),
    )


def _frontiers(outcome: Outcome, p: ProcessorId) -> Iterator[Any]:
    """Every frontier of p's domain that a drawing speaks of."""
    restorable = outcome.restorables[p]
    yield from (outcome.frontier(p), outcome.reached(p))
    yield getattr(restorable, "complete", outcome.frontier(p))
    yield from getattr(restorable, "frontiers", ())
    yield from (resend.sent for resend in outcome.resends() if resend.edge.target == p)


def _spelled_out(prefix: Time, mentioned: list[Time], depth: int) -> Iterator[Time]:
    """Times from zero up to those mentioned; where no counter is mentioned, ∞ stands for all."""
    k = len(prefix)
    finite = [int(m[k]) for m in mentioned if k < depth and m[:k] == prefix and m[k] < INF]
    if finite:
        for value in range(max(finite) + 1):
            yield from _spelled_out((*prefix, value), mentioned, depth)
    elif prefix:
        yield (*prefix, *(INF,) * (depth - k))


def _label(time: Time) -> str:
    if time[0] == INF:
        return "later"
    shown = ",".join("*" if c == INF else str(c) for c in time)
    return shown if len(time) == 1 else f"({shown})"


def _range(first: str, last: str) -> str:
    return first if first == last else f"{first}–{last}"
