"""Comparing what a shadow would have shown with what the live flow has, output by output."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from falkirk.core.errors import ConfigurationError
from falkirk.core.times import ProcessorId
from falkirk.dataflow.operators.stage import part_label
from falkirk.inspection.look import Look, look, opened
from falkirk.inspection.nearest import nearest
from falkirk.inspection.shadow.ends import End, last_epoch, read_ends
from falkirk.inspection.shadow.facts import Output, Shadow, recorded, shadow_of
from falkirk.inspection.shadow.multisets import SAMPLE, Difference, difference
from falkirk.inspection.shadow.planning import OWN
from falkirk.store.contents import reference_of
from falkirk.store.parquet import decoded
from falkirk.store.places.posix import data_files
from falkirk.store.store import SqlStore


@dataclass(frozen=True, slots=True)
class Span:
    """How the epochs from ``first`` to ``last`` differ; they are one in the shadow if several."""

    first: int
    last: int
    rows: Difference


@dataclass(frozen=True, slots=True)
class Compared:
    """One output, or one part of it.

    Without ``comparable`` the reason is in ``why``. ``equal`` counts the spans without a difference
    and ``spans`` has those with one.
    """

    output: str
    part: str
    comparable: bool
    why: str
    first: int | None = None
    last: int | None = None
    equal: int = 0
    live_rows: int = 0
    shadow_rows: int = 0
    only_live: int = 0
    only_shadow: int = 0
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """All outputs of a shadow beside those of its live flow."""

    flow: str
    live: str
    shadow: str
    outputs: tuple[Compared, ...]

    @property
    def differs(self) -> bool:
        """Whether some row is on one side only."""
        return any(each.spans for each in self.outputs)


class Sides:
    """The two stores, looked at once."""

    def __init__(self, live: SqlStore, own: SqlStore, shadow: Shadow) -> None:
        """Looks at both; the shadow first, so that the live one is never behind for that reason."""
        self.stores = (live, own)
        self.shadow, self.seen, self.live = shadow, look(own), look(live)
        with own.database.reading() as connection:
            self.ends = {p: read_ends(connection, ProcessorId(p)) for p in shadow.inputs}


def compare(place: str, live: Mapping[str, str] | None = None, sample: int = SAMPLE) -> Comparison:
    """Compares the shadow at ``place`` with its live flow; ``live`` has folders by output."""
    with opened(place) as own:
        shadow = shadow_of(own)
        given = dict(live or {})
        names = [output.name for output in shadow.outputs]
        for name in given:
            if name not in names:
                raise ConfigurationError(f"the shadow has no output {name!r}{nearest(name, names)}")
        with opened(shadow.live) as store:
            sides = Sides(store, own, shadow)
            found = [
                compare_output(
                    sides, place, output, part, given.get(output.name, output.live), sample
                )
                for output in shadow.outputs
                for part in output.parts or ("",)
            ]
            return Comparison(sides.seen.name, shadow.live, place, tuple(found))


def compare_output(
    sides: Sides,
    place: str,
    output: Output,
    part: str,
    folder: str | None,
    sample: int,
) -> Compared:
    """Compares one output, time by time, as far as both have come."""
    why = incomparable(sides, output)
    if why:
        return Compared(output.name, part, False, why)
    p = ProcessorId(output.name)
    mine = recorded(place, output.name, part)
    known = LiveRows(sides, p, output, part, folder)
    last = min(shown_up_to(sides.seen, p), known.last)
    first = max(sides.shadow.kept[p] + 1, known.first)
    if known.last < 0 and shown_up_to(sides.live, p) >= 0:
        return Compared(
            output.name,
            part,
            False,
            "the live flow does not show it into a folder of Parquet by time, and nothing of it is"
            " staged any more: name such a folder by `--live OUTPUT=FOLDER`",
        )
    spans = [
        Span(
            one,
            other,
            difference(
                partial(known.tables, one, other), partial(folder_tables, mine, one, other), sample
            ),
        )
        for one, other in spans_of(upstream_ends(sides, p), first, last)
    ]
    return Compared(
        output.name,
        part,
        True,
        "" if first <= last else "both have shown nothing after the fork yet",
        first,
        last,
        sum(span.rows.equal for span in spans),
        sum(span.rows.live_rows for span in spans),
        sum(span.rows.shadow_rows for span in spans),
        sum(span.rows.only_live for span in spans),
        sum(span.rows.only_shadow for span in spans),
        tuple(span for span in spans if not span.rows.equal),
    )


def incomparable(sides: Sides, output: Output) -> str:
    """Why an output cannot be compared by time at all; empty if it can."""
    if output.own:
        return "it has a sink of its own, so nothing of it is recorded"
    if output.name not in sides.live.flow.processors:
        return "the live flow has no such output"
    flow = sides.seen.flow
    above = ancestors(sides.seen, ProcessorId(output.name))
    own = sorted(p for p in above if sides.shadow.inputs.get(p) == OWN)
    if own:
        return f"the input {own[0]!r} is another one than the live flow's, with epochs of its own"
    inside = [e for e in flow.graph.edges.values() if e.target in above and e.projection.recorded]
    if inside:
        return f"its epochs are made inside the flow, by {inside[0].source!r}"
    return ""


def ancestors(seen: Look, p: ProcessorId) -> set[ProcessorId]:
    """All processors from which something can come to ``p``, and itself."""
    slow = {bridge.versions: bridge.slow for bridge in seen.flow.latest.values()}
    found, pending = {p}, [p]
    while pending:
        name = pending.pop()
        before = {edge.source for edge in seen.flow.graph.inputs(name)}
        before |= {slow[name]} if name in slow else set()
        pending += before - found
        found |= before
    return found


def upstream_ends(sides: Sides, p: ProcessorId) -> list[End]:
    """The ends of all inputs from which something comes to ``p``."""
    above = ancestors(sides.seen, p)
    return [end for name, ends in sides.ends.items() if name in above for end in ends]


def spans_of(ends: Iterable[End], first: int, last: int) -> list[tuple[int, int]]:
    """The epochs from ``first`` to ``last`` in groups that are the same on both sides.

    >>> spans_of([End(2, 0, None), End(3, 3, None), End(9, 5, None)], 0, 6)
    [(0, 2), (3, 3), (4, 4)]
    """
    # Epochs that became one are compared as one, and not before all of it is there.
    inside = {epoch for end in ends for epoch in range(max(end.first, first), end.epoch)}
    found, begun = [], first
    for epoch in range(first, last + 1):
        if epoch not in inside:
            found.append((begun, epoch))
            begun = epoch + 1
    return found


def shown_up_to(seen: Look, p: ProcessorId) -> int:
    """The last epoch of which an output has surely shown everything; -1 if there is none."""
    return last_epoch(seen.stored[p].ledger.base.frontier)


class LiveRows:
    """What the live flow has shown of an output, or will: in a folder, or staged in its store."""

    def __init__(
        self, sides: Sides, p: ProcessorId, output: Output, part: str, folder: str | None
    ) -> None:
        """Finds out which epochs there are."""
        self.store = sides.stores[0]
        self.folder = Path(folder) / quote(part, safe="") if folder and part else folder
        self.label = part_label(output.parts.index(part)) if part else ""
        self.records = sides.live.stored[p].ledger.records
        shown, saved = shown_up_to(sides.live, p), last_epoch(sides.live.saved(p))
        self.first = 0 if self.folder else shown + 1
        self.last = max(shown, saved) if self.folder or saved > shown else -1

    def tables(self, first: int, last: int) -> Iterable[Any]:
        """The rows of some epochs; those that are in the folder were shown."""
        for epoch in range(first, last + 1):
            if self.folder and (Path(self.folder) / f"epoch={epoch}").is_dir():
                yield from folder_tables(Path(self.folder), epoch, epoch)
            elif (epoch,) in self.records:
                batches = self.records[(epoch,)].state
                wanted = [each for each in batches if each.get("label", "") == self.label]
                yield from self._read([each for each in wanted if "name" in each])

    def _read(self, written: Sequence[Mapping[str, Any]]) -> Iterable[Any]:
        known = {each.name: each for each in self.store.references()} if written else {}
        for each in written:
            yield self.store.files.read(reference_of(each, known[each["name"]]))


def folder_tables(folder: Path, first: int, last: int) -> Iterable[Any]:
    """The rows of some epochs in a folder of Parquet by time."""
    for epoch in range(first, last + 1):
        there = folder / f"epoch={epoch}"
        if there.is_dir():
            for file in data_files(there):
                yield decoded(file)
