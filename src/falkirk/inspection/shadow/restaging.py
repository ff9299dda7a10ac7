"""Taking over the outputs: what the live flow may have shown stays, what follows is the shadow's.

An output's ledger is kept by time, and so is this. Up to what the live sink has taken there is
nothing to show. Then comes what the live flow has staged and may have shown: it is shown as it is,
for it is never contradicted. What lies beyond was recorded by the shadow, and is staged again.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, update

from falkirk.core.machine.boundary import boundary
from falkirk.core.machine.ledger import Record
from falkirk.core.times import ProcessorId
from falkirk.dataflow.operators.stage import part_label
from falkirk.inspection.look import Look
from falkirk.inspection.shadow.ends import last_epoch
from falkirk.inspection.shadow.facts import Output, recorded
from falkirk.inspection.shadow.linking import link, take
from falkirk.inspection.shadow.taking import Held
from falkirk.store import tables
from falkirk.store.codec import frontier_from_key, frontier_key, time_key
from falkirk.store.contents import reference_of
from falkirk.store.reference import Reference
from falkirk.store.rows import Rows
from falkirk.store.store import SqlStore


@dataclass(frozen=True, slots=True)
class Takeover:
    """What an output shows after a promotion.

    ``taken`` is the last epoch that the live sink has for sure, ``shown`` the last one that it may
    have, or that is the live flow's because the fork kept it; ``recorded`` the last one that the
    shadow has recorded.
    """

    output: str
    taken: int
    shown: int
    recorded: int


@dataclass(frozen=True, slots=True)
class Restaged:
    """The new ledger of an output: records in the place of others, above a base."""

    processor: ProcessorId
    taken: int
    dropped: tuple[Any, ...]
    records: tuple[Record, ...]


def takeover(live: Look, seen: Look, output: Output, kept: int) -> Takeover:
    """How far an output has come on both sides; a new one has shown nothing.

    What the fork has ``kept`` is the live flow's, too, shown or not.
    """
    p = ProcessorId(output.name)
    mine = last_epoch(seen.stored[p].ledger.base.frontier)
    if p not in live.flow.processors:
        return Takeover(p, -1, -1, mine)
    taken = last_epoch(live.stored[p].ledger.base.frontier)
    return Takeover(p, taken, max(last_epoch(live.final(p)), kept), mine)


def restaged(
    live: Look, stores: tuple[SqlStore, SqlStore], seen: Look, output: Output, found: Takeover
) -> Restaged:
    """The records that an output needs; their files are put into the shadow's store."""
    source, target = stores
    p = ProcessorId(output.name)
    records = []
    if p in live.flow.processors:
        staged = live.stored[p].ledger.records
        known = {reference.name: reference for reference in source.references()}
        for epoch in range(found.taken + 1, found.shown + 1):
            record = staged.get((epoch,))
            if record is not None:
                batches = [held(source, target, known, batch) for batch in record.state]
                records.append(remade(seen, p, epoch, batches))
    for epoch in range(found.shown + 1, found.recorded + 1):
        batches = recorded_batches(target, output, epoch)
        if batches:
            records.append(remade(seen, p, epoch, batches))
    last = max(found.shown, found.recorded)
    dropped = tuple(t for t in seen.stored[p].ledger.records if t[0] <= last)
    return Restaged(p, found.taken, dropped, tuple(records))


def remade(seen: Look, p: ProcessorId, epoch: int, batches: list[Held]) -> Record:
    """A staged time."""
    edges = {edge.name for edge in seen.flow.graph.inputs(p)}
    return Record((epoch,), processed=edges, state=list(batches), durable=True)


def held(
    source: SqlStore, target: SqlStore, known: dict[str, Reference], written: dict[str, Any]
) -> Held:
    """A batch that the live flow has staged, now of the other store as well."""
    reference = known[written["name"]]
    take(source.files, target.files, reference)
    return Held(reference_of(written, target.files.hold(reference)), written["label"])


def recorded_batches(store: SqlStore, output: Output, epoch: int) -> list[Held]:
    """What a shadow has recorded of a time, as batches of its own."""
    data, found = store.files.place.folder, []
    assert data is not None, "a shadow is a folder"
    for port, part in enumerate(output.parts or ("",)):
        folder = recorded(str(data.parent), output.name, part) / f"epoch={epoch}"
        if folder.is_dir():
            name, _ = store.files.reserve()
            link(folder, data / name)
            found.append(Held(store.files.seal(name), part_label(port)))
    return found


def put_restaged(rows: Rows, seen: Look, made: Restaged) -> None:
    """Writes the new ledger of an output."""
    p, ledger = made.processor, seen.stored[made.processor].ledger
    domain: Any = seen.flow.graph.domains[p]
    floor = boundary(domain, made.taken) if made.taken >= 0 else domain.empty
    if not floor <= ledger.base.frontier:
        ledger.fold(floor, [time for time in ledger.records if time in floor])
    base = ledger.base.copy()
    base.frontier, base.state = floor, []
    gone = {time_key(time) for time in made.dropped} | {time_key(r.time) for r in made.records}
    rows.drop_records([(p, key) for key in sorted(gone)])
    rows.put_bases({p: base})
    rows.put_records({p: made.records})
    rows.drop_checkpoints({p: lambda reached: not floor <= reached})
    lowest(rows, p, floor)


def lowest(rows: Rows, p: ProcessorId, floor: Any) -> None:
    """Nothing is missing between what is folded and the smallest checkpoint."""
    table = tables.checkpoints
    found = rows.connection.execute(select(table).where(table.c.processor == p)).all()
    frontiers = {row.id: frontier_from_key(row.frontier) for row in found}
    for number, frontier in frontiers.items():
        if all(frontier <= other for other in frontiers.values()):
            rows.connection.execute(
                update(table).where(table.c.id == number).values(previous=frontier_key(floor))
            )
