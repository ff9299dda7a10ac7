"""Folding what lies below low-watermarks, inside one transaction.

What several processors cost is hardly more than what one does: no statement is for one of them
alone, but for where the epochs of an input ended.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from falkirk.core.errors import StoreError
from falkirk.core.machine.events import Collect
from falkirk.core.machine.flow import Flow, Role
from falkirk.core.machine.ledger import Base, Ledger, Record
from falkirk.core.times import ProcessorId
from falkirk.store import ends
from falkirk.store.codec import time_key
from falkirk.store.ledgers import bases_of, records_at, undecoded
from falkirk.store.rows import Rows


def collect(rows: Rows, effects: Iterable[Collect], flow: Flow | None) -> None:
    """Folds finished records into bases and forgets the checkpoints below the watermarks."""
    for some in apart(effects):
        if flow is None:
            raise StoreError("load the flow before collecting: a fold needs its graph")
        fold(rows, some, flow)


def apart(effects: Iterable[Collect]) -> Iterator[list[Collect]]:
    """Effects in lists in which each is of another processor; their order stays."""
    some: dict[ProcessorId, Collect] = {}
    for effect in effects:
        if effect.processor in some:
            yield list(some.values())
            some = {}
        some[effect.processor] = effect
    if some:
        yield list(some.values())


def fold(rows: Rows, effects: Sequence[Collect], flow: Flow) -> None:
    """Folds once for each of several processors."""
    places = [(each.processor, time_key(time)) for each in effects for time in each.times]
    bases = bases_of(rows.connection, [each.processor for each in effects], undecoded)
    records = records_at(rows.connection, places, undecoded)
    folded: dict[ProcessorId, Base] = {}
    for effect in effects:
        p = effect.processor
        found = records.get(p, [])
        if flow.processors[p].role is Role.INPUT:
            ends.remember(rows.connection, p, found)
        folded[p] = new_base(flow, effect, bases.get(p), found)
    rows.drop_records(places)
    rows.put_bases(folded)
    rows.drop_checkpoints({each.processor: partial(_below, each.watermark) for each in effects})


def new_base(flow: Flow, effect: Collect, base: Base | None, records: Iterable[Record]) -> Base:
    """What is folded then. The fold is the ledger's own, over just the records that are folded."""
    ledger = Ledger.of(flow.graph, effect.processor)
    ledger.base = base or ledger.base
    ledger.records = {record.time: record for record in records}
    ledger.fold(effect.watermark, effect.times)
    ledger.base.state = list(effect.state)
    return ledger.base


def _below(watermark: Any, reached: Any) -> bool:
    return bool(reached <= watermark and not watermark <= reached)
