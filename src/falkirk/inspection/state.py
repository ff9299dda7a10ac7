"""State as data: what a processor has saved, as rows with the times that they belong to."""

from dataclasses import dataclass
from functools import reduce
from typing import Any

from falkirk.core.errors import ConfigurationError, StoreError
from falkirk.core.machine.flow import Flow
from falkirk.core.times import ProcessorId, SequenceNumber
from falkirk.core.words import until
from falkirk.dataflow.rebuilding import flow_of
from falkirk.inspection.look import opened
from falkirk.inspection.nearest import nearest
from falkirk.inspection.times import read_bound
from falkirk.store.reference import Reference
from falkirk.store.store import SqlStore

TIME = "_time"
"""The column that says which time a row belongs to."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A durable batch of state; what is ``reference`` None was never written to a file."""

    reference: Reference | None
    label: str = ""


@dataclass(frozen=True, slots=True)
class Saved:
    """The state of a processor inside ``frontier``: pieces with their times."""

    processor: ProcessorId
    frontier: Any
    pieces: tuple[tuple[Any, Piece], ...]

    def labelled(self, label: str | None) -> list[tuple[Any, Reference]]:
        """The pieces under one label; there must be one only, if none is named."""
        labels = sorted({piece.label for _, piece in self.pieces})
        if label is None and len(labels) > 1:
            raise ConfigurationError(
                f"{self.processor!r} keeps several kinds of state ({', '.join(map(repr, labels))}):"
                " say which by its label"
            )
        if label is not None and label not in labels:
            raise ConfigurationError(
                f"{self.processor!r} keeps no state {label!r}{nearest(label, labels)}"
            )
        chosen = labels[0] if label is None and labels else label
        return [
            (time, piece.reference)
            for time, piece in self.pieces
            if piece.label == chosen and piece.reference is not None
        ]


def saved_state(store: SqlStore, which: str) -> Saved:
    """What ``P``, or ``P@TIME``, had saved: by default at its newest checkpoint."""
    flow = flow_of(store.noticeboard.description())
    name, at, _ = which.rpartition("@")
    if not at:
        name = which
    if name not in flow.processors:
        raise ConfigurationError(f"there is no processor {name!r}{nearest(name, flow.processors)}")
    p = ProcessorId(name)
    stored = store.load(flow, Piece, [p])[p]
    floor = stored.ledger.base.frontier
    newest = stored.checkpoints[-1].frontier if stored.checkpoints else floor
    wanted = pinned_or_typed(store, flow, p, which) if at else newest
    if not wanted <= newest:
        raise StoreError(
            f"{name!r} has saved no more than {until(newest)}, and {until(wanted)} is beyond that:"
            " ask for an earlier time, or for none to see the newest"
        )
    if not floor <= wanted:
        raise StoreError(
            f"the state of {name!r} up to {until(floor)} was folded, for nobody goes back behind"
            f" that: it cannot be seen as it was at {until(wanted)}. To keep a time for later, pin"
            " it while it is the present: `falkirk pin NAME`"
        )
    found = [(time, piece) for time, piece in stored.ledger.base.state]
    for record in stored.ledger.inside(wanted):
        found += [(record.time, piece) for piece in record.state]
    pieces = tuple((time, piece) for time, piece in found if isinstance(piece, Piece))
    return Saved(p, wanted, pieces)


def pinned_or_typed(store: SqlStore, flow: Flow, p: ProcessorId, which: str) -> Any:
    """The frontier that ``P@TIME`` means, or ``P@NAME`` with the name of a pin."""
    name = which.rpartition("@")[2]
    for pin in store.noticeboard.pins():
        if pin.name == name and p in pin.frontiers:
            return pin.frontiers[p]
    return read_bound(flow.graph, which)[1]


def read_table(place: str, which: str, label: str | None = None) -> Any:
    """The state as an Arrow table, with a column ``_time``; None if there is none."""
    import pyarrow as pa  # type: ignore[import-untyped]

    with opened(place) as store:
        tables = []
        for time, reference in saved_state(store, which).labelled(label):
            table = store.files.read(reference)
            times = pa.array([shown(time)] * table.num_rows, pa.string())
            tables.append(table.append_column(TIME, times))
        return pa.concat_tables(tables, promote_options="permissive") if tables else None


def read_frame(place: str, which: str, session: Any, label: str | None = None) -> Any:
    """The state as a Spark DataFrame, with a column ``_time``; None if there is none."""
    from pyspark.sql import functions as F

    with opened(place) as store:
        frames = [
            frame_of(store, reference, session).withColumn(TIME, F.lit(shown(time)))
            for time, reference in saved_state(store, which).labelled(label)
        ]
    if not frames:
        return None
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)


def frame_of(store: SqlStore, reference: Reference, session: Any) -> Any:
    """A durable batch as Spark reads it."""
    frame = session.read.parquet(store.files.path(reference))
    if reference.within is None:
        return frame
    last = reference.start + reference.rows - 1
    return frame.where(f"_metadata.row_index BETWEEN {reference.start} AND {last}")


def shown(time: Any) -> str:
    """A time as it is typed.

    >>> shown((4, 2)), shown((3,))
    ('4.2', '3')
    """
    if isinstance(time, SequenceNumber):
        return f"{time.edge}={time.number}"
    return ".".join(str(part) for part in time)
