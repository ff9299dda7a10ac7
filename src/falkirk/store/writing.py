"""Carrying out the machine's effects on the rows, in order, inside one transaction."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from falkirk.core.errors import StoreError
from falkirk.core.machine.events import Collect, CollectLog, Persist, Retract
from falkirk.core.machine.flow import Flow, Role
from falkirk.core.machine.ledger import Ledger, Record, Sent, within
from falkirk.core.times import ProcessorId
from falkirk.store import ends, noting, tables
from falkirk.store import statements as say
from falkirk.store.codec import checkpoint_to_json, frontier_key, text, time_from_key, time_key
from falkirk.store.contents import References, base_to_json
from falkirk.store.ledgers import read_base, read_records, undecoded
from falkirk.store.noticeboard import lower
from falkirk.store.noting import Note
from falkirk.store.rows import Rows

Other = Retract | Collect | CollectLog | Note


def carry_out_all(
    rows: Rows,
    effects: Iterable[Persist | Other],
    captures: Mapping[int, Any],
    flow: Flow | None,
) -> None:
    """Carries out effects in their order; checkpoints in a row are written together."""
    for together, several in groupby(effects, lambda effect: isinstance(effect, Persist)):
        if together:
            persist(rows, [each for each in several if isinstance(each, Persist)], captures)
            continue
        for effect in several:
            assert not isinstance(effect, Persist), "those are the others"
            carry_out(rows, effect, flow)


def carry_out(rows: Rows, effect: Other, flow: Flow | None) -> None:
    """Carries out one effect; a fold needs the ``flow``."""
    match effect:
        case Retract():
            retract(rows, effect)
        case Collect():
            if flow is None:
                raise StoreError("load the flow before collecting: a fold needs its graph")
            collect(rows, effect, flow)
        case CollectLog():
            collect_log(rows, effect)
        case Note():
            noting.write(rows.connection, effect)


def persist(rows: Rows, effects: Sequence[Persist], captures: Mapping[int, Any]) -> None:
    """Makes records and checkpoints visible, but for those whose incarnation is over.

    What several cost is hardly more than what one does: no statement is for one of them alone.
    """
    alive = rows.incarnations(effect.processor for effect in effects)
    current = [effect for effect in effects if effect.incarnation >= alive[effect.processor]]
    records: dict[ProcessorId, list[Record]] = {}
    checkpoints: dict[tuple[ProcessorId, str], Any] = {}
    for effect in current:
        p, frontier = effect.processor, frontier_key(effect.checkpoint.frontier)
        records.setdefault(p, []).extend(effect.records)
        checkpoints.pop((p, frontier), None)  # the last one counts, in its own place
        checkpoints[p, frontier] = {
            "processor": p,
            "frontier": frontier,
            "previous": frontier_key(effect.previous),
            "content": text(checkpoint_to_json(effect.checkpoint)),
            "captured": captured(effect, captures),
        }
    rows.put_records(records)
    rows.put_checkpoints(checkpoints)


def captured(effect: Persist, captures: Mapping[int, Any]) -> str | None:
    """What an opaque processor gave for its checkpoint; nothing of any other."""
    if not effect.capture:
        return None
    if effect.ticket not in captures:
        raise StoreError(
            f"the checkpoint of {effect.processor!r} at {effect.checkpoint.frontier!r} comes"
            f" without what it captured: give transact captures={{{effect.ticket}: …}}"
        )
    return text(captures[effect.ticket])


def retract(rows: Rows, effect: Retract) -> None:
    """Forgets a timeline, for everyone who went back."""
    for p, incarnation in effect.incarnations.items():
        rows.put_processor(p, incarnation=incarnation)
    for p, frontier in effect.frontiers.items():
        keys = rows.connection.scalars(say.TIMES, {"p": p})
        rows.drop_records(p, [key for key in keys if time_from_key(key) not in frontier])
        rows.drop_checkpoints(p, partial(_outside, frontier))
    if effect.note is not None:  # a person's: it may lead below what monitors have posted
        lower(rows.connection, effect.frontiers)
        noting.write(rows.connection, effect.note)


def collect(rows: Rows, effect: Collect, flow: Flow) -> None:
    """Folds finished records into the base and forgets the checkpoints below the watermark.

    The fold is the ledger's own, over just the records that are folded.
    """
    p, watermark = effect.processor, effect.watermark
    ledger = Ledger.of(flow.graph, p)
    ledger.base = read_base(rows.connection, p, undecoded) or ledger.base
    keys = [time_key(time) for time in effect.times]
    for record in read_records(rows.connection, p, undecoded, keys):
        ledger.records[record.time] = record
    if flow.processors[p].role is Role.INPUT:
        ends.remember(rows.connection, p, list(ledger.records.values()))
    ledger.fold(watermark, effect.times)
    ledger.base.state = list(effect.state)
    found: References = {}
    content = text(base_to_json(ledger.base, found))
    rows.drop_records(p, keys)
    rows.drop_uses(p, [tables.BASE])
    rows.put_processor(p, base=content)
    rows.put_uses([(p, tables.BASE, "base", found)])
    rows.drop_checkpoints(p, lambda reached: reached <= watermark and not watermark <= reached)


def collect_log(rows: Rows, effect: CollectLog) -> None:
    """Forgets logged messages that their receiver will never ask for again."""
    gone = [
        row
        for row in rows.connection.execute(say.SENT_ON, {"on": effect.edge})
        if within(Sent(row.number, effect.edge, time_from_key(row.sent_time)), effect.reached)
    ]
    if gone:
        rows.drop_logged(gone)


def _outside(frontier: Any, reached: Any) -> bool:
    return not reached <= frontier
